"""A channel in a folder of this machine, which changes in one step."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slipway.base.errors import ChannelError
from slipway.base.files import hash_file, link_or_copy, write_file
from slipway.base.locks import hold_lock
from slipway.channel.catalogue import CATALOGUE
from slipway.channel.folder import swap_folders
from slipway.channel.package import PACKAGE_SUFFIX
from slipway.channel.stores.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_SECONDS = 600
"""How long a publisher waits for another one."""


def find_channel_files(folder: Path) -> Iterator[Path]:
    """What tells that a folder is a channel: its catalogue, an index, packages."""
    for pattern in (CATALOGUE, "*/repodata.json", f"*/*{PACKAGE_SUFFIX}"):
        yield from folder.glob(pattern)


class FolderStore:
    """The folder as it will be: the first change makes a second one beside it, of links to what stays."""

    def __init__(self, folder: Path) -> None:
        self.address = folder.as_uri()
        self._folder = self._now = folder

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep others from changing it; what is written takes place when the block ends without an error.

        Raises:
            ChannelError: it is none.
            BusyError: somebody else publishes there, and does not come to an end.
        """
        folder = self._folder
        if folder.exists() and not folder.is_dir():
            raise ChannelError("the channel is not a folder", where=str(folder))
        if folder.is_dir() and any(folder.iterdir()) and not any(find_channel_files(folder)):
            raise ChannelError(
                "the folder holds other things, and is no channel",
                where=str(folder),
                hint="name a new folder, or an empty one",
            )
        with hold_lock(folder.with_name(f".{folder.name}.lock") / ".lock", patience=PATIENCE_SECONDS):
            try:
                yield
                if self._now != folder:
                    swap_folders(folder, self._now)
            finally:
                self._now = folder
                shutil.rmtree(self._following, ignore_errors=True)

    def read(self, name: str) -> Stored | None:
        """See `ChannelStore`."""
        try:
            return Stored((self._now / name).read_bytes())
        except FileNotFoundError:
            return None

    def hash_file(self, name: str) -> str:
        """See `ChannelStore`."""
        return hash_file(self._now / name)

    def write(self, name: str, content: bytes | Path) -> None:
        """See `ChannelStore`."""
        target = self._begin() / name
        if isinstance(content, bytes):
            write_file(target, content)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            link_or_copy(content, target)

    def exchange(self, name: str, content: bytes | Path, before: Stored | None) -> bool:
        """See `ChannelStore`; nobody else writes meanwhile."""
        if before is None and (self._now / name).exists():
            return False
        self.write(name, content)
        return True

    def remove(self, name: str) -> None:
        """See `ChannelStore`."""
        (self._begin() / name).unlink(missing_ok=True)

    @property
    def _following(self) -> Path:
        return self._folder.with_name(f".{self._folder.name}.next")

    def _begin(self) -> Path:
        if self._now == self._folder:
            shutil.rmtree(self._following, ignore_errors=True)
            self._following.mkdir(parents=True)
            for path in self._folder.rglob("*"):
                target = self._following / path.relative_to(self._folder)
                if path.is_symlink():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.symlink_to(path.readlink())
                elif path.is_dir():
                    target.mkdir(parents=True, exist_ok=True)
                elif path.is_file():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    link_or_copy(path, target)
            self._now = self._following
        return self._now
