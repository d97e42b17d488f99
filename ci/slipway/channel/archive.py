"""Reads a package file as a stream of members. Nothing is unpacked here, so nothing can be written anywhere.

The archive may come from anyone. Whatever a well-made package never holds ends the reading with an `IntegrityError`
that names the archive and the member: paths that lead out of the prefix, links that do, devices, names given twice or
in two Unicode forms, names that no file system takes or no terminal should show, records of installed packages,
truncated or corrupt data, and content that is far larger than the file that it comes in.
"""

from __future__ import annotations

import bz2
import errno
import hashlib
import io
import json
import posixpath
import struct
import tarfile
import unicodedata
import zipfile
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, TYPE_CHECKING

import zstandard

from slipway.base.errors import ChannelError, IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OLD_SUFFIX = ".tar.bz2"

SUFFIXES = (".conda", OLD_SUFFIX)

_SECTIONS = ("info", "pkg")
_FORMAT_FILE = "metadata.json"
_BLOCK = 1 << 20

_TAR_BLOCK = 1 << 16
"""For tarfile, which copies what is left of a block for each header and small file."""


class Kind(StrEnum):
    """What a member is."""

    FILE = "file"
    LINK = "link"
    HARD_LINK = "hard link"
    FOLDER = "folder"


@dataclass(frozen=True)
class Limits:
    """How much an archive may unpack to before it is taken for a bomb.

    Attributes:
        total_bytes, file_bytes, members: of the whole archive, of one file, and how many of those.
        ratio: unpacked bytes per packed byte that are believed, once more than `ratio_from_bytes` were unpacked: zstd
            packs zeros thirty thousand times smaller, real packages ten times.
        name_bytes, path_bytes, depth: of one part of a path, of all of it, and how many parts that has; below the
            kernel's own limits, with room for a prefix.
    """

    total_bytes: int = 17_179_869_184
    file_bytes: int = 4_294_967_296
    members: int = 200_000
    ratio: int = 300
    ratio_from_bytes: int = 67_108_864
    name_bytes: int = 255
    path_bytes: int = 2048
    depth: int = 100


LIMITS = Limits()
"""What every package is held to, whoever made it."""


@dataclass(frozen=True)
class Member:
    """One file or link. `content` is empty for links, `target` for files; a hard link's target is an earlier member."""

    path: str
    kind: Kind
    mode: int
    content: bytes
    target: str

    @property
    def sha256(self) -> str:
        """The digest of its content, in hex."""
        return hashlib.sha256(self.content).hexdigest()


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


def read_members(path: Path, limits: Limits = LIMITS) -> Iterator[Member]:
    """Every file and link of the package at `path`; of a ``.conda``, those below ``info/`` first.

    Raises:
        ChannelError: there is no such file, or it has another name than a package.
        IntegrityError: it is damaged, or made to do harm.
    """
    if not path.name.endswith(SUFFIXES):
        raise ChannelError("not a conda package", where=str(path), hint="its name ends in .conda")
    if not path.is_file():
        raise ChannelError("there is no such package", where=str(path))
    names = _Names(limits)
    try:
        if path.name.endswith(OLD_SUFFIX):
            with path.open("rb") as packed, bz2.BZ2File(packed) as unpacked:
                counted = _CountedStream(unpacked, path.stat().st_size, limits, str(path))
                yield from _read_tarball(counted, None, names, str(path))
        else:
            with zipfile.ZipFile(path) as archive:
                sections = _check_zip(archive, path)
                for section in _SECTIONS:
                    yield from _section(archive, sections[section], section, names, f"{path}: {sections[section]}")
        names.check_links(str(path))
    except IntegrityError:
        raise
    except (zipfile.BadZipFile, zipfile.LargeZipFile, tarfile.TarError, zstandard.ZstdError) as error:
        raise _damaged(f"the package is damaged: {str(error) or type(error).__name__}", str(path)) from error
    except (EOFError, ValueError, NotImplementedError, RuntimeError, ArithmeticError, struct.error) as error:
        # What zipfile and tarfile raise over nonsense in headers; RuntimeError: an encrypted entry.
        raise _damaged(f"the package is damaged: {str(error) or type(error).__name__}", str(path)) from error
    except OSError as error:
        if error.errno not in (errno.EINVAL, None):  # a place outside of the file, or bz2's word for damage
            raise
        message = "it refers to a place outside of the file" if error.errno else str(error)
        raise _damaged(f"the package is damaged: {message}", str(path)) from error


def _check_zip(archive: zipfile.ZipFile, path: Path) -> dict[str, str]:
    """The names of the two tarballs, after the outer archive was found to hold them and nothing else."""
    names = archive.namelist()
    _check_layout(archive, path)
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


_LOCAL_HEADER = struct.Struct("<4s22xHH")
_DESCRIPTOR_BYTES = 24
"""What may follow an entry's data: its sizes, where they were not known before."""


def _check_layout(archive: zipfile.ZipFile, path: Path) -> None:
    """See to it that the entries follow one another from the first byte to the directory.

    Some readers go by the directory at the end, others take what comes: nothing may be there for one of them alone.
    """
    reached, slack = 0, 0
    with path.open("rb") as stream:
        for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
            if entry.header_offset < 0:
                raise _damaged("the package is damaged: it refers to a place outside of the file", str(path))
            if not reached <= entry.header_offset <= reached + slack:
                raise _damaged(
                    f"the package holds {entry.header_offset - reached:,} bytes between its entries", str(path)
                )
            stream.seek(entry.header_offset)
            _, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
            reached = entry.header_offset + _LOCAL_HEADER.size + name_bytes + extra_bytes + entry.compress_size
            slack = _DESCRIPTOR_BYTES if entry.flag_bits & 8 else 0
    if not reached <= archive.start_dir <= reached + slack:
        raise _damaged(f"the package holds {archive.start_dir - reached:,} bytes behind its entries", str(path))


def _section(archive: zipfile.ZipFile, name: str, section: str, names: _Names, where: str) -> Iterator[Member]:
    packed = archive.getinfo(name).compress_size
    with (
        archive.open(name) as entry,
        zstandard.ZstdDecompressor().stream_reader(entry, read_across_frames=True) as unpacked,
    ):
        yield from _read_tarball(_CountedStream(unpacked, packed, names.limits, where), section, names, where)


def _read_tarball(counted: _CountedStream, section: str | None, names: _Names, where: str) -> Iterator[Member]:
    """The members of a tarball; `section` is None where it holds both of them."""
    with tarfile.open(fileobj=counted, mode="r|", bufsize=_TAR_BLOCK, errors="strict") as tar:
        for member in tar:
            path = _checked_path(member, section, names, where)
            if member.isdir():
                names.add(path, Kind.FOLDER, where)
                continue
            kind = Kind.LINK if member.issym() else Kind.HARD_LINK if member.islnk() else Kind.FILE
            target = member.linkname if kind == Kind.LINK else ""
            content = b""
            if kind == Kind.HARD_LINK:
                target = posixpath.normpath(member.linkname)
                if names.kinds.get(target) not in (Kind.FILE, Kind.HARD_LINK):
                    raise _damaged(
                        f"`{path}` is a hard link to `{_printable(target)}`, which is no earlier file", where
                    )
            elif kind == Kind.FILE:
                content = _content(tar, member, names.limits, where)
            names.add(path, kind, where, target)
            yield Member(path, kind, member.mode, content, target)
    while counted.read(_BLOCK):  # what follows the tarball's end is checked for corruption and size, too
        pass


class _Names:
    """The names of an archive so far: none twice, in whatever Unicode form, and none below what is no folder."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.kinds: dict[str, Kind] = {}
        self._forms: dict[str, str] = {}
        self._links: dict[str, str] = {}

    def add(self, path: str, kind: Kind, where: str, target: str = "") -> None:
        """Take note of one more."""
        parent = posixpath.dirname(path)
        if parent and self.kinds.get(parent) is None:
            self.add(parent, Kind.FOLDER, where)
        elif parent and self.kinds[parent] is not Kind.FOLDER:
            raise _damaged(f"`{path}` would be written through `{parent}`, which is no folder", where)
        known = self.kinds.get(path)
        if known is not None:
            if known is kind is Kind.FOLDER:
                return
            raise _damaged(f"the package holds `{path}` twice", where)
        if path and len(self.kinds) >= self.limits.members:
            raise _damaged(f"the package has more than {self.limits.members:,} members", where)
        form = unicodedata.normalize("NFC", path)
        if self._forms.setdefault(form, path) != path:
            raise _damaged(f"the package holds `{path}` twice, in two Unicode forms", where)
        self.kinds[path] = kind
        if kind is Kind.LINK:
            self._links[path] = target

    def check_links(self, where: str) -> None:
        """That no link leads out of the prefix, by way of other links of the archive, too."""
        for path, target in self._links.items():
            if leads_out(path, self._links):
                raise _damaged(f"the link `{path}` leads out of the prefix, to `{_printable(target)}`", where)


MOST_LINKS = 40
"""How many links the kernel follows on the way to one file."""


def leads_out(path: str, links: Mapping[str, str]) -> bool:
    """Whether whoever follows the link at `path` leaves the folder that `path` and `links` (path -> target) lie in."""
    reached: list[str] = []
    waiting = path.split("/")[::-1]
    followed = 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            if not reached:
                return True
            reached.pop()
        elif part not in ("", "."):
            reached.append(part)
            target = links.get("/".join(reached))
            if target is not None:
                followed += 1
                if target.startswith("/"):
                    return True
                if followed > MOST_LINKS:
                    return False  # it leads nowhere: the kernel gives up, too
                reached.pop()
                waiting += target.split("/")[::-1]
    return False


_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that make a name be shown as another one."""


def find_path_problem(path: str, limits: Limits = LIMITS) -> str | None:
    """Why no package may install a file by the name `path`; None if it may."""
    if path.startswith("/") or "\\" in path or "\0" in path:
        return "is no path inside a prefix"
    parts = path.split("/")
    if ".." in parts:
        return "leads out of the prefix"
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    if not (path.isascii() and path.isprintable()) and any(
        unicodedata.category(character) in ("Cc", "Zl", "Zp") or character in _DIRECTIONS for character in path
    ):
        return "has control characters in its name"
    if len(parts) > limits.depth:
        return f"lies more than {limits.depth} folders deep"
    if len(encoded) > limits.path_bytes or any(len(part.encode()) > limits.name_bytes for part in parts):
        return f"has a name of more than {limits.name_bytes} bytes, or a path of more than {limits.path_bytes}"
    if unicodedata.normalize("NFC", parts[0]).casefold() == "conda-meta" and parts[1:]:
        return "lies where installers keep their own records"
    return None


def _checked_path(member: tarfile.TarInfo, section: str | None, names: _Names, where: str) -> str:
    """The member's path, in the one way to write it."""
    shown = _printable(member.name)
    parts = [part for part in member.name.split("/") if part not in ("", ".")]
    path = "/".join(parts)
    if problem := find_path_problem("/" + path if member.name.startswith("/") else path, names.limits):
        raise _damaged(f"`{shown}` {problem}", where)
    if not member.isdir() and not path:
        raise _damaged("the package has a file without a name", where)
    if section is not None and path and (parts[0] == "info") != (section == "info"):
        raise _damaged(f"`{shown}` does not belong into the {section} tarball", where)
    if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
        raise _damaged(f"`{shown}` is a device, a pipe or something else that no package may make", where)
    if member.issparse():  # its holes are not in the stream, so nothing counts them; no packer makes one
        raise _damaged(f"`{shown}` is a sparse file: a bomb, or made by no packer of packages", where)
    for depth in range(1, len(parts)):
        if names.kinds.get("/".join(parts[:depth])) not in (None, Kind.FOLDER):
            raise _damaged(f"`{shown}` would be written through `{'/'.join(parts[:depth])}`, which is no folder", where)
    if member.issym():
        _check_link(path, member.linkname, where)
    return path


def _check_link(path: str, target: str, where: str) -> None:
    if not target or "\0" in target:
        raise _damaged(f"the link `{path}` has no target", where)
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
    text = name.encode("utf-8", "backslashreplace").decode()[:200]
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _damaged(message: str, where: str) -> IntegrityError:
    return IntegrityError(message, where=where, hint="fetch or build the package again; do not install this one")


def read_contents(path: Path, limits: Limits = LIMITS) -> dict[str, bytes]:
    """Path -> content of every file of a package that fits into memory; links are left out."""
    return {member.path: member.content for member in read_members(path, limits) if member.kind == Kind.FILE}
