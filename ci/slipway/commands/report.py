"""Show the last run: what was built and why, where its time, memory and bytes went, and what verify found.

    slipway report          writes dist/report.html, one file that needs no network
    slipway report --text   prints the same facts
    slipway report --json   prints them as JSON

`slipway ship` and `slipway build` write dist/report.html at their end, whether they succeed or not. A run that was
killed is shown up to where it came.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from slipway.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--dist", metavar="DIR", help="folder of the run (default: dist/)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="print it instead of writing the page")
    form.add_argument("--json", action="store_true", help="print everything that is known as JSON")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Report; returns the exit code."""
    from slipway.paths import Workspace
    from slipway.report.collect import collect
    from slipway.report.page import write_page
    from slipway.report.run import PAGE
    from slipway.report.text import render_text

    workspace = Workspace.of_checkout(arguments.dist)
    report = collect(workspace)
    if arguments.json:
        print(json.dumps(asdict(report), indent=1))
    elif arguments.text:
        print(render_text(report))
    else:
        path = workspace.dist / PAGE
        write_page(report, path)
        reporter.line(f"{path}")
    return 0
