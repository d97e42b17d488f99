"""Files and folders: written whole or not at all, hashed, linked, and told of when the disk is full."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import DiskFullError
from slipway.base.json_file import read_json
from slipway.base.text import human_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


LEAST_FREE_BYTES = 1 << 20
"""A disk with less room counts as full: what failed may have been removed again, and file systems keep a reserve."""


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A path beside `path` to write a file to, which takes its place at the end of the block; its folder is made.

    Readers of `path` see the old file or the new one. An error in the block leaves the old one and nothing beside it.
    """
    with _named_when_full(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=path.parent, prefix=f".{path.name}.", ignore_cleanup_errors=True
        ) as folder:
            beside = Path(folder) / path.name
            yield beside
            beside.replace(path)


def write_file(path: Path, content: str | bytes) -> None:
    """Write `content` (text as UTF-8) to `path` whole or not at all, see `replace_file`.

    Names of files may hold bytes that are no UTF-8; in a text they become escapes.
    """
    written = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    with replace_file(path) as beside, _named_when_full(path, len(written)):
        beside.write_bytes(written)


def copy_file(path: Path, target: Path) -> None:
    """Copy the bytes of `path` to `target` whole or not at all, see `replace_file`."""
    with replace_file(target) as beside, _named_when_full(target, path.stat().st_size):
        shutil.copyfile(path, beside)


def move_folder(folder: Path, destination: Path) -> None:
    """Rename a finished folder to its place; one that came there first stays, and `folder` goes."""
    try:
        folder.rename(destination)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(folder)


def link_or_copy(path: Path, target: Path) -> None:
    """A hard link where the file system allows one, else a copy; `target` must not exist yet."""
    try:
        with _named_when_full(target):
            os.link(path, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
            raise
        with _named_when_full(target, path.stat().st_size):
            shutil.copyfile(path, target)


def hash_file(path: Path, kind: str = "sha256") -> str:
    """The digest of a file's bytes, in hex; `kind` is one of hashlib's."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()


def identify_file(path: Path) -> list[int]:
    """Inode, size, and the times of change (nanoseconds) of a file: others once anything was done to it.

    Nobody can set the last one, so nobody can make another file look like one that was seen before.
    """
    status = path.stat()
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


class RememberedHashes:
    """The sha256 of files, each read again only when the file is no longer the one that was read.

    Args:
        memory: the file to remember them in; one that cannot be read counts as empty.
    """

    def __init__(self, memory: Path) -> None:
        self._memory = memory
        self._changed = False
        known = read_json(memory)
        self._known: dict[str, object] = known if isinstance(known, dict) else {}

    def hash_file(self, path: Path) -> str:
        """The sha256 of a file's bytes, in hex."""
        identity = identify_file(path)
        known = self._known.get(str(path))
        if isinstance(known, list) and known[:-1] == identity and isinstance(known[-1], str):
            return known[-1]
        found = hash_file(path)
        self._known[str(path)] = [*identity, found]
        self._changed = True
        return found

    def save(self) -> None:
        """Write down what is new, and forget files that are gone."""
        if self._changed:
            write_file(
                self._memory, json.dumps({path: one for path, one in self._known.items() if Path(path).exists()})
            )


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error is the system's word that the disk, or the user's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def says_disk_full(output: str) -> bool:
    """Whether a program's output tells that the disk is full."""
    return any(os.strerror(number) in output for number in (errno.ENOSPC, errno.EDQUOT)) or "Errno 28" in output


@contextmanager
def _named_when_full(path: Path, size: int | None = None) -> Iterator[None]:
    """Have the word that the disk is full say where, and what was to be written: the system tells neither, or a source.

    Args:
        size: bytes.
    """
    try:
        yield
    except OSError as error:
        if is_disk_full(error) and error.filename != str(path):
            error.filename, error.filename2 = str(path), None
            if size is not None:
                error.add_note(f"{human_size(size)} were to be written to {path}")
        raise


def find_full_disk(candidates: Iterable[Path]) -> Path | None:
    """The first of some places that has no room left, or None."""
    for place in candidates:
        with suppress(OSError):
            if shutil.disk_usage(place).free < LEAST_FREE_BYTES:
                return place
    return None


@contextmanager
def disk_errors(message: str, *, where: Path, hint: str) -> Iterator[None]:
    """Turn the system's word that the disk is full into a `DiskFullError`."""
    try:
        yield
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise DiskFullError(message, where=str(where), hint=hint) from error
