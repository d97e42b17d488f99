"""Make room in the cache: what was used the longest time ago goes, until the rest fits.

    slipway clean           to what SLIPWAY_CACHE_GB says, 20 by default; every build does that, too, once a day
    slipway clean --to 0    all that no build can be using: the next one fetches and unpacks again

Compiled files are sccache's, which keeps to SCCACHE_CACHE_SIZE by itself. No environment loses a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.cache_room import room_bytes, trim
from slipway.base.paths import cache_folder
from slipway.base.text import human_size

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--to", type=float, metavar="GB", help="how much may stay (default: SLIPWAY_CACHE_GB, or 20)")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Remove; returns the exit code."""
    root = cache_folder()
    most = room_bytes() if arguments.to is None else int(arguments.to * 1e9)
    removed = trim(root, most) if root.is_dir() else 0
    reporter.line(f"{root}: {human_size(removed)} removed, {human_size(most)} may stay")
    return 0
