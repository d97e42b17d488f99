"""The cache folder: finished downloads, assembled packages and channels. What is not finished is never seen there.

downloads/SHA256/FILE      verified files
packages/KEY/              one assembled package and what the index says about it
channels/DIGEST/           the subdirs with their repodata.json, and channel.json
apt/                       the private apt's lists and partial downloads
work/                      scratch, emptied at the start of every run
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.cache_room import mark_used
from slipway.base.files import disk_errors, hash_file
from slipway.base.locks import hold_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.base import log


class Cache:
    """The folders below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.downloads = root / "downloads"
        self.packages = root / "packages"
        self.channels = root / "channels"
        self.apt = root / "apt"
        self.work = root / "work"

    @contextmanager
    def exclusive(self, reporter: log.Reporter, *, patience: float = 1800) -> Iterator[None]:
        """Hold the cache for writing; waits up to `patience` seconds for another slipway, and says so.

        Raises:
            BusyError: the other one still holds it.
        """
        waiting = partial(reporter.line, f"waiting for another slipway that works in {self.root}")
        own = "give this one its own cache with XDG_CACHE_HOME"
        with hold_lock(self.root / "lock", patience=patience, on_wait=waiting, otherwise=own):
            # Nobody else is at work, so whatever lies here was left by a run that was killed.
            shutil.rmtree(self.work, ignore_errors=True)
            for folder in (self.downloads, self.packages, self.channels, self.work):
                folder.mkdir(exist_ok=True)
            try:
                yield
            finally:
                shutil.rmtree(self.work, ignore_errors=True)

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """An empty folder on the cache's disk, gone after the block."""
        with tempfile.TemporaryDirectory(dir=self.work, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    def download(self, sha256: str, file: str) -> Path | None:
        """The finished download, if it is there."""
        path = self.downloads / sha256 / file
        mark_used(path.parent)
        return path if path.exists() else None

    def has_download(self, sha256: str, file: str) -> bool:
        """Whether the finished download is there, of the promised bytes; a damaged one is removed."""
        path = self.download(sha256, file)
        if path is None:
            return False
        if hash_file(path) == sha256:
            return True
        path.unlink()
        return False


def typed_disk_errors(root: Path) -> AbstractContextManager[None]:
    """Turn the operating system's "no space left" into a DiskFullError."""
    return disk_errors(
        "the disk is full; what was half written has been removed",
        where=root,
        hint="free some gigabytes, or point XDG_CACHE_HOME to a larger disk, and run the same command again",
    )
