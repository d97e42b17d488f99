"""The command line: finds the command, runs it, and turns its errors into text and an exit code.

Each command is a module of `slipway.commands` with a docstring (its help), `add_arguments(parser)` and
`execute(arguments, reporter) -> int`; one with `TAKES_COMMAND` runs programs on the terminal, and gets what stands
behind ``--`` as `command`. Only the module that is asked for is imported, so that `slipway plan` does not wait for the
solver to load.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import errno
import importlib
import os
import platform
import re
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from slipway import __version__
from slipway.base import installed
from slipway.base.errors import INTERRUPTED_EXIT_CODE, DiskFullError, HostError, RecipeWarning, SlipwayError, UsageError
from slipway.base.files import is_disk_full
from slipway.console import make_reporter, print_error, print_warning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, ModuleType

COMMANDS_FOLDER = Path(__file__).parent / "commands"
COMMAND_ORDER = (
    *(
        "init",
        "ship",
        "plan",
        "render",
        "build",
        "verify",
        "rebuild",
        "bundle",
        "attest",
        "publish",
        "channel",
        "install",
        "report",
    ),
    *("bootstrap", "test", "bench", "doctor"),
)
"""How the help lists them: the way one meets them. Commands that are not named here follow, by name."""

DENIED = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.EIO, errno.ELOOP}
    | {errno.ENAMETOOLONG}
)
"""What the file system says to what is asked of a file, where the user can do something about it and slipway cannot."""

EXIT_CODES = """\
exit codes:
  0 done   1 failed   2 usage   3 recipe   4 no such variant   5 network   6 wrong bytes   7 no solution
  8 build or test of a package   9 package refused   10 disk full   11 machine lacks something   12 channel
  13 another slipway at work   14 tests failed   130 interrupted (run it again: it goes on)"""


def command_names() -> list[str]:
    """The commands there are, in the order of the help."""
    names = {path.stem for path in COMMANDS_FOLDER.glob("*.py") if not path.stem.startswith("_")}
    return [name for name in COMMAND_ORDER if name in names] + sorted(names.difference(COMMAND_ORDER))


def command_summary(name: str) -> str:
    """The first line of a command's docstring, read without importing it."""
    docstring = ast.get_docstring(ast.parse((COMMANDS_FOLDER / f"{name}.py").read_text(encoding="utf-8")))
    return (docstring or "").partition("\n")[0]


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


class CommandParser(argparse.ArgumentParser):
    """Tells what is wrong with a command line as slipway tells everything that is wrong."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            UsageError: always.
        """
        hint = f"`{self.prog} --help` lists the options"
        unknown = re.match(r"unrecognized arguments: (--[\w-]+)", message)
        if unknown:
            close = difflib.get_close_matches(unknown[1], self._option_string_actions, n=1)
            if close:
                hint = f"did you mean `{close[0]}`?"
            elif "--variant" in self._option_string_actions:
                hint += "; `--variant KEY=VALUE` takes any variant key that the recipe declares no short name for"
        raise UsageError(message, hint=hint)


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
        module = _load_command(words[0])
        summary, _, details = (module.__doc__ or "").partition("\n")
        parser = CommandParser(
            prog=f"slipway {words[0]}",
            description=summary,
            epilog=details.strip("\n") or None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        given = words[1:]
        takes_command = getattr(module, "TAKES_COMMAND", False)
        if takes_command and "--" in given:
            given, command = given[: given.index("--")], given[given.index("--") + 1 :]
            parser.set_defaults(command=command)
        parser.set_defaults(words=given)
        module.add_arguments(parser)
        volume = parser.add_mutually_exclusive_group()
        volume.add_argument("-q", "--quiet", action="store_true", help="print errors, warnings and answers only")
        volume.add_argument("-v", "--verbose", action="store_true", help="print the lines of builds and tests, too")
        arguments = parser.parse_args(given)
        quiet = arguments.quiet or bool(getattr(arguments, "json", False))
        live = not takes_command and not arguments.verbose
        with warnings_shown(), make_reporter(quiet=quiet, verbose=arguments.verbose, live_display=live) as reporter:
            code = int(module.execute(arguments, reporter))
        sys.stdout.flush()
        return code
    except SlipwayError as error:
        print_error(error)
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
            "the disk is full", where=error.filename, hint="make room and run the same command again: it goes on"
        )
        print_error(full)
        return full.exit_code


def _check_working_directory() -> None:
    try:
        os.getcwd()  # noqa: PTH109 - what libraries call, too
    except OSError as error:
        raise HostError(
            f"the working directory cannot be used: {error.strerror}", hint="change to one that exists: `cd`"
        ) from error


def _load_command(name: str) -> ModuleType:
    names = command_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean `{close[0]}`?" if close else "`slipway --help` lists the commands"
        raise UsageError(f"there is no command `{name}`", hint=hint)
    return importlib.import_module(f"slipway.commands.{name}")
