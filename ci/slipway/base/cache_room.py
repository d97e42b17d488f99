"""Keeps the cache below a size: what was used the longest time ago goes first, and is fetched or made again."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from slipway.base.errors import BusyError, UsageError
from slipway.base.locks import hold_lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

VARIABLE: Final = "SLIPWAY_CACHE_GB"
DEFAULT_GB: Final = 20.0

SHELVES: Final = ("archives", "channels", "downloads", "for-builds", "packages", "pythons", "sources", "unpacked")
"""The folders of the cache whose entries may go; sccache looks after its own."""

LOCKS: Final = ("lock", "taken.lock")
"""Held by who writes into those."""

IN_USE_SECONDS: Final = 6 * 3600
"""What was used so lately may be in use by a build that runs."""

EVERY_SECONDS: Final = 24 * 3600


class Trimmed(NamedTuple):
    """What became of the cache: bytes that went and that are left; busy, nothing was done or looked at."""

    removed: int = 0
    left: int = 0
    busy: bool = False


def room_bytes(environ: Mapping[str, str] = os.environ) -> int:
    """How large the cache may be, without sccache's part.

    Raises:
        UsageError: the variable is no number.
    """
    text = environ.get(VARIABLE) or str(DEFAULT_GB)
    try:
        return int(float(text) * 1e9)
    except ValueError:
        raise UsageError(f"{VARIABLE} is a number of gigabytes, not `{text}`") from None


def mark_used(entry: Path) -> None:
    """Note that something of the cache is used now."""
    with suppress(OSError):  # it went, or the cache is another user's
        os.utime(entry)


def trim_now_and_then(root: Path, environ: Mapping[str, str] = os.environ) -> int:
    """`trim` once a day; returns how many bytes went."""
    stamp = root / "trimmed"
    if not root.is_dir() or (stamp.exists() and time.time() - stamp.stat().st_mtime < EVERY_SECONDS):
        return 0
    stamp.touch()
    return trim(root, room_bytes(environ)).removed


def trim(
    root: Path,
    most: int,
    *,
    shelves: Sequence[str] = SHELVES,
    locks: Sequence[str] = LOCKS,
    in_use: float = IN_USE_SECONDS,
) -> Trimmed:
    """Remove the entries of `shelves` that do not fit into `most` bytes.

    A file with several names counts once, for the entry that was used last. While another slipway writes into the
    cache, nothing is done.

    Args:
        shelves: the folders of `root` whose entries may go.
        locks: the files of `root` that whoever writes there holds.
        in_use: seconds for which an entry is left alone after its last use, whether it fits or not.
    """
    removed = total = 0
    with ExitStack() as stack:
        try:
            for name in locks:
                stack.enter_context(hold_lock(root / name))
        except BusyError:
            return Trimmed(busy=True)
        seen: set[tuple[int, int]] = set()
        entries = [entry for shelf in shelves if (root / shelf).is_dir() for entry in (root / shelf).iterdir()]
        used = {entry: entry.lstat().st_mtime for entry in entries}
        for entry in sorted(entries, key=used.__getitem__, reverse=True):
            files = {identity: size for identity, size in _sizes(entry) if identity not in seen}
            seen.update(files)
            own = sum(files.values())
            total += own
            if total > most and time.time() - used[entry] > in_use:
                _remove(entry)
                removed += own
                total -= own
    return Trimmed(removed, total)


def _sizes(entry: Path) -> Iterator[tuple[tuple[int, int], int]]:
    """The identity of each file of an entry, and the bytes it takes."""
    files = [entry] if not entry.is_dir() else (path for path in entry.rglob("*") if not path.is_dir())
    for path in files:
        with suppress(FileNotFoundError):
            status = path.lstat()
            yield (status.st_dev, status.st_ino), status.st_blocks * 512


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)
