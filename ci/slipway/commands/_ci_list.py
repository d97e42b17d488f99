"""`slipway ci list`: the jobs of every platform, in order, and what each of them needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import default_folder
from slipway.base.text import format_table
from slipway.workflows.graph import describe
from slipway.workflows.matrix import make_matrix
from slipway.workflows.settings import DEFAULT_SETTINGS, load_settings

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_matrix_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recipe's jobs, on which platforms."""
    parser.add_argument("recipe", nargs="?", type=Path, default=default_folder() / "recipe", metavar="DIR")
    parser.add_argument(
        "--settings", type=Path, default=DEFAULT_SETTINGS, metavar="FILE", help="platforms, runners and resources"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_matrix_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list of objects")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print the table, or the list."""
    matrix = make_matrix(arguments.recipe, default_folder(), load_settings(arguments.settings), {})
    if arguments.json:
        print(json.dumps(describe(matrix.everything), indent=1))
        return 0
    rows = [
        (job.platform, job.identifier, ", ".join(other.identifier for other in job.direct) or "-")
        for job in matrix.everything
    ]
    print(format_table(("platform", "job", "needs"), rows))
    return 0
