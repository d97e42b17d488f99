"""`slipway ci run`: all jobs, on this machine or on workers, then the channel that they make."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import BuildError, UsageError
from slipway.base.events import JobState
from slipway.base.memory import available_memory
from slipway.base.paths import PAGE, Workspace
from slipway.base.platform import usable_cpus
from slipway.base.text import format_table, human_seconds, human_size
from slipway.bootstrap.embedded import channel_address
from slipway.bootstrap.pins import EMBEDDED
from slipway.commands import publish
from slipway.commands._options import (
    add_engine_arguments,
    add_platform_argument,
    add_request_arguments,
    request_of,
    words_of,
)
from slipway.pipeline import bundle
from slipway.report.journaling import open_jobs_journal
from slipway.workflows import fleet
from slipway.workflows.here import Here
from slipway.workflows.job import local_jobs
from slipway.workflows.measured_memory import use_measured_memory
from slipway.workflows.network import add_tls_argument, check_address, require_distributed, security_words
from slipway.workflows.scheduler import Machine, Run
from slipway.workflows.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.base.log import Reporter
    from slipway.request import Request
    from slipway.workflows.graph import Job
    from slipway.workflows.scheduler import Hosts, Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--jobs", type=int, metavar="N", help="jobs to run here at once, at most")
    parser.add_argument("--memory", type=float, metavar="GB", help="memory to plan with here (default: what is free)")
    parser.add_argument("--on", metavar="ADDRESS", help="not here, but on the workers of this scheduler (docs/ci.md)")
    add_tls_argument(parser)
    add_engine_arguments(parser)
    add_platform_argument(parser, builds=True)
    add_request_arguments(parser, whole_matrix=True)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Do the jobs and publish their packages.

    Raises:
        BuildError: jobs failed; a report of what was done is there, and nothing was published.
    """
    request = request_of(arguments)
    _check(arguments, request)
    jobs = local_jobs(request)
    workspace = Workspace(request.workspace.dist / "ci")
    at_once = usable_cpus() if arguments.jobs is None else arguments.jobs
    with workspace.lock(), open_jobs_journal(workspace, "ci run", at_once) as events:
        run = Run(
            jobs=jobs,
            folder=workspace.dist,
            hosts=_hosts(arguments, request, jobs, workspace, reporter),
            settings=use_measured_memory(load_settings(), workspace.dist, usable_cpus()),
            reporter=reporter,
            events=events,
        )
        _print_results(run.run(), workspace, reporter)
        return _publish(arguments, [workspace.dist / "handed" / job.file for job in jobs], reporter)


def _check(arguments: argparse.Namespace, request: Request) -> None:
    """See to it that what was asked for goes together.

    Raises:
        UsageError: it does not.
    """
    if arguments.jobs is not None and arguments.jobs < 1:
        raise UsageError("--jobs must be at least 1")
    if arguments.on is None:
        if arguments.tls:
            raise UsageError("--tls is of --on ADDRESS")
        return
    for option in ("jobs", "memory"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option} is about this machine", hint="`slipway ci worker` takes it, on each machine")
    for channel in request.channels or ():
        if channel != EMBEDDED and channel_address(channel).startswith("file:"):
            raise UsageError("the channel is a folder of this machine, which workers do not see", where=channel,
                             hint="`slipway channel serve` gives it an address")  # fmt: skip


def _hosts(
    arguments: argparse.Namespace, request: Request, jobs: Sequence[Job], workspace: Workspace, reporter: Reporter
) -> Hosts:
    how = ["--engine", arguments.engine, "--isolation", arguments.isolation]
    how += ["--rebuild"] if arguments.rebuild else []
    if arguments.on is None:
        memory = available_memory() / 1e9 if arguments.memory is None else arguments.memory
        at_once = usable_cpus() if arguments.jobs is None else arguments.jobs
        return Here(workspace.dist, [*words_of(arguments), *how], Machine(memory, usable_cpus(), at_once))
    require_distributed()
    security = security_words(Path(arguments.tls)) if arguments.tls else {}
    warning = check_address(arguments.on, tls=bool(security))
    if warning:
        reporter.line(warning)
    asked = workspace.dist / "asked.bundle"
    bundle.write_request(asked, request, [job.output for job in jobs])
    return fleet.Fleet(arguments.on, workspace.dist, asked, how, security, reporter)


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
