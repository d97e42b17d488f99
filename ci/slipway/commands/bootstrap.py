"""Assemble the embedded channel, add packages to it, or rewrite its lock file.

slipway bootstrap                               assemble it
slipway bootstrap --with fmt --with scipy       ... with packages that are made only where they are asked for
slipway bootstrap add wheel:hatchling ...       describe and lock the newest wheels, and what they require
slipway bootstrap add deb:libfmt-dev deb:libfmt9 --name fmt
                                                the same for a package that is made of Debian's
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError, UsageError
from slipway.base.platform import LINUX_64, find_platform
from slipway.base.scratch import scratch_folder
from slipway.base.user_folders import cache_folder
from slipway.bootstrap import adding, adding_debs, described
from slipway.bootstrap.choices import DATA, ChannelRequest, names_on_demand
from slipway.bootstrap.ensure import ensure_channel
from slipway.bootstrap.update import update_lock
from slipway.channel.environments import install, solve

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from slipway.base import log
    from slipway.bootstrap.stored import EmbeddedChannel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "action", nargs="*", metavar="add deb:NAME|wheel:NAME", help="what to add; without it, assemble"
    )
    parser.add_argument(
        "--cuda",
        action="append",
        metavar="VERSION",
        help="add the CUDA compiler and libraries of this version, as 13.0",
    )
    parser.add_argument("--blas", default="mkl", help="mkl or openblas (default: %(default)s)")
    parser.add_argument(
        "--python", action="append", metavar="VERSION", help="a Python version; may be given again (default: 3.11)"
    )
    parser.add_argument("--with", action="append", dest="names", default=[], metavar="NAME",
                        help="add a package that is made only where it is asked for")  # fmt: skip
    parser.add_argument("--platform", default=LINUX_64.subdir, metavar="SUBDIR",
                        help="add what is needed to build for this platform (default: %(default)s)")  # fmt: skip
    parser.add_argument("--name", help="what `add` calls the package that is made of all the Debian packages")
    parser.add_argument("--pin", choices=("x", "x.x", "x.x.x"),
                        help="what of the version stays while a library fits; by default as its name says")  # fmt: skip
    parser.add_argument("--license", metavar="SPDX", help="the licence of what `add` adds, where it does not say so")
    parser.add_argument("--offline", action="store_true", help="use only what the cache holds")
    parser.add_argument(
        "--refresh", action="store_true", help="take the Debian revisions that are offered today, not the locked ones"
    )
    parser.add_argument(
        "--update-lock",
        action="store_true",
        help="lock what descriptions name and the lock file lacks; with --refresh, look at all of it anew",
    )
    parser.add_argument("--json", action="store_true", help="one object: url, digest and the packages")


def execute(args: argparse.Namespace, reporter: log.Reporter) -> int:
    """Run the command; returns its exit status."""
    cache = cache_folder()
    if args.update_lock:
        count, new = update_lock(DATA, cache, reporter, refresh=args.refresh)
        reporter.line(f"{count} files are locked in {DATA / 'lock.yaml'}, {new} of them were not before")
        return 0
    if args.action:
        return _add(args, cache, reporter)
    if unknown := sorted(set(args.names) - names_on_demand()):
        raise UsageError(
            f"the embedded channel has no `{unknown[0]}` to add",
            hint=f"it has {', '.join(sorted(names_on_demand()))}; `slipway bootstrap add` describes others",
        )
    request = ChannelRequest(
        cuda=tuple(args.cuda or ()),
        blas=args.blas,
        python=tuple(args.python or ("3.11",)),
        names=tuple(args.names),
        platform=find_platform(args.platform),
    )
    channel = ensure_channel(request, reporter, cache=cache, offline=args.offline, refresh=args.refresh)
    if args.json:
        packages = [asdict(package) for package in channel.packages]
        print(json.dumps({"url": channel.url, "digest": channel.digest, "packages": packages}, indent=2))
        return 0
    for line in table(channel):
        print(line)
    return 0


def _add(args: argparse.Namespace, cache: Path, reporter: log.Reporter) -> int:
    """Describe packages, and see to it that they can be installed and find their libraries."""
    verb, *words = args.action
    projects = [word.removeprefix("wheel:") for word in words if word.startswith("wheel:")]
    debs = [word.removeprefix("deb:") for word in words if word.startswith("deb:")]
    if verb != "add" or not words or len(projects) + len(debs) != len(words) or not all((*projects, *debs)):
        raise UsageError(
            f"`bootstrap {' '.join(args.action)}`", hint="write `slipway bootstrap add deb:NAME` or `... wheel:NAME`"
        )
    if (args.name or args.pin) and not debs:
        raise UsageError("`--name` and `--pin` are for a package that is made of Debian's")
    added = adding.add_wheels(projects, DATA, cache, reporter, licence=args.license) if projects else []
    if debs:
        adder = adding_debs.DebianAdder(DATA, cache, reporter)
        with adder.exclusive():
            for together in [tuple(debs)] if args.name else [(deb,) for deb in debs]:
                adder.add(adding_debs.Asked(together, args.name, args.pin, args.license))
            adder.write_lock()
        added += adder.added
        for line in adder.left_out:
            reporter.line(f"left out: {line}; add it, too, where its headers or files are needed")
    for one in added:
        reporter.line(f"{one.name}: {one.path}")
    names = tuple(one.name for one in added)
    channel = ensure_channel(ChannelRequest(names=names), reporter, cache=cache, offline=False)
    with scratch_folder("added") as folder:
        prefix = folder / "env"
        install(solve(names, (channel.url,)), prefix, reporter)
        missing = [line for name in names for line in described.missing_libraries(prefix, name)]
    if missing:
        raise ChannelError("what was added is not whole in an environment", detail="\n".join(missing),
                           hint="its description needs another source or dependency")  # fmt: skip
    reporter.line(f"{len(added)} package(s) described, locked and installed")
    return 0


def table(channel: EmbeddedChannel) -> list[str]:
    """The packages as lines of text: name, version, build, size in MB, and what each was made from."""
    rows = [("package", "version", "build", "MB", "made from")]
    for package in channel.packages:
        first, others = next(iter(package.sources), "text"), len(package.sources) - 1
        made_from = first + (f" and {others} more" if others > 0 else "")
        rows.append((package.name, package.version, package.build, f"{package.size / 1e6:.1f}", made_from))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}"
        for row in rows
    ]
    total = sum(package.size for package in channel.packages)
    return [*lines, "", f"{len(channel.packages)} packages, {total / 1e6:.0f} MB: {channel.url}"]
