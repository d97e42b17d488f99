"""Build what changed and judge it, without publishing or installing.

The packages wait in dist/work/proved until `slipway publish` or the next `slipway ship` takes them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from slipway.base.text import human_seconds, human_size
from slipway.commands._options import add_build_arguments, add_platform_argument, add_request_arguments, request_of
from slipway.engines import load_engine
from slipway.pipeline.context import RunContext
from slipway.pipeline.finalize import finalize, find_channels
from slipway.pipeline.run import run
from slipway.report.journaling import open_journal

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--json", action="store_true", help="a list of objects: key, path, sha256, size, seconds, reused"
    )
    add_build_arguments(parser)
    add_platform_argument(parser, builds=True)
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Build; returns the exit code."""
    request = request_of(arguments)
    engine = load_engine(arguments.engine)
    with (
        request.workspace.lock(),
        open_journal(request.workspace, "build", arguments.jobs, reporter) as (journal, reporter),
    ):
        rendered = request.outputs()
        channels = find_channels(request, rendered, reporter)
        outputs = finalize(request, rendered, channels)
        context = RunContext(
            request.workspace,
            engine,
            channels,
            reporter,
            jobs=arguments.jobs,
            isolation=arguments.isolation,
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
