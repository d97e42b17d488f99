"""Print the completion of slipway's commands and options for a shell.

slipway completion bash > ~/.local/share/bash-completion/completions/slipway
slipway completion zsh > ~/.zfunc/_slipway        (with fpath+=~/.zfunc before compinit)
slipway completion fish > ~/.config/fish/completions/slipway.fish
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import shtab

from slipway.commands._parsers import actions_of
from slipway.commands._whole import whole_parser

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter

SHELLS = ("bash", "zsh", "fish")
COMPLETED = {"DIR": shtab.DIRECTORY, "FILE": shtab.FILE, "OLD": shtab.FILE, "NEW": shtab.FILE}
"""What an argument's name in the help says of its values."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("shell", choices=SHELLS, help="which shell's")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print; returns the exit code."""
    parser = whole_parser()
    mark_files(parser)
    print(shtab.complete(parser, arguments.shell))
    return 0


def mark_files(parser: argparse.ArgumentParser) -> None:
    """Tell the library which arguments are files and folders."""
    for action in parser._actions:
        if isinstance(action.metavar, str) and action.metavar in COMPLETED:
            action.complete = COMPLETED[action.metavar]  # type: ignore[attr-defined]
    for _, inner in actions_of(parser):
        mark_files(inner)
