"""`slipway ci run`: all jobs on this machine, then the channel that they make."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from slipway.base.errors import BuildError, UsageError
from slipway.base.events import JobState
from slipway.base.memory import available_memory
from slipway.base.paths import PAGE, Workspace
from slipway.base.platform import usable_cpus
from slipway.base.text import format_table, human_seconds, human_size
from slipway.commands import publish
from slipway.commands._options import add_engine_arguments, add_request_arguments, request_of, words_of
from slipway.report.journaling import open_jobs_journal
from slipway.workflows.job import local_jobs
from slipway.workflows.measured_memory import use_measured_memory
from slipway.workflows.scheduler import LocalRun, Machine
from slipway.workflows.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.workflows.scheduler import Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--jobs", type=int, default=usable_cpus(), metavar="N", help="jobs to run at once, at most")
    parser.add_argument("--memory", type=float, metavar="GB", help="memory to plan with (default: what is free)")
    add_engine_arguments(parser)
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Do the jobs and publish their packages.

    Raises:
        BuildError: jobs failed; a report of what was done is there, and nothing was published.
    """
    request = request_of(arguments)
    if arguments.jobs < 1:
        raise UsageError("--jobs must be at least 1")
    jobs = local_jobs(request)
    workspace = Workspace(request.workspace.dist / "ci")
    memory = available_memory() / 1e9 if arguments.memory is None else arguments.memory
    with workspace.lock(), open_jobs_journal(workspace, "ci run", arguments.jobs) as events:
        run = LocalRun(
            jobs=jobs,
            folder=workspace.dist,
            words=[
                *words_of(arguments),
                "--engine",
                arguments.engine,
                "--isolation",
                arguments.isolation,
                *(["--rebuild"] if arguments.rebuild else []),
            ],
            machine=Machine(memory, usable_cpus(), arguments.jobs),
            settings=use_measured_memory(load_settings(), workspace.dist, usable_cpus()),
            reporter=reporter,
            events=events,
        )
        _print_results(run.run(), workspace, reporter)
        return _publish(arguments, [run.handed / job.file for job in jobs], reporter)


def _print_results(results: Sequence[Result], workspace: Workspace, reporter: Reporter) -> None:
    rows = [
        (
            result.job.identifier,
            str(result.state),
            human_seconds(result.seconds) if result.seconds else "-",
            human_size(result.size) if result.size else "-",
        )
        for result in results
    ]
    reporter.line("")
    reporter.line(format_table(("job", "state", "time", "size"), rows, right=(2, 3)))
    reporter.line(f"report: {workspace.dist / PAGE}")
    failed = [result.job.identifier for result in results if result.state is JobState.FAILED]
    if failed:
        raise BuildError(
            f"{len(failed)} of {len(results)} jobs failed: {', '.join(failed)}", where=str(workspace.dist / "logs"),
            hint="nothing was published; run the same command again and it goes on from here",
        )  # fmt: skip


def _publish(arguments: argparse.Namespace, packages: list[Path], reporter: Reporter) -> int:
    parser = argparse.ArgumentParser()
    publish.add_arguments(parser)
    target = Workspace.of_checkout(arguments.dist).channel
    words = ["--to", str(target), *map(str, packages)] + (["--dist", arguments.dist] if arguments.dist else [])
    return publish.execute(parser.parse_args(words), reporter)
