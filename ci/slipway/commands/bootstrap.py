"""Assemble the embedded channel, or rewrite its lock file."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from slipway.base.paths import cache_folder
from slipway.bootstrap.choices import DATA, ChannelRequest
from slipway.bootstrap.ensure import ensure_channel
from slipway.bootstrap.update import update_lock

if TYPE_CHECKING:
    import argparse

    from slipway.base import log
    from slipway.bootstrap.stored import EmbeddedChannel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--cuda", metavar="VERSION", help="add the CUDA compiler and libraries of this version, as 13.0"
    )
    parser.add_argument("--blas", default="mkl", help="mkl or openblas (default: %(default)s)")
    parser.add_argument(
        "--python", action="append", metavar="VERSION", help="a Python version; may be given again (default: 3.11)"
    )
    parser.add_argument("--offline", action="store_true", help="use only what the cache holds")
    parser.add_argument(
        "--refresh", action="store_true", help="take the Debian revisions that are offered today, not the locked ones"
    )
    parser.add_argument(
        "--update-lock", action="store_true", help="rewrite ci/slipway/bootstrap/data/lock.yaml from its descriptions"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def execute(args: argparse.Namespace, reporter: log.Reporter) -> int:
    """Run the command; returns its exit status."""
    cache = cache_folder()
    if args.update_lock:
        count = update_lock(DATA, cache, reporter)
        reporter.line(f"Locked {count} files in {DATA / 'lock.yaml'}")
        return 0
    request = ChannelRequest(cuda=args.cuda, blas=args.blas, python=tuple(args.python or ("3.11",)))
    channel = ensure_channel(request, reporter, cache=cache, offline=args.offline, refresh=args.refresh)
    if args.json:
        packages = [asdict(package) for package in channel.packages]
        print(json.dumps({"url": channel.url, "digest": channel.digest, "packages": packages}, indent=2))
        return 0
    for line in table(channel):
        print(line)
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
