"""Solve and install packages from dist/channel (and the channel it was built from) into an environment.

    slipway install pytorch                   into dist/env
    slipway install --prefix DIR libtorch     into DIR
    slipway install --bundle FILE pytorch     from a bundle alone: no network, nothing in the cache

DIR is new, empty, or an environment that slipway made; whatever else lies in an environment stays as it is.

CONDA_OVERRIDE_GLIBC, CONDA_OVERRIDE_CUDA and friends change what this machine is taken for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import SolveError, UsageError
from slipway.base.locks import hold_lock
from slipway.base.paths import Workspace
from slipway.base.platform import LINUX_64, find_platform
from slipway.base.text import format_table, human_size
from slipway.bootstrap.embedded import advise_on_cuda, channels_of
from slipway.channel.environments import install, solve
from slipway.channel.folder import Channel
from slipway.channel.prefix import Prefix
from slipway.channel.specs import package_name
from slipway.commands._options import (
    CHANNEL_HELP,
    ROLLBACK_HELP,
    add_bundle_argument,
    add_variant_arguments,
    asked_variant,
    opened_bundle,
)
from slipway.pipeline.unsolvable import advise_on_recipe
from slipway.proof import installing, keys
from slipway.proof.bundles import check_bundle
from slipway.request import DEFAULT_RECIPE

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("specs", nargs="+", metavar="SPEC", help="what to install, such as `pytorch` or `numpy >=2`")
    parser.add_argument("--prefix", type=Path, metavar="DIR", help="the environment (default: dist/env)")
    parser.add_argument(
        "--into-existing", action="store_true", help="take a --prefix, too, that holds other things; they stay"
    )
    parser.add_argument("--allow-rollback", action="store_true", help=ROLLBACK_HELP)
    parser.add_argument("--require-signed", type=Path, metavar="FILE",
                        help="YAML: whose signatures packages, or a bundle, take (see `slipway attest`)")  # fmt: skip
    parser.add_argument("-c", "--channel", action="append", metavar="URL", help=CHANNEL_HELP)
    parser.add_argument("--platform", default=LINUX_64.subdir, metavar="SUBDIR",
                        help="for this platform (%(default)s)")  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="solve, print, and change nothing")
    parser.add_argument("--offline", action="store_true", help="download nothing")
    parser.add_argument("--dist", metavar="DIR", help="folder for everything that is written (default: dist/)")
    parser.add_argument("--json", action="store_true", help="the packages: a list of objects")
    add_bundle_argument(parser)
    add_variant_arguments(parser)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Install; returns the exit code."""
    if unnamed := [spec for spec in arguments.specs if not package_name(spec)]:
        raise UsageError(f"`{unnamed[0]}` names no package", hint="write `numpy`, or `numpy >=2` with its quotes")
    workspace = Workspace.of_checkout(arguments.dist)
    trust = keys.load_trust(arguments.require_signed) if arguments.require_signed else None
    if trust is not None and arguments.bundle is not None:
        reporter.line(f"the bundle is as {', '.join(check_bundle(arguments.bundle, trust))} signed it")
        trust = None  # that is so of all that is in it
    with opened_bundle(arguments, workspace) as bundle:
        if bundle is None:
            return _install(arguments, _channels(arguments, workspace, reporter), workspace, reporter, trust)
        bundle.own.publish()
        return _install(arguments, (bundle.own.url, *(bundle.channels or ())), workspace, reporter, trust)


def _channels(arguments: argparse.Namespace, workspace: Workspace, reporter: Reporter) -> tuple[str, ...]:
    own = Channel(workspace.channel)
    others = channels_of(
        arguments.channel,
        asked_variant(arguments) | {"target_platform": arguments.platform},
        reporter,
        needs=arguments.specs,
        own=own,
        offline=arguments.offline,
    )
    return (own.url, *others) if own.is_indexed else others


def _install(
    arguments: argparse.Namespace,
    channels: tuple[str, ...],
    workspace: Workspace,
    reporter: Reporter,
    trust: keys.Trust | None,
) -> int:
    prefix = (arguments.prefix or workspace.environment).resolve()
    try:
        solution = solve(arguments.specs, channels, platform=find_platform(arguments.platform))
    except SolveError as error:
        advise_on_cuda(error, asked_variant(arguments))
        advise_on_recipe(error, DEFAULT_RECIPE)
        raise
    if trust is not None:
        held = installing.check_solution(solution, trust, allow_rollback=arguments.allow_rollback)
        reporter.line(f"{held} of {len(solution.packages)} packages are as those who are trusted have signed them")
    if not arguments.dry_run:
        into_existing = arguments.into_existing or prefix == workspace.environment
        Prefix(prefix).check(into_existing=into_existing)  # before a lock is made in what is not ours
        with hold_lock(prefix / "conda-meta" / ".lock"):
            linked = install(solution, prefix, reporter, into_existing=into_existing)
    if arguments.json:
        print(json.dumps([package.__dict__ for package in solution.packages], indent=1))
        return 0
    rows = [(package.name, package.version, package.build, human_size(package.size)) for package in solution.packages]
    reporter.line(format_table(("package", "version", "build", "size"), rows, right=(3,)))
    if not arguments.dry_run:
        reporter.line(f"{len(rows)} packages in {prefix}, {linked} of them new")
    return 0
