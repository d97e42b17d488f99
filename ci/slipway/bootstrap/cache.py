"""The cache folder: finished downloads, assembled packages and channels. What is not finished is never seen there.

downloads/SHA256/FILE      verified files
packages/KEY/              one assembled package and what the index says about it
channels/DIGEST/           linux-64 and noarch with their repodata.json, and channel.json
apt/                       the private apt's lists and partial downloads
work/                      scratch, emptied at the start of every run
"""

from __future__ import annotations

import errno
import fcntl
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base import errors, log

if TYPE_CHECKING:
    from collections.abc import Iterator


def default_cache(environment: dict[str, str]) -> Path:
    """``$XDG_CACHE_HOME/slipway``, or ``~/.cache/slipway``."""
    base = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".cache")
    return Path(base) / "slipway"


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
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("w") as stream:
            _acquire(stream.fileno(), self.root, reporter, patience)
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
        return path if path.exists() else None


def _acquire(descriptor: int, root: Path, reporter: log.Reporter, patience: float) -> None:
    deadline = time.monotonic() + patience
    told = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise errors.BusyError(
                    "another slipway is assembling the channel",
                    where=str(root),
                    hint="wait for it to end, or give this one its own cache with XDG_CACHE_HOME",
                ) from None
            if not told:
                reporter.line(f"waiting for another slipway that works in {root}")
                told = True
            time.sleep(0.2)
        else:
            return


def move_into_place(beside: Path, destination: Path) -> None:
    """Rename a finished folder to its place; one that came there first stays."""
    try:
        beside.rename(destination)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(beside)


@contextmanager
def typed_disk_errors(root: Path) -> Iterator[None]:
    """Turn the operating system's "no space left" into a DiskFullError."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise errors.DiskFullError(
                "the disk is full; what was half written has been removed",
                where=str(root),
                hint="free some gigabytes, or point XDG_CACHE_HOME to a larger disk, and run the same command again",
            ) from error
        raise
