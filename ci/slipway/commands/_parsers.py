"""The command lines of all commands: which there are, what each takes, and what they have in common."""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from slipway.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

COMMANDS_FOLDER = Path(__file__).parent
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
        "release",
    ),
    *("install", "report", "bootstrap", "test", "bench", "doctor"),
)
"""How the help lists them: the way one meets them. Commands that are not named here follow, by name."""

EVERY_ACTION = ["*"]
"""In place of a command line's words: declare the options of every action, not only of the one that is named."""

MOST = 1_000_000
"""Of whatever an option counts."""

RECORD = "record"
"""Where ``--json`` of a command without an answer of its own is kept: see `slipway.base.answers`."""


def command_names() -> list[str]:
    """The commands there are, in the order of the help."""
    names = {path.stem for path in COMMANDS_FOLDER.glob("*.py") if not path.stem.startswith("_")}
    return [name for name in COMMAND_ORDER if name in names] + sorted(names.difference(COMMAND_ORDER))


def command_summary(name: str) -> str:
    """The first line of a command's docstring, read without importing it."""
    docstring = ast.get_docstring(ast.parse((COMMANDS_FOLDER / f"{name}.py").read_text(encoding="utf-8")))
    return (docstring or "").partition("\n")[0]


def count(text: str) -> int:
    """An option's value that counts something."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"`{text}` is no whole number from 1 to {MOST}")
    return int(text)


class CommandParser(argparse.ArgumentParser):
    """Takes options between words, and tells what is wrong with a command line as slipway tells everything."""

    _intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """As argparse has it, also where an option stands between two words of one list; what actions parse, too."""
        rests = (argparse.PARSER, argparse.REMAINDER)
        if self._intermixed or any(action.nargs in rests for action in self._get_positional_actions()):
            return super().parse_known_args(args, namespace)
        self._intermixed = True  # argparse's own calls this again
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._intermixed = False

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


def load_command(name: str) -> ModuleType:
    """The module of a command.

    Raises:
        UsageError: there is no such command.
    """
    names = command_names()
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean `{close[0]}`?" if close else "`slipway --help` lists the commands"
        raise UsageError(f"there is no command `{name}`", hint=hint)
    return importlib.import_module(f"slipway.commands.{name}")


def make_parser(name: str, module: ModuleType, words: Sequence[str]) -> tuple[CommandParser, list[str]]:
    """The parser of a command, and those of `words` that it is to parse: what stands behind ``--`` may be a program."""
    summary, _, details = (module.__doc__ or "").partition("\n")
    parser = CommandParser(
        prog=f"slipway {name}",
        description=summary,
        epilog=details.strip("\n") or None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    given = list(words)
    takes_command = getattr(module, "TAKES_COMMAND", False)
    if takes_command and "--" in given:
        given, command = given[: given.index("--")], given[given.index("--") + 1 :]
        parser.set_defaults(command=command)
    parser.set_defaults(words=given)
    module.add_arguments(parser)
    actions = list(actions_of(parser))
    for inner in (parser, *(action for _, action in actions)):
        _add_common(inner, outer=inner is parser, json=not takes_command and not (inner is parser and actions))
    return parser, given


def actions_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parsers of a command's actions, such as `ci write`, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _add_common(parser: argparse.ArgumentParser, *, outer: bool, json: bool) -> None:
    # Else an action's own default would take back what stands before it.
    default: dict[str, Any] = {} if outer else {"default": argparse.SUPPRESS}
    volume = parser.add_mutually_exclusive_group()
    volume.add_argument("-q", "--quiet", action="store_true", help="print errors, warnings and answers only", **default)
    volume.add_argument(
        "-v", "--verbose", action="store_true", help="print the lines of builds and tests, too", **default
    )
    if json and "--json" not in parser._option_string_actions:
        parser.add_argument("--json", dest=RECORD, action="store_true", help="what was done and said, as one object")
