"""`slipway ci job`: one job, as CI runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.paths import Workspace
from slipway.base.text import human_seconds, human_size
from slipway.commands._options import (
    add_build_arguments,
    add_bundle_argument,
    add_platform_argument,
    add_request_arguments,
    opened_bundle,
    request_of,
)
from slipway.engines import load_engine
from slipway.workflows.job import find_job, local_jobs, run_job

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("identifier", metavar="IDENTIFIER", help="as `slipway ci list` prints it")
    parser.add_argument("--handed", type=Path, required=True, metavar="DIR", help="packages of earlier jobs")
    add_bundle_argument(parser)
    add_build_arguments(parser)
    add_platform_argument(parser, builds=True)
    add_request_arguments(parser, whole_matrix=True)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Build the job's package from those that earlier jobs handed on, and hand it on."""
    engine = load_engine(arguments.engine)
    with opened_bundle(arguments, Workspace.of_checkout(arguments.dist)) as bundle:
        request = request_of(arguments) if bundle is None else bundle.request
        job = find_job(local_jobs(request), arguments.identifier)
        artifact = run_job(
            request,
            job,
            arguments.handed.resolve(),
            engine,
            reporter,
            jobs=arguments.jobs,
            isolation=arguments.isolation,
            rebuild=arguments.rebuild,
        )
    took = "up to date" if artifact.reused else human_seconds(artifact.seconds)
    reporter.line(f"{job.file}  {human_size(artifact.size)}  {took}")
    return 0
