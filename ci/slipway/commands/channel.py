"""Look after a channel that packages were published to.

slipway channel serve DIR            serve it over HTTP, for machines of a network that one knows
slipway channel prune ADDRESS        take old builds out; --dry-run says which
slipway channel repair ADDRESS       write its indexes again, from its catalogue
slipway channel sign ADDRESS         sign it as it is, with one more key
slipway channel verify ADDRESS       hold it to what those who are trusted have signed
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from slipway.commands._parsers import EVERY_ACTION

if TYPE_CHECKING:
    import argparse
    from types import ModuleType

    from slipway.base.log import Reporter

ACTIONS = {
    "serve": "serve a channel over HTTP",
    "prune": "take old builds out of a channel",
    "repair": "write a channel's indexes again",
    "sign": "sign a channel as it is",
    "verify": "hold a channel to what was signed",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions, and the options of the one that the command line names."""
    words = parser.get_default("words") or []
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if words[:1] in ([name], EVERY_ACTION):
            _load_action(name).add_arguments(action)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run one action; returns the exit code."""
    return int(_load_action(arguments.action).execute(arguments, reporter))


def _load_action(name: str) -> ModuleType:
    return importlib.import_module(f"slipway.commands._channel_{name}")
