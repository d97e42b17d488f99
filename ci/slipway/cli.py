"""The command line: finds the command, runs it, and turns its errors into text and an exit code.

Each command is a module of `slipway.commands` with a docstring (its help), `add_arguments(parser)` and
`execute(arguments, reporter) -> int`; one with `TAKES_COMMAND` runs programs on the terminal, and gets what stands
behind ``--`` as `command`. Only the module that is asked for is imported, so that `slipway plan` does not wait for the
solver to load.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import platform
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from slipway import __version__
from slipway.base import installed
from slipway.base.answers import CommandAnswer, failed_answer
from slipway.base.errors import (
    EXIT_CODES,
    INTERRUPTED_EXIT_CODE,
    DiskFullError,
    HostError,
    RecipeWarning,
    SlipwayError,
    UsageError,
)
from slipway.base.files import find_full_disk, is_disk_full
from slipway.base.user_folders import cache_folder
from slipway.commands._parsers import RECORD, command_names, command_summary, load_command, make_parser
from slipway.console import RecordingReporter, make_reporter, print_error, print_warning

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from types import FrameType, ModuleType

DENIED = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EIO, errno.ELOOP}
    | {errno.ENAMETOOLONG}
)
"""What the file system says to what is asked of a file, where the user can do something about it and slipway cannot."""


def print_help() -> None:
    """The overview of all commands."""
    names = command_names()
    width = max(map(len, names), default=0)
    print("usage: slipway COMMAND [OPTION...]\n\nBuilds, proves and ships conda packages from one recipe.\n")
    print("commands:")
    for name in names:
        print(f"  {name:<{width}}  {command_summary(name)}")
    print(
        f"\n`slipway COMMAND --help` tells more about one, `slipway --version` which slipway this is.\n\n{EXIT_CODES}"
    )


def print_version() -> None:
    """Which slipway this is, and with what it builds."""
    tools = ", ".join(f"{name} {installed.installed_version(name)}" for name in ("py-rattler-build", "py-rattler"))
    print(f"slipway {__version__} ({tools}, Python {platform.python_version()})")


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


@contextlib.contextmanager
def warnings_shown() -> Iterator[None]:
    """Say once what a recipe is warned of, however often it is rendered."""
    shown: set[str] = set()
    others = warnings.showwarning

    def show(message: Warning | str, *details: Any, **more: Any) -> None:
        if not isinstance(message, RecipeWarning):
            others(message, *details, **more)
        elif str(message) not in shown:
            shown.add(str(message))
            print_warning(message)

    with warnings.catch_warnings():
        warnings.simplefilter("always", RecipeWarning)
        warnings.showwarning = show
        yield


def main(argv: list[str] | None = None) -> int:
    """Run one command line; returns its exit code. Errors that are no `SlipwayError` keep their traceback."""
    words = sys.argv[1:] if argv is None else argv
    for name in ("stdout", "stderr"):  # None where the caller closed it, as `>&-` does
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - until the process ends
    signal.signal(signal.SIGTERM, _interrupt)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:  # else somebody said `nohup`
        signal.signal(signal.SIGHUP, _interrupt)
    started, as_json, answer = time.monotonic(), False, io.StringIO()
    arguments = None
    try:
        _check_working_directory()
        if not words or words[0] in ("-h", "--help", "help"):
            print_help()
            sys.stdout.flush()
            return 0 if words else UsageError.exit_code
        if words[0] == "--version":
            print_version()
            sys.stdout.flush()
            return 0
        module = load_command(words[0])
        parser, given = make_parser(words[0], module, words[1:])
        arguments = parser.parse_args(given)
        as_json = bool(getattr(arguments, "json", False) or getattr(arguments, RECORD, False))
        code = _execute(module, arguments, words, answer)
        sys.stdout.flush()
        return code
    except SlipwayError as error:
        print_error(error)
        if as_json and not answer.getvalue():  # one answer: what a command found wrong is in its own
            _print_answer(CommandAnswer(tuple(words), error.exit_code, _since(started), error=failed_answer(error)))
        return error.exit_code
    except KeyboardInterrupt:
        print("\ninterrupted; run the same command again and it goes on from here", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        # The reader of our output left, as in `slipway plan | head -1`: what is still to be written goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno in DENIED and error.filename is not None:
            denied = HostError(
                f"cannot be read or written: {error.strerror}",
                where=str(error.filename),
                hint="give yourself the right to, or name another folder (--dist, XDG_CACHE_HOME)",
            )
            print_error(denied)
            return denied.exit_code
        if not is_disk_full(error):
            raise
        full = DiskFullError(
            "the disk is full",
            where=str(error.filename or find_full_disk(_places(arguments)) or "") or None,
            hint="make room and run the same command again: it goes on",
            detail="\n".join(getattr(error, "__notes__", ())) or None,
        )
        print_error(full)
        return full.exit_code


def _execute(module: ModuleType, arguments: argparse.Namespace, words: list[str], answer: io.StringIO) -> int:
    """Run a command, with the reporter that was asked for; returns its exit code.

    Args:
        answer: what a command prints with its own ``--json`` is written here, too.
    """
    if getattr(arguments, RECORD, False):
        started, recorder, printed = time.monotonic(), RecordingReporter(), io.StringIO()
        with warnings_shown(), contextlib.redirect_stdout(printed):
            code = int(module.execute(arguments, recorder))
        lines, steps = tuple(recorder.lines), tuple(recorder.steps)
        _print_answer(CommandAnswer(tuple(words), code, _since(started), lines, steps, printed.getvalue()))
        return code
    as_json = bool(getattr(arguments, "json", False))
    live = not getattr(module, "TAKES_COMMAND", False) and not arguments.verbose
    with (
        warnings_shown(),
        make_reporter(quiet=arguments.quiet or as_json, verbose=arguments.verbose, live_display=live) as reporter,
    ):
        if not as_json:
            return int(module.execute(arguments, reporter))
        try:
            with contextlib.redirect_stdout(answer):
                return int(module.execute(arguments, reporter))
        finally:
            sys.stdout.write(answer.getvalue())


def _places(arguments: argparse.Namespace | None) -> Iterator[Path]:
    """Where a command may have written: what its options name, the cache, and folders for temporary files."""
    for value in vars(arguments).values() if arguments is not None else ():
        if isinstance(value, str | Path):
            place = Path(value).absolute()
            yield next(folder for folder in (place, *place.parents) if folder.is_dir())
    yield cache_folder()
    yield Path(tempfile.gettempdir())
    yield Path.cwd()


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _print_answer(answer: CommandAnswer) -> None:
    print(json.dumps(answer.as_plain(), indent=1))
    sys.stdout.flush()


def _check_working_directory() -> None:
    try:
        os.getcwd()  # noqa: PTH109 - what libraries call, too
    except OSError as error:
        raise HostError(
            f"the working directory cannot be used: {error.strerror}", hint="change to one that exists: `cd`"
        ) from error
