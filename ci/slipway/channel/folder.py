"""A channel: a folder of packages and their index, which changes in one step or not at all.

`Channel.publish` makes the channel's next state complete in a folder beside it (hard links to what stays, the new
files, a new index) and then swaps the two folders in one system call. Whoever reads the channel sees all of the old
state or all of the new one; an interrupted or failed publish leaves nothing but a folder that the next one removes.

    channel = Channel(folder)
    channel.publish([(output.subdir, path)])          # add or replace it, and index; without any: index anew
    channel.publish(without=[channel.path_of(...)])   # take it out
    solve(["toy"], [channel.url])
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ChannelError
from slipway.base.files import hash_file, link_or_copy
from slipway.channel.package import PACKAGE_SUFFIX, is_whole, package_name, read_file_name
from slipway.channel.repodata import SUBDIRS, check_repodata, read_records, write_index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_INDEX_FILE = re.compile(
    r"(current_)?repodata.*\.(json|zst|bz2|lock)|(catalogue|channeldata|run_exports)\.json|[0-9a-f]{64}\.msgpack\.zst"
)
"""What indexing writes anew, and what tells of packages that may no longer be there (`slipway.channel.indexes`)."""


@dataclass(frozen=True)
class Channel:
    """The channel in `folder`, which need not exist yet. Nothing of it is kept in memory."""

    folder: Path

    @property
    def url(self) -> str:
        """Its ``file://`` address, as solvers take it."""
        return self.folder.resolve().as_uri()

    @property
    def is_indexed(self) -> bool:
        """Whether it is there, and its index can be read in both of its forms."""
        try:
            for name in SUBDIRS:
                check_repodata(self.folder / name)
        except ChannelError:
            return False
        return True

    def path_of(self, subdir: str, key: str) -> Path:
        """Where the package ``name-version-build`` lies, if it is there."""
        return self.folder / subdir / f"{key}{PACKAGE_SUFFIX}"

    def packages(self, name: str | None = None) -> list[Path]:
        """The package files that lie there, by subdir and file name; of one name or of all."""
        found = sorted(self.folder.glob(f"*/*{PACKAGE_SUFFIX}"))
        return [path for path in found if path.is_file() and (name is None or package_name(path) == name)]

    def records(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """What its index says: each package's file, and its record (name, sha256, ...).

        Raises:
            ChannelError: the index is damaged.
        """
        for path in sorted(self.folder.glob("*/repodata.json")):
            for name, record in read_records(path.parent).items():
                yield path.parent / name, record

    def publish(self, packages: Iterable[tuple[str, Path]] = (), *, without: Collection[Path] = ()) -> None:
        """Add (or replace) packages, take others out, and index what is there, in one step.

        Args:
            packages: subdir and file of each, which gets the name that the package has in itself.
            without: files of the channel that go.

        Raises:
            ChannelError: the folder is something else than a channel, or a file is not a package.
        """
        if self.folder.exists() and not self.folder.is_dir():
            raise ChannelError("the channel is not a folder", where=str(self.folder))
        following = self.folder.with_name(f".{self.folder.name}.next")
        shutil.rmtree(following, ignore_errors=True)
        try:
            _copy_packages(self.folder, following, without)
            for subdir, path in packages:
                if path.suffix != PACKAGE_SUFFIX:
                    hint = f"its name ends in {PACKAGE_SUFFIX}"
                    raise ChannelError("not a conda package", where=str(path), hint=hint)
                target = following / subdir / read_file_name(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                link_or_copy(path, target)
            write_index(following)
            swap_folders(self.folder, following)
        finally:
            shutil.rmtree(following, ignore_errors=True)

    def find_damage(self, path: Path) -> str | None:
        """Why its package at `path` must not be used: the bytes are not what the index says; None if it may be."""
        try:
            record = read_records(path.parent).get(path.name)
        except ChannelError as error:
            return error.message
        if record is None:
            return "the channel's index does not know the package"
        return None if hash_file(path) == record.get("sha256") else "its bytes are not what the channel's index says"

    def repair(self) -> list[Path]:
        """Write a lost or damaged index again.

        Damaged packages get another name, by which no index takes them; returns what they are called now.
        """
        aside = [path.rename(path.with_name(f"{path.name}.damaged")) for path in self.packages() if not is_whole(path)]
        self.publish()
        return aside

    def delete(self) -> None:
        """Remove the folder, if it is there."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _copy_packages(folder: Path, following: Path, without: Collection[Path]) -> None:
    for subdir in SUBDIRS:
        (following / subdir).mkdir(parents=True, exist_ok=True)
    if folder.is_dir():
        # All that is not the index: a channel of others may hold packages in the older format, notes and keys.
        for path in folder.rglob("*"):
            if path.is_file() and not _INDEX_FILE.fullmatch(path.name) and path not in without:
                target = following / path.relative_to(folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(path, target)


def swap_folders(folder: Path, following: Path) -> None:
    """Put `following` in the place of `folder` in one step; afterwards the old state, if any, is at `following`."""
    if not folder.exists():
        following.rename(folder)
        return
    if _exchange(folder, following):
        return
    # No atomic exchange on this file system: two renames, with a moment without a channel rather than a mixed one.
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    following.rename(folder)
    old.rename(following)


def _exchange(first: Path, second: Path) -> bool:
    """Linux's renameat2 with RENAME_EXCHANGE; False where the kernel or the file system has none."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    at_fdcwd, rename_exchange = -100, 2
    if renameat2(at_fdcwd, os.fsencode(first), at_fdcwd, os.fsencode(second), rename_exchange) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number), str(first))
