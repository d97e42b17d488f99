"""Assemble the embedded channel, add packages to it, or rewrite its lock file.

slipway bootstrap                               assemble it
slipway bootstrap add wheel:hatchling ...       describe and lock the newest wheels, and what they require
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.paths import cache_folder
from slipway.bootstrap import adding
from slipway.bootstrap.choices import DATA, ChannelRequest
from slipway.bootstrap.ensure import ensure_channel
from slipway.bootstrap.update import update_lock
from slipway.channel.environments import install, solve

if TYPE_CHECKING:
    import argparse

    from slipway.base import log
    from slipway.bootstrap.stored import EmbeddedChannel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("action", nargs="*", metavar="add wheel:NAME", help="what to add; without it, assemble")
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
    if args.action:
        return _add(args.action, cache, reporter)
    request = ChannelRequest(cuda=args.cuda, blas=args.blas, python=tuple(args.python or ("3.11",)))
    channel = ensure_channel(request, reporter, cache=cache, offline=args.offline, refresh=args.refresh)
    if args.json:
        packages = [asdict(package) for package in channel.packages]
        print(json.dumps({"url": channel.url, "digest": channel.digest, "packages": packages}, indent=2))
        return 0
    for line in table(channel):
        print(line)
    return 0


def _add(words: list[str], cache: Path, reporter: log.Reporter) -> int:
    """Describe packages, and see to it that they can be installed."""
    names = [word.partition("wheel:")[2] for word in words[1:]]
    if words[0] != "add" or not names or not all(names):
        raise UsageError(f"`bootstrap {' '.join(words)}`", hint="write `slipway bootstrap add wheel:NAME`")
    added = adding.add_wheels(names, DATA, cache, reporter)
    for one in added:
        reporter.line(f"{one.name}: {one.path}")
    channel = ensure_channel(ChannelRequest(), reporter, cache=cache, offline=False)
    with tempfile.TemporaryDirectory(prefix="slipway-added-") as folder:
        install(solve([one.name for one in added], (channel.url,)), Path(folder) / "env", reporter)
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
