"""Folders for a while, in the system's own for such: gone after the block, and those of killed processes soon after."""

from __future__ import annotations

import array
import fcntl
import os
import secrets
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".scratch"
"""By which a folder is known as one that slipway may remove."""

YOUNG_SECONDS = 60.0
"""How long a folder without an owner may be one that is just being made."""

_GET_FLAGS, _SET_FLAGS, _TOP_OF_TREES = 0x80086601, 0x40086602, 0x00020000
"""Linux's FS_IOC_GETFLAGS, FS_IOC_SETFLAGS and FS_TOPDIR_FL."""


@contextmanager
def scratch_folder(purpose: str, *, below: Path | None = None) -> Iterator[Path]:
    """An empty folder in ``slipway-PURPOSE-....scratch``, gone with all that is in it after the block.

    What killed processes left there goes, too.

    Args:
        below: where to make it, instead of in the system's folder for such (`TMPDIR`).
    """
    parent = below or Path(tempfile.gettempdir())
    remove_orphans(parent)
    folder = Path(tempfile.mkdtemp(SUFFIX, f"slipway-{purpose}-", parent))
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        spread_folders(folder)
        inner = folder / secrets.token_hex(4)  # another name, another place on the disk
        inner.mkdir()
        yield inner
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def remove_orphans(parent: Path, *, young: float = YOUNG_SECONDS) -> None:
    """Remove this user's folders of `scratch_folder` in `parent` that no process holds.

    Args:
        young: seconds for which a folder is left alone whoever holds it.
    """
    for folder in parent.glob(f"slipway-*-????????{SUFFIX}"):
        with suppress(OSError):  # it went in the meantime, or is held
            status = folder.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < young:
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def spread_folders(folder: Path) -> None:
    """Ask the file system to put each folder made in `folder` somewhere of its own on the disk: ``+T`` of chattr(1).

    ext4 without a journal does not reuse what was deleted minutes ago, and looks through all of it for each new file
    nearby: where trees of files come and go, a file takes 700 microseconds in place of 15. Other file systems do not
    know the attribute, and need none.
    """
    flags = array.array("i", [0])
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.ioctl(descriptor, _GET_FLAGS, flags)
            if not flags[0] & _TOP_OF_TREES:
                flags[0] |= _TOP_OF_TREES
                fcntl.ioctl(descriptor, _SET_FLAGS, flags)
    finally:
        os.close(descriptor)
