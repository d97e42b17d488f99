"""Build what changed and judge it, without publishing or installing.

The packages wait in dist/work/proved until `slipway publish` or the next `slipway ship` takes them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from slipway.base.text import human_seconds, human_size
from slipway.engines import load_engine
from slipway.pipeline.context import RunContext
from slipway.pipeline.run import run
from slipway.report.journaling import journaled
from slipway.request import Request, add_build_arguments, add_variant_arguments

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_variant_arguments(parser)
    add_build_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the packages as JSON")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Build; returns the exit code."""
    request = Request.of(arguments)
    engine = load_engine(arguments.engine)
    with (
        request.workspace.lock(),
        journaled(request.workspace, "build", arguments.jobs, reporter) as (journal, reporter),
    ):
        outputs = request.outputs()
        channels = request.build_channels(reporter)
        outputs = request.finalized(outputs, channels)
        context = RunContext(
            workspace=request.workspace,
            engine=engine,
            channels=channels,
            environ=dict(os.environ),
            reporter=reporter,
            jobs=arguments.jobs,
            rebuild=arguments.rebuild,
            journal=journal,
        )
        artifacts = run(outputs, context, publish=False)
    if arguments.json:
        listing = [
            {
                "key": artifact.output.key,
                "path": str(artifact.path),
                "sha256": artifact.sha256,
                "size": artifact.size,
                "seconds": round(artifact.seconds, 3),
                "reused": artifact.reused,
            }
            for artifact in artifacts
        ]
        print(json.dumps(listing, indent=1))
    for artifact in artifacts:
        took = "up to date" if artifact.reused else human_seconds(artifact.seconds)
        reporter.line(f"{artifact.path}  {human_size(artifact.size)}  {took}")
    return 0
