"""Show the last run: what was built and why, where its time, memory and bytes went, and what verify found.

    slipway report          writes dist/report.html, one file that needs no network
    slipway report --text   prints the same facts
    slipway report --json   prints them as JSON

    slipway report --trends          the runs that are kept, one beside the other
    slipway report --compare 2 1     two of them: 1 is the last one
    slipway report --trace FILE      the last one for Perfetto, or Chrome's viewer of traces

    slipway report --ci     the same of the last `slipway ci run`, in dist/ci/report.html

`slipway ship` and `slipway build` write dist/report.html at their end, whether they succeed or not. A run that was
killed is shown up to where it came.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.base.files import write_file
from slipway.base.paths import PAGE, Workspace
from slipway.report import trace, trends
from slipway.report.jobs_page import render_jobs_page, render_jobs_text
from slipway.report.jobs_report import collect_jobs
from slipway.report.page import render_page
from slipway.report.run_report import collect
from slipway.report.text import render_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--dist", metavar="DIR", help="folder of the run (default: dist/)")
    parser.add_argument("--ci", action="store_true", help="of the last `slipway ci run`: all its jobs together")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--text", action="store_true", help="print it instead of writing the page")
    form.add_argument("--trends", action="store_true", help="print the runs that are kept, one beside the other")
    form.add_argument("--compare", nargs=2, type=int, metavar=("RUN", "RUN"), help="print two of them side by side")
    form.add_argument("--trace", type=Path, metavar="FILE", help="write a trace for Perfetto, in Chrome's format")
    form.add_argument("--json", action="store_true", help="print everything that is known as JSON")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Report; returns the exit code."""
    workspace = Workspace.of_checkout(arguments.dist)
    if arguments.ci:
        workspace = Workspace(workspace.dist / "ci")
    if arguments.trends or arguments.compare:
        runs = trends.collect_trends(workspace)
        if arguments.trends:
            print(trends.render_trends(runs))
        else:
            print(trends.render_comparison(*(trends.find_run(runs, number) for number in arguments.compare)))
        return 0
    if arguments.trace:
        found = trace.trace_jobs(collect_jobs(workspace)) if arguments.ci else trace.trace_run(collect(workspace))
        write_file(arguments.trace, json.dumps(found))
        reporter.line(f"{arguments.trace}")
        return 0
    report, render_page, render_text = _of_jobs(workspace) if arguments.ci else _of_one_run(workspace)
    if arguments.json:
        print(json.dumps(asdict(report), indent=1))
    elif arguments.text:
        print(render_text(report))
    else:
        path = workspace.dist / PAGE
        write_file(path, render_page(report))
        reporter.line(f"{path}")
    return 0


def _of_one_run(workspace: Workspace) -> tuple[Any, Callable[[Any], str], Callable[[Any], str]]:
    """The facts, and how they become a page and a text."""
    return collect(workspace), render_page, render_text


def _of_jobs(workspace: Workspace) -> tuple[Any, Callable[[Any], str], Callable[[Any], str]]:
    return collect_jobs(workspace), render_jobs_page, render_jobs_text
