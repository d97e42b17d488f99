"""Build what changed, prove it, publish it to dist/channel, install it and greet the world.

Without DIR it ships this checkout's own recipe and ends with an environment in dist/env that has `pytorch` in it.
With DIR it ships any other recipe of the same dialect, up to the channel.

With --bundle it builds what a bundle holds, from nothing else: no network, no channel and no sources but those in it.

A second run builds only what changed. Ctrl-C at any time is harmless: the next run goes on from there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from slipway.base.events import Stage, StageKey
from slipway.base.paths import Workspace
from slipway.base.text import format_table, human_seconds, human_size
from slipway.checkout.greeting import greet
from slipway.commands._options import (
    add_build_arguments,
    add_bundle_argument,
    add_platform_argument,
    add_request_arguments,
    opened_bundle,
    request_of,
)
from slipway.engines import engine_module, load_engine
from slipway.pipeline.context import RunContext
from slipway.pipeline.finalize import finalize, find_channels
from slipway.pipeline.run import run
from slipway.recipe.limits import import_meanwhile
from slipway.report.journaling import open_journal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from slipway.base.log import Reporter
    from slipway.model import Artifact


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--no-install", action="store_true", help="stop after the channel is published")
    add_bundle_argument(parser)
    add_build_arguments(parser)
    add_platform_argument(parser, builds=True)
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run the whole flow; returns the exit code."""
    started = time.monotonic()
    # Needed after the recipe is rendered, or (the last one) for the report; an engine that is not there shows at once.
    later = ("rattler", engine_module(arguments.engine), "jinja2")
    workspace = Workspace.of_checkout(arguments.dist)
    with (
        opened_bundle(arguments, workspace) as bundle,
        workspace.lock(),
        open_journal(workspace, "ship", arguments.jobs, reporter) as (journal, reporter),
    ):
        request = request_of(arguments) if bundle is None else bundle.request
        import_meanwhile(*later)
        with reporter.step(Stage(StageKey.RECIPE)):
            rendered = request.outputs()
        with reporter.step(Stage(StageKey.BASE_CHANNEL)):
            channels = find_channels(request, rendered, reporter, instead=None if bundle is None else bundle.channels)
            outputs = finalize(request, rendered, channels)
        context = RunContext(
            request.workspace,
            load_engine(arguments.engine),
            channels,
            reporter,
            jobs=arguments.jobs,
            isolation=arguments.isolation,
            rebuild=arguments.rebuild,
            journal=journal,
        )
        artifacts = run(outputs, context)
        installed = None
        if request.is_own_recipe and not arguments.no_install and not request.platform.is_cross:
            installed = greet(request, channels, reporter)
    reporter.line("")
    reporter.line(_summary(artifacts))
    reporter.line("")
    if installed is not None:
        reporter.line(installed.advice)
    reporter.line(f"channel: {workspace.channel}")
    reporter.line(f"done in {human_seconds(time.monotonic() - started)}")
    return 0


def _summary(artifacts: Sequence[Artifact]) -> str:
    rows = [
        (
            artifact.output.name,
            artifact.output.version,
            artifact.output.build_string,
            human_size(artifact.size),
            "up to date" if artifact.reused else human_seconds(artifact.seconds),
        )
        for artifact in artifacts
    ]
    return format_table(("package", "version", "build", "size", "time"), rows, right=(3, 4))
