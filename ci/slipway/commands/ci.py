"""Write CI pipelines from the recipe's matrix, and run the same jobs on this machine.

slipway ci write             GitHub Actions and GitLab, one job for each output and variant
slipway ci write --check     say whether the pipelines in the checkout are fresh
slipway ci list              the jobs, and what each of them needs
slipway ci run               all jobs here, as many at once as memory and cores allow
slipway ci run --on ADDRESS  the same on the workers of a scheduler
slipway ci scheduler         where workers and runs find each other
slipway ci worker ADDRESS    do jobs for others
slipway ci job IDENTIFIER    one job, as CI runs it
slipway ci recipe IDENTIFIER one output alone as a recipe, for real conda-build
slipway ci hand take|give DIR  hold packages of other jobs to their records, or record new ones
slipway ci truth             docs/solver-truth.md, from the table that tests ask the solver
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
    "write": "write the pipelines",
    "list": "list the jobs",
    "recipe": "one output alone as a recipe",
    "hand": "check or record packages between jobs",
    "truth": "write the solver's truth table",
    "job": "run one job, as CI does",
    "run": "run all jobs, here or on workers",
    "scheduler": "let workers and runs find each other",
    "worker": "do jobs for others",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions, and the options of the one that the command line (`words`, a default of `parser`) names.

    Only its module is imported: `recipe` runs on Windows, in conda's own Python, where others cannot be imported.
    """
    words = parser.get_default("words") or []
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, summary in ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if words[:1] in ([name], EVERY_ACTION):
            action.set_defaults(words=words[1:])
            _load_action(name).add_arguments(action)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run one action; returns the exit code."""
    return int(_load_action(arguments.action).execute(arguments, reporter))


def _load_action(name: str) -> ModuleType:
    return importlib.import_module(f"slipway.commands._ci_{name}")
