"""Readers: each kind of source becomes a list of `Entry` values, which mapping rules then place in a package's tree.

Facts first: a reader knows nothing of packages, and the one `place` function below serves all of them.
"""

from __future__ import annotations

import configparser
import os
import posixpath
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base import errors
from slipway.base.files import says_disk_full
from slipway.base.proc import capture

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable, Iterator

    from slipway.bootstrap.mapping import Rule


@dataclass(frozen=True)
class SourceEntry:
    """One file or symlink of a source.

    Attributes:
        path: relative POSIX path.
        link: the symlink's target, or None for a regular file.
        executable: whether the source marks it as a program.
        read: gives the bytes (of the file that a symlink leads to, where the source holds that).
    """

    path: str
    link: str | None
    executable: bool
    read: Callable[[], bytes]


def wheel_entries(archive: zipfile.ZipFile) -> Iterator[SourceEntry]:
    """Files of a wheel under ``site/``, or under the scheme's name for what is in its ``.data`` folder."""
    for info in archive.infolist():
        if info.is_dir():
            continue
        first, _, rest = info.filename.partition("/")
        if first.endswith(".data"):
            scheme, _, rest = rest.partition("/")
            path = f"{'site' if scheme in ('purelib', 'platlib') else scheme}/{rest}"
        else:
            path = f"site/{info.filename}"
        executable = bool(info.external_attr >> 16 & 0o111)
        yield SourceEntry(path, None, executable, lambda info=info: archive.read(info))  # type: ignore[misc]


@contextmanager
def open_deb(path: Path, scratch: Path) -> Iterator[Iterator[SourceEntry]]:
    """The data archive of a Debian package; dpkg-deb unpacks it to a tar file in `scratch` for the block."""
    tar_path = scratch / f"{path.name}.tar"
    with tar_path.open("wb") as stream:
        command = ["dpkg-deb", "--fsys-tarfile", str(path)]
        outcome = capture(command, env=os.environ, what="unpacking Debian packages", to=stream)
    try:
        if outcome.status != 0:
            if says_disk_full(outcome.tail):
                raise errors.DiskFullError("the disk is full", where=str(scratch), detail=outcome.tail)
            raise errors.IntegrityError("this Debian package cannot be unpacked", where=str(path), detail=outcome.tail)
        with tarfile.open(tar_path) as archive:
            yield _tar_entries(archive)
    finally:
        tar_path.unlink(missing_ok=True)


def _tar_entries(archive: tarfile.TarFile) -> Iterator[SourceEntry]:
    members = {posixpath.normpath(member.name): member for member in archive.getmembers()}

    def read(path: str, depth: int = 0) -> bytes:
        member = members.get(path)
        if member is None or depth > 20:
            raise errors.IntegrityError(f"`{path}` leads out of its Debian package")
        if member.issym():
            if member.linkname.startswith("/"):
                return read(posixpath.normpath(member.linkname.lstrip("/")), depth + 1)
            return read(posixpath.normpath(posixpath.join(posixpath.dirname(path), member.linkname)), depth + 1)
        stream = archive.extractfile(member)
        assert stream is not None  # it is a file or a hard link, both can be read
        return stream.read()

    for path, member in members.items():
        if member.issym():
            yield SourceEntry(path, member.linkname, False, lambda path=path: read(path))  # type: ignore[misc]
        elif member.isfile() or member.islnk():
            yield SourceEntry(path, None, bool(member.mode & 0o111), lambda path=path: read(path))  # type: ignore[misc]


def folder_entries(root: Path, prune: Callable[[str], bool]) -> Iterator[SourceEntry]:
    """Files and symlinks below `root`; folders for which `prune` holds (a relative path) are not entered."""
    for folder, names, files in os.walk(root):
        base = Path(folder).relative_to(root).as_posix()
        prefix = "" if base == "." else f"{base}/"
        names[:] = sorted(name for name in names if not prune(prefix + name))
        linked = [name for name in names if (Path(folder) / name).is_symlink()]
        for name in sorted(files + linked):
            path = Path(folder) / name
            link = str(path.readlink()) if path.is_symlink() else None
            yield SourceEntry(prefix + name, link, os.access(path, os.X_OK), path.read_bytes)


class Tree:
    """A package's tree while it is put together: a folder, and who placed what."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def put(self, path: str, content: bytes, mode: int) -> None:
        """Write a file; the same path twice is fine only with the same content."""
        target = self._open_place(path)
        if target.is_symlink() or target.exists():
            if target.is_file() and not target.is_symlink() and target.read_bytes() == content:
                return
            raise errors.ChannelError(f"two sources place different files at `{path}`")
        target.write_bytes(content)
        target.chmod(mode)

    def link(self, path: str, target: str) -> None:
        """Make a symlink; the same one twice is fine."""
        place = self._open_place(path)
        if place.is_symlink() and str(place.readlink()) == target:
            return
        if place.is_symlink() or place.exists():
            raise errors.ChannelError(f"two sources place different files at `{path}`")
        place.symlink_to(target)

    def paths(self) -> list[str]:
        """Relative paths of all files and symlinks, sorted."""
        return sorted(entry.path for entry in folder_entries(self.root, lambda _: False))

    def _open_place(self, path: str) -> Path:
        clean = posixpath.normpath(path)
        if clean.startswith(("/", "../")) or clean in (".", ".."):
            raise errors.ChannelError(f"`{path}` leads out of the package")
        target = self.root / clean
        target.parent.mkdir(parents=True, exist_ok=True)
        return target


def place(
    entries: Iterator[SourceEntry],
    rules: tuple[Rule, ...],
    tree: Tree,
    *,
    link_root: str | None,
    transform: Callable[[str, bytes], bytes] | None = None,
) -> None:
    """Put what the rules take into `tree`.

    Args:
        link_root: folder of the package that absolute symlinks are relative to.
        transform: a last change to a file's bytes, given its destination.

    Raises:
        ChannelError: a rule takes nothing (the source is not what the description expects).
    """
    unused = {rule for rule in rules if not rule.optional}
    for entry in entries:
        for rule in rules:
            target = rule.target(entry.path)
            if target is None:
                continue
            unused.discard(rule)
            if entry.link is not None and not rule.follow:
                tree.link(target, _link_target(entry.link, target, link_root))
                continue
            content = entry.read()
            if transform:
                content = transform(target, content)
            tree.put(target, content, rule.permissions or (0o755 if entry.executable else 0o644))
    for rule in rules:
        if rule in unused:
            raise errors.ChannelError(f"no file matches `{rule.take.text}`")


def _link_target(link: str, path: str, link_root: str | None) -> str:
    if not link.startswith("/"):
        return link
    if link_root is None:
        raise errors.ChannelError(f"`{path}` is an absolute symlink to `{link}`; give its source a `link_root`")
    return posixpath.relpath(link_root + link, posixpath.dirname(path) or ".")


def entry_points(metadata: str) -> tuple[str, ...]:
    """``name = module:function`` lines of a wheel's ``entry_points.txt``, console scripts only."""
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(metadata)
    if not parser.has_section("console_scripts"):
        return ()
    return tuple(f"{name} = {value.split('[')[0].strip()}" for name, value in parser["console_scripts"].items())
