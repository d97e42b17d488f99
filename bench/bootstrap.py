"""Measures the embedded channel: assembled from nothing, again with everything in the cache, and its sizes.

    ./slipway bench bootstrap [--cuda 13.0] [--blas openblas] [--keep-downloads]

Uses a cache of its own in a temporary folder, so it downloads everything; with --keep-downloads the user's downloads
are taken over, and the first figure is that of assembling alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.log import NullReporter
from slipway.base.user_folders import cache_folder
from slipway.bootstrap.choices import ChannelRequest
from slipway.bootstrap.ensure import ensure_channel

if TYPE_CHECKING:
    from slipway.bootstrap.stored import EmbeddedChannel


def timed(request: ChannelRequest, cache: Path, *, offline: bool) -> tuple[EmbeddedChannel, float]:
    """The channel, and the seconds it took."""
    started = time.perf_counter()
    channel = ensure_channel(request, NullReporter(), cache=cache, offline=offline)
    return channel, time.perf_counter() - started


def folder_size(folder: Path) -> int:
    """Bytes of all files below `folder`, hard links once."""
    seen = {(status.st_dev, status.st_ino): status.st_size for status in map(os.lstat, folder.rglob("*"))}
    return sum(seen.values())


def main() -> None:
    """Print the figures as a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--cuda", metavar="VERSION")
    parser.add_argument("--blas", default="mkl")
    parser.add_argument("--keep-downloads", action="store_true")
    arguments = parser.parse_args()
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    request = ChannelRequest(cuda=arguments.cuda, blas=arguments.blas, python=(running,))
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        cache = Path(folder)
        if arguments.keep_downloads:
            for name in ("downloads", "apt"):
                shutil.copytree(cache_folder() / name, cache / name)
        channel, cold = timed(request, cache, offline=False)
        _, warm = timed(request, cache, offline=True)
        downloads = folder_size(cache / "downloads")
        print(f"cold                {cold:8.1f} s   ({os.cpu_count()} cores)")
        print(f"again, offline      {warm:8.2f} s")
        print(f"downloads           {downloads / 1e6:8.0f} MB")
        print(f"packages            {sum(package.size for package in channel.packages) / 1e6:8.0f} MB")
        print(f"number of packages  {len(channel.packages):8d}")
        for package in sorted(channel.packages, key=lambda package: -package.size)[:10]:
            print(f"  {package.name:<24}{package.size / 1e6:8.1f} MB")


if __name__ == "__main__":
    main()
