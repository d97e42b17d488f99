"""Release what was built: a dated change log, a tag, a signed channel, and wheels for pip.

    slipway release --to ADDRESS --key release.pem --dry-run      say what would be done
    slipway release --to ADDRESS --key release.pem                of everything in the recipe's matrix
    slipway release --to ADDRESS --python 3.12                    of a part of it

The packages must be in dist/channel (`slipway ci run`, with the same options), as they would be built now.
docs/release.md tells more.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import HostError
from slipway.base.text import human_size
from slipway.channel import stores
from slipway.channel.folder import Channel
from slipway.commands import publish
from slipway.commands._options import add_request_arguments, request_of
from slipway.engines import load_engine
from slipway.recipe import load_recipe_settings
from slipway.release.simple_index import FOLDER, add_wheels, refuse_changed
from slipway.release.steps import find_built, find_checkout_of, make_wheels, release_notes

if TYPE_CHECKING:
    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--to", required=True, metavar="ADDRESS", help="the channel, as `slipway publish` takes it")
    parser.add_argument("--key", type=Path, metavar="FILE", help="sign packages and channel with this private key")
    parser.add_argument("--remote", metavar="NAME", help="git's remote that gets commit and tag (default: origin)")
    parser.add_argument("--changelog", type=Path, metavar="FILE", help="default: CHANGELOG.md of the checkout")
    parser.add_argument("--tag", default="v{version}", metavar="TEXT", help="what the tag is called (%(default)s)")
    parser.add_argument("--no-wheels", action="store_true", help="make none")
    parser.add_argument("--dry-run", action="store_true", help="make the wheels, print the plan, and change nothing")
    parser.add_argument("--engine", default="rattler", metavar="NAME", help="the engine that built the packages")
    add_request_arguments(parser, whole_matrix=True)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Release; returns the exit code."""
    stores.check_scheme(arguments.to)
    request = request_of(arguments)
    wheels = {} if arguments.no_wheels else dict(load_recipe_settings(request.recipe).wheels)
    if wheels and importlib.util.find_spec("auditwheel") is None:
        raise HostError("wheels need the Python package `auditwheel`",
                        hint=f"`{sys.executable} -m pip install auditwheel`, or --no-wheels")  # fmt: skip
    workspace = request.workspace
    with workspace.lock():
        packages = find_built(request, load_engine(arguments.engine), reporter)
        version = packages[0].version
        tag = arguments.tag.format(version=version)
        checkout = find_checkout_of(request.recipe, arguments.remote)
        changelog = arguments.changelog or checkout.folder / "CHANGELOG.md"
        tagged = checkout.check(tag)
        text, notes = release_notes(changelog, version, datetime.now(UTC).date().isoformat())
        folder = workspace.dist / "release" / version
        folder.mkdir(parents=True, exist_ok=True)
        own = Channel(workspace.channel).url
        made = make_wheels(packages, wheels, folder, own, reporter, log=workspace.log("release-wheels"))
        for path in [*(package.path for package in packages), *made]:
            reporter.line(f"{path.name}  {human_size(path.stat().st_size)}")
        where = f" at {checkout.remote}" if checkout.remote else ", in this repository alone"
        paths = [package.path for package in packages]
        _publish(arguments, paths, reporter, "--dry-run")  # what that refuses, it refuses before anything has a tag
        refuse_changed(stores.find_store(arguments.to), made)
        if arguments.dry_run:
            reporter.line(f"would be released as {tag}{where}, to {arguments.to}")
            return 0
        if tagged:
            checkout.push(tag)
        else:
            checkout.publish(changelog, text, tag, notes)
        reporter.line(f"{tag}{where}")
        _publish(arguments, paths, reporter)
        if made:
            with stores.open_store(arguments.to) as store:
                add_wheels(store, made)
            reporter.line(f"{len(made)} wheel(s) in {arguments.to}/{FOLDER}/, which pip takes as --index-url")
    return 0


def _publish(arguments: argparse.Namespace, packages: list[Path], reporter: Reporter, *options: str) -> None:
    parser = argparse.ArgumentParser()
    publish.add_arguments(parser)
    words = ["--to", arguments.to, *options, *map(str, packages)] + (
        ["--dist", arguments.dist] if arguments.dist else []
    )
    words += ["--key", str(arguments.key)] if arguments.key else []
    publish.execute(parser.parse_args(words), reporter)
