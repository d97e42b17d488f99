"""Make room in the cache: what was used the longest time ago goes, until the rest fits.

    slipway clean           to what SLIPWAY_CACHE_GB says, 20 by default; every build does that, too, once a day
    slipway clean --to 0    all that no build can be using: the next one fetches and unpacks again

What was used in the last six hours stays, whatever its size: a build that runs may need it.

Compiled files are sccache's, which keeps to SCCACHE_CACHE_SIZE by itself. No environment loses a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.cache_room import IN_USE_SECONDS, Trimmed, room_bytes, trim
from slipway.base.text import human_size
from slipway.base.user_folders import cache_folder

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
    done = trim(root, most) if root.is_dir() else Trimmed()
    reporter.line(f"{root}: {human_size(done.removed)} removed, {human_size(most)} may stay{_what_is_left(done, most)}")
    return 0


def _what_is_left(done: Trimmed, most: int) -> str:
    if done.busy:
        return "; nothing was looked at, since another slipway works there: try again when it has ended"
    if done.left > most:
        hours = IN_USE_SECONDS // 3600
        return f"; {human_size(done.left)} do, since they were used in the last {hours} hours and a build may need them"
    return ""
