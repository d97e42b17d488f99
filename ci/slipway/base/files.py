"""Files and folders: written whole or not at all, hashed, linked, and told of when the disk is full."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import DiskFullError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A path beside `path` to write a file to, which takes its place at the end of the block; its folder is made.

    Readers of `path` see the old file or the new one. An error in the block leaves the old one and nothing beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.", ignore_cleanup_errors=True) as folder:
        beside = Path(folder) / path.name
        yield beside
        beside.replace(path)


def write_file(path: Path, content: str | bytes) -> None:
    """Write `content` (text as UTF-8) to `path` whole or not at all, see `replace_file`."""
    with replace_file(path) as beside:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)


def copy_file(path: Path, target: Path) -> None:
    """Copy the bytes of `path` to `target` whole or not at all, see `replace_file`."""
    with replace_file(target) as beside:
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
        os.link(path, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
            raise
        shutil.copyfile(path, target)


def hash_file(path: Path, kind: str = "sha256") -> str:
    """The digest of a file's bytes, in hex; `kind` is one of hashlib's."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error is the system's word that the disk, or the user's share of it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def says_disk_full(output: str) -> bool:
    """Whether a program's output tells that the disk is full."""
    return any(os.strerror(number) in output for number in (errno.ENOSPC, errno.EDQUOT)) or "Errno 28" in output


@contextmanager
def disk_errors(message: str, *, where: Path, hint: str) -> Iterator[None]:
    """Turn the system's word that the disk is full into a `DiskFullError`."""
    try:
        yield
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise DiskFullError(message, where=str(where), hint=hint) from error
