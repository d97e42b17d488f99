"""`slipway ci truth`: docs/solver-truth.md, from the table that tests ask the solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.checkout import require_checkout
from slipway.checkout.solver_truth import as_markdown, read_table
from slipway.commands._ci_write import write_or_check

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter

TABLE = "tests/integration/solver_truth.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not fresh")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Write or check the page."""
    checkout = require_checkout()
    wanted = {"docs/solver-truth.md": as_markdown(read_table(checkout / TABLE), source=TABLE)}
    return write_or_check(wanted, checkout, reporter, check=arguments.check, command="slipway ci truth")
