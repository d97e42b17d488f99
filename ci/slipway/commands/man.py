"""Print the manual page, made from the commands' help.

slipway man | man -l -
slipway man > ~/.local/share/man/man1/slipway.1
"""

from __future__ import annotations

import datetime
import os
from typing import TYPE_CHECKING

from slipway import __version__
from slipway.base.errors import EXIT_CODES
from slipway.commands._parsers import actions_of
from slipway.commands._whole import SUMMARY, whole_parser

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options: it has none."""


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print; returns the exit code."""
    print("\n".join(make_page()))
    return 0


def make_page() -> Iterator[str]:
    """The page in the language of man, line by line."""
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), tz=datetime.UTC)
    date = f"{moment:%Y-%m-%d}" if moment.timestamp() else ""
    yield f'.TH SLIPWAY 1 "{date}" "slipway {__version__}" "User Commands"'
    yield from (".SH NAME", f"slipway \\- {_escaped(SUMMARY[0].lower() + SUMMARY[1:].rstrip('.'))}")
    yield from (".SH SYNOPSIS", ".B slipway", r"\fICOMMAND\fR [\fIOPTION\fR...]")
    yield ".SH COMMANDS"
    for name, parser in actions_of(whole_parser()):
        yield from _section(name, parser)
        for action, inner in actions_of(parser):
            yield from _section(f"{name} {action}", inner)
    yield from (".SH EXIT STATUS", ".nf", *map(_escaped, EXIT_CODES.splitlines()[1:]), ".fi")


def _section(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from (f".SS slipway {_escaped(name)}", ".nf")
    yield from map(_escaped, parser.format_help().splitlines())
    yield ".fi"


def _escaped(line: str) -> str:
    """Text that means itself: a dot or quote at its beginning would be a command."""
    line = line.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line[:1] in (".", "'") else line
