"""All commands as one parser, for what describes them: completions and the manual."""

from __future__ import annotations

import argparse

from slipway.base.errors import EXIT_CODES
from slipway.commands._parsers import EVERY_ACTION, command_names, command_summary, load_command, make_parser

SUMMARY = "Builds, proves and ships conda packages from one recipe."


def whole_parser() -> argparse.ArgumentParser:
    """The program, with a parser for every command and, below it, for every action."""
    program = argparse.ArgumentParser(prog="slipway", description=SUMMARY, epilog=EXIT_CODES)
    program.add_argument("--version", action="store_true", help="print which slipway this is")
    commands = program.add_subparsers(metavar="COMMAND")
    for name in command_names():
        parser, _ = make_parser(name, load_command(name), EVERY_ACTION)
        # argparse makes such parsers itself; this one is there already.
        commands.add_parser(name, help=command_summary(name))
        commands.choices[name] = parser
    return program
