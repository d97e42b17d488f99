"""Reads a ``.conda`` file as a stream of members. Nothing is ever unpacked, so nothing can be written anywhere.

The archive may come from anyone. Whatever a well-made package never holds ends the reading with an `IntegrityError`
that names the archive and the member: paths that lead out of the prefix, links that do, devices, names given twice,
truncated or corrupt data, and content that is far larger than the file that it comes in.
"""

from __future__ import annotations

import errno
import io
import json
import posixpath
import struct
import tarfile
import zipfile
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, TYPE_CHECKING

import zstandard

from slipway.base.errors import ChannelError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SECTIONS = ("info", "pkg")
_FORMAT_FILE = "metadata.json"
_BLOCK = 1 << 20


class Kind(StrEnum):
    """What a member is."""

    FILE = "file"
    LINK = "link"
    HARD_LINK = "hard link"
    FOLDER = "folder"


@dataclass(frozen=True)
class Limits:
    """How much an archive may unpack to (`total_bytes`, `file_bytes`, `members`), and from how little.

    Attributes:
        ratio: unpacked bytes per packed byte that are believed, once more than `ratio_from_bytes` were unpacked.
    """

    total_bytes: int
    file_bytes: int
    members: int
    ratio: int
    ratio_from_bytes: int


@dataclass(frozen=True)
class Member:
    """One file or link. `content` is empty for links, `target` for files; a hard link's target is an earlier member."""

    path: str
    kind: Kind
    mode: int
    content: bytes
    target: str


class _CountedStream(io.RawIOBase):
    """What a decompressor gives, up to the limits: a bomb is noticed while it goes off, not after."""

    def __init__(self, stream: IO[bytes], packed_bytes: int, limits: Limits, where: str) -> None:
        self.stream = stream
        self.most = min(limits.total_bytes, max(limits.ratio_from_bytes, limits.ratio * packed_bytes))
        self.count = 0
        self.where = where

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self.stream.read(size)
        self.count += len(block)
        if self.count > self.most:
            raise _damaged(f"the package is a bomb: it unpacks to more than {self.most:,} bytes", self.where)
        return block


def read_members(path: Path, limits: Limits) -> Iterator[Member]:
    """Every file and link of the package at `path`, those below ``info/`` first.

    Raises:
        ChannelError: there is no such file, or it has another name than a package.
        IntegrityError: it is damaged, or made to do harm.
    """
    if path.suffix != ".conda":
        raise ChannelError("not a conda package", where=str(path), hint="its name ends in .conda")
    if not path.is_file():
        raise ChannelError("there is no such package", where=str(path))
    try:
        with zipfile.ZipFile(path) as archive:
            sections = _check_zip(archive, path)
            seen: dict[str, Kind] = {}
            for section in _SECTIONS:
                yield from _section(archive, sections[section], section, seen, limits, f"{path}: {sections[section]}")
    except IntegrityError:
        raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, tarfile.TarError, zstandard.ZstdError) as error:
        raise _damaged(f"the package is damaged: {str(error) or type(error).__name__}", str(path)) from error
    except (EOFError, ValueError, NotImplementedError, OverflowError, RuntimeError, struct.error) as error:
        # What zipfile and tarfile raise over nonsense in headers; RuntimeError: an encrypted entry.
        raise _damaged(f"the package is damaged: {str(error) or type(error).__name__}", str(path)) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place outside of the file; everything else is the disk's
            raise
        raise _damaged("the package is damaged: it refers to a place outside of the file", str(path)) from error


def _check_zip(archive: zipfile.ZipFile, path: Path) -> dict[str, str]:
    """The names of the two tarballs, after the outer archive was found to hold them and nothing else."""
    names = archive.namelist()
    if len(set(names)) != len(names):
        raise _damaged("the package is damaged: it holds an entry twice", str(path))
    found = {
        section: [name for name in names if name.startswith(f"{section}-") and name.endswith(".tar.zst")]
        for section in _SECTIONS
    }
    if any(len(candidates) != 1 for candidates in found.values()):
        raise _damaged("the package is damaged: it has not exactly one info and one pkg tarball", str(path))
    strange = set(names).difference([_FORMAT_FILE], *found.values())
    if strange:
        raise _damaged(f"the package holds `{_printable(min(strange))}`, which no package has", str(path))
    if _FORMAT_FILE not in names:
        raise _damaged(f"the package is damaged: it has no {_FORMAT_FILE}", str(path))
    with archive.open(_FORMAT_FILE) as stream:
        described = json.loads(stream.read(_BLOCK))
    version = described.get("conda_pkg_format_version") if isinstance(described, dict) else None
    if version != 2:
        raise _damaged(f"the package has format version {version}, and only 2 is known", str(path))
    return {section: candidates[0] for section, candidates in found.items()}


def _section(
    archive: zipfile.ZipFile, name: str, section: str, seen: dict[str, Kind], limits: Limits, where: str
) -> Iterator[Member]:
    packed = archive.getinfo(name).compress_size
    with (
        archive.open(name) as entry,
        zstandard.ZstdDecompressor().stream_reader(entry, read_across_frames=True) as unpacked,
    ):
        counted = _CountedStream(unpacked, packed, limits, where)
        with tarfile.open(fileobj=counted, mode="r|", ignore_zeros=False, errors="strict") as tar:
            for member in tar:
                path = _checked_path(member, section, seen, where)
                if len(seen) >= limits.members:
                    raise _damaged(f"the package has more than {limits.members:,} members", where)
                if member.isdir():
                    seen.setdefault(path, Kind.FOLDER)
                    continue
                if path in seen:
                    raise _damaged(f"the package holds `{path}` twice", where)
                kind = Kind.LINK if member.issym() else Kind.HARD_LINK if member.islnk() else Kind.FILE
                target = member.linkname if kind == Kind.LINK else ""
                content = b""
                if kind == Kind.HARD_LINK:
                    target = posixpath.normpath(member.linkname)
                    if seen.get(target) not in (Kind.FILE, Kind.HARD_LINK):
                        raise _damaged(
                            f"`{path}` is a hard link to `{_printable(target)}`, which is no earlier file", where
                        )
                elif kind == Kind.FILE:
                    content = _content(tar, member, limits, where)
                seen[path] = kind
                yield Member(path, kind, member.mode, content, target)
        while counted.read(_BLOCK):  # what follows the tarball's end is checked for corruption and size, too
            pass


def _checked_path(member: tarfile.TarInfo, section: str, seen: dict[str, Kind], where: str) -> str:
    """The member's path, in the one way to write it."""
    shown = _printable(member.name)
    if member.name.startswith("/") or "\0" in member.name or "\\" in member.name:
        raise _damaged(f"`{shown}` is no path inside a prefix", where)
    parts = [part for part in member.name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise _damaged(f"`{shown}` leads out of the prefix", where)
    path = "/".join(parts)
    if not member.isdir() and not path:
        raise _damaged("the package has a file without a name", where)
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise _damaged(f"the name `{shown}` is not UTF-8", where) from None
    if path and (parts[0] == "info") != (section == "info"):
        raise _damaged(f"`{shown}` does not belong into the {section} tarball", where)
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        raise _damaged(f"`{shown}` is a device, a pipe or something else that no package may make", where)
    if member.issparse():  # its holes are not in the stream, so nothing counts them; no packer makes one
        raise _damaged(f"`{shown}` is a sparse file: a bomb, or made by no packer of packages", where)
    for depth in range(1, len(parts)):
        if seen.get("/".join(parts[:depth])) not in (None, Kind.FOLDER):
            raise _damaged(f"`{shown}` would be written through `{'/'.join(parts[:depth])}`, which is no folder", where)
    if member.issym():
        _check_link(path, member.linkname, where)
    return path


def _check_link(path: str, target: str, where: str) -> None:
    reached = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith("/") or reached == ".." or reached.startswith("../"):
        raise _damaged(f"the link `{path}` leads out of the prefix, to `{_printable(target)}`", where)


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, limits: Limits, where: str) -> bytes:
    shown = _printable(member.name)
    if member.size > limits.file_bytes:
        raise _damaged(f"`{shown}` is larger than {limits.file_bytes:,} bytes", where)
    stream = tar.extractfile(member)
    content = stream.read() if stream is not None else b""
    if len(content) != member.size:
        raise _damaged(f"the package is truncated in `{shown}`", where)
    return content


def _printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")[:200]


def _damaged(message: str, where: str) -> IntegrityError:
    return IntegrityError(message, where=where, hint="fetch or build the package again; do not install this one")


def read_contents(path: Path, limits: Limits) -> dict[str, bytes]:
    """Path -> content of every file of a package that fits into memory; links are left out."""
    return {member.path: member.content for member in read_members(path, limits) if member.kind == Kind.FILE}
