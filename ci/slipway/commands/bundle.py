"""Put everything that packages were built from into one file, for `rebuild`, `ship` and `install` without a network.

FILE gets the recipe and its sources, the packages of all environments to build and test in, and the packages that were
built, each known by its sha256. On a machine that has neither a network nor anything in its cache, `slipway rebuild
NAME --bundle FILE` builds one again and compares every byte, `slipway ship --bundle FILE` builds all, and `slipway
install --bundle FILE NAME` installs them as they are.

Debian's mirrors keep one revision of each package, and sources vanish: so bundle what you publish, when you publish it.
The packages must be up to date in dist/channel: `slipway ship`, then this, with the same options.

With --since EARLIER, FILE gets only what EARLIER does not have, and needs it beside itself when it is used.

A bundle does not hold slipway itself, the Python packages that it runs with (ci/requirements.lock), or the programs of
the host that builds may use: a shell and POSIX's tools.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.files import hash_file
from slipway.base.text import human_size
from slipway.commands._options import add_request_arguments, request_of
from slipway.engines import load_engine
from slipway.pipeline.bundle import write_bundle
from slipway.pipeline.context import RunContext
from slipway.pipeline.finalize import find_channels

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--to", type=Path, required=True, metavar="FILE", help="the file to write")
    parser.add_argument("--since", type=Path, metavar="FILE",
                        help="an earlier bundle, which stays beside the new one: leave out what it has")  # fmt: skip
    parser.add_argument("--engine", default="rattler", metavar="NAME", help="the engine that built the packages")
    add_request_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Write the file; returns the exit code."""
    request = request_of(arguments)
    with request.workspace.lock():
        rendered = request.outputs()
        channels = find_channels(request, rendered, reporter)
        context = RunContext(request.workspace, load_engine(arguments.engine), channels, reporter)
        with reporter.step(f"bundle {arguments.to}"):
            plan = write_bundle(arguments.to, request, rendered, context, since=arguments.since)
    for planned in plan.outputs:
        assert planned.manifest is not None  # nothing is handed on here
        count = sum(map(len, planned.manifest.environments.values()))
        reporter.line(f"{planned.output.key}: {count} packages to build it")
    reporter.line(
        f"{arguments.to}: {human_size(arguments.to.stat().st_size)}, read back, sha256 {hash_file(arguments.to)}"
    )
    return 0
