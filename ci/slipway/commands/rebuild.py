"""Build a package again, from what it carries, and compare every byte.

A package holds what it was made from: the rendered recipe with its scripts, the packages of its build and host
environments, and the names of all source files' contents. The sources come from this checkout: from its files where
they are still the same, otherwise from git's history; what `git_url` and `url` name, by its commit and its sha256. Of a
channel elsewhere only the locked packages are taken. The tests of the package do not run again.

Nothing is taken from a compiler cache. The same bytes come from another checkout, another output folder, another home,
with another number of compilers and at another time. The folder that is built in is the same for all of them; where
SLIPWAY_BUILD_FOLDER names another one, code that nvcc compiled shows it.

With --bundle all of that, and the packages that names stand for, come from a bundle: no network is needed, nor what
mirrors and caches no longer have.

PACKAGE is a file, or the name of a package in dist/channel. Exit code 0: the same bytes; 9: they differ, and where.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError, VerifyError
from slipway.base.paths import Workspace
from slipway.base.platform import usable_cpus
from slipway.base.text import human_seconds
from slipway.channel.folder import Channel
from slipway.commands._options import add_bundle_argument, add_isolation_argument, opened_bundle
from slipway.commands._parsers import count
from slipway.engines.build_folder import VARIABLE
from slipway.pipeline.reproduce import RebuildOptions, rebuild
from slipway.proof import keys
from slipway.proof.statements import sign_package

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="a .conda file, or a name in the channel")
    add_bundle_argument(parser)
    parser.add_argument("--recipe", type=Path, metavar="DIR", help="where it was built from (default: recipe/)")
    parser.add_argument("-c", "--channel", action="append", metavar="URL", help="as for `slipway ship`")
    parser.add_argument("--offline", action="store_true", help="download nothing; what is cached must do")
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")
    parser.add_argument("--jobs", type=count, default=usable_cpus(), metavar="N", help="compilers to run at once")
    add_isolation_argument(parser)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="put the packages that were built there")
    parser.add_argument("--attest", type=Path, metavar="KEY",
                        help="with this private key, sign for each package that has the same bytes")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print what differs as JSON")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Rebuild and compare; returns the exit code."""
    workspace = Workspace.of_checkout(arguments.dist)
    results = []
    key = keys.load_signer(arguments.attest) if arguments.attest else None
    with opened_bundle(arguments, workspace) as bundle, workspace.lock():
        own = Channel(workspace.channel) if bundle is None else bundle.own
        for package in [_find(word, own) for word in arguments.packages]:
            with reporter.step(f"rebuild {package.name}"):
                options = RebuildOptions(
                    workspace=workspace,
                    own=own,
                    recipe=arguments.recipe if bundle is None else bundle.request.recipe,
                    channels=tuple(arguments.channel or ()) or None if bundle is None else bundle.channels,
                    offline=arguments.offline or bundle is not None,
                    environ=dict(os.environ),
                    jobs=arguments.jobs,
                    isolation=arguments.isolation,
                    keep=arguments.keep,
                )
                result = rebuild(package, options, reporter)
            results.append(result)
            if key is not None and not result.differences:
                sign_package(package, [key], reporter)
            verdict = f"{len(result.differences)} difference(s)" if result.differences else "the same bytes"
            reporter.line(f"{package.name}: {verdict}, in {human_seconds(result.seconds)}")
    if arguments.json:
        listing = [
            {
                "package": str(result.package),
                "identical": not result.differences,
                "differences": [vars(difference) for difference in result.differences],
            }
            for result in results
        ]
        print(json.dumps(listing, indent=1))
    for result in results:
        for difference in result.differences:
            reporter.line(f"{difference.file}: {difference.why}")
            if difference.diff:
                reporter.line(difference.diff)
    different = [result.package.name for result in results if result.differences]
    if different:
        hint = "what differs is above"
        if VARIABLE in os.environ:
            hint += f"; without {VARIABLE} it is built in the folder in which packages usually are: paths may show"
        raise VerifyError(f"built again, {', '.join(different)} has other bytes", hint=hint)
    return 0


def _find(word: str, channel: Channel) -> Path:
    path = Path(word)
    if path.is_file():
        return path
    there = channel.packages()
    found = [path for path in there if path.stem == word] or channel.packages(word)
    if len(found) == 1:
        return found[0]
    raise UsageError(
        f"there is no package `{word}`" if not found else f"`{word}` is the name of several packages",
        where=str(channel.folder),
        hint="name one of " + ", ".join(path.stem for path in found or there) if there else "`slipway ship` makes some",
    )
