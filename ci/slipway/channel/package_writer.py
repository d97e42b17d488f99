"""Writes a staged tree as a ``.conda`` file: the same tree and description give the same bytes.

Entries are sorted, owners and times are fixed, modes are 755 or 644. Files that hold the placeholder are listed in
``paths.json`` as text or binary. zstd runs with a fixed job size, so that the number of threads does not show, and
without threads where there is but one job: their tables take longer to make than a small package.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import zstandard

from slipway.base import errors
from slipway.base.platform import find_platform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TIMESTAMP = 1_767_225_600
"""2026-01-01T00:00:00Z: every file's time, and the packages' `timestamp` (seconds)."""

_JOB_BYTES = 4 << 20


@dataclass(frozen=True)
class PackageRecord:
    """What the index says about a package, apart from its size and hashes."""

    name: str
    version: str
    build: str
    build_number: int
    subdir: str
    depends: tuple[str, ...]
    constrains: tuple[str, ...]
    license: str
    noarch_python: bool

    @property
    def file_name(self) -> str:
        """``name-version-build.conda``."""
        return f"{self.name}-{self.version}-{self.build}.conda"

    def index(self) -> dict[str, Any]:
        """The content of ``info/index.json``."""
        index: dict[str, Any] = {
            "name": self.name,
            "version": self.version,
            "build": self.build,
            "build_number": self.build_number,
            "depends": list(self.depends),
            "constrains": list(self.constrains),
            "license": self.license,
            "subdir": self.subdir,
            "timestamp": TIMESTAMP * 1000,
        }
        if self.noarch_python:
            index["noarch"] = "python"
        else:
            platform = find_platform(self.subdir)
            index |= {"arch": platform.architecture, "platform": platform.system}
        return index


def write_package(
    tree: Path,
    record: PackageRecord,
    destination: Path,
    *,
    placeholder: str,
    info: Mapping[str, bytes],
    level: int,
) -> None:
    """Write `tree` and its metadata to `destination`, which must not exist yet.

    Args:
        placeholder: the text that stands for the prefix.
        info: further files below ``info/`` (about.json, licences, run_exports.json, ...).
        level: zstd level.
    """
    files = _files(tree)
    paths = [_path_record(tree, path, placeholder) for path in files]
    metadata: dict[str, bytes] = {
        **info,
        "files": "".join(f"{path}\n" for path in files).encode(),
        "index.json": to_json(record.index()),
        "paths.json": to_json({"paths": paths, "paths_version": 1}),
    }
    write_archive(tree, destination, metadata, stem=destination.name.removesuffix(".conda"), level=level)


def write_archive(tree: Path, destination: Path, info: Mapping[str, bytes], *, stem: str, level: int) -> None:
    """Write the files of `tree`, and of ``info/`` as given, as a package at `destination`, which must not exist yet.

    Args:
        stem: the package's name without its ending, which names the parts of the archive.
        level: zstd level.
    """
    files = _files(tree)
    with zipfile.ZipFile(destination, "x", zipfile.ZIP_STORED, allowZip64=True) as archive:
        _store(archive, "metadata.json", lambda sink: _write(sink, b'{"conda_pkg_format_version": 2}'))
        parts: tuple[tuple[str, int, Callable[[tarfile.TarFile], None]], ...] = (
            ("pkg", sum((tree / path).lstat().st_size for path in files), lambda tar: _add_tree(tar, tree, files)),
            ("info", sum(map(len, info.values())), lambda tar: _add_info(tar, info)),
        )
        for part, size, fill in parts:
            compress = _compress_threaded if size > _JOB_BYTES else _compress_at_once
            _store(archive, f"{part}-{stem}.tar.zst", partial(compress, level=level, fill=fill))


def to_json(value: object) -> bytes:
    """JSON as it is stored in packages: sorted, indented, with a final newline."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _write(sink: IO[bytes], data: bytes) -> None:
    sink.write(data)


def _files(tree: Path) -> list[str]:
    found: list[str] = []
    for folder, names, files in os.walk(tree):
        links = [name for name in names if (Path(folder) / name).is_symlink()]
        found += [(Path(folder) / name).relative_to(tree).as_posix() for name in files + links]
    return sorted(found)


def _path_record(tree: Path, path: str, placeholder: str) -> dict[str, Any]:
    source = tree / path
    if source.is_symlink():
        # conda records the hash of what the link leads to, or of nothing when that is in another package.
        target = source.resolve()
        inside = target.is_file() and target.is_relative_to(tree.resolve())
        content = target.read_bytes() if inside else b""
        return {"_path": path, "path_type": "softlink", **_measures(content)}
    content = source.read_bytes()
    record: dict[str, Any] = {"_path": path, "path_type": "hardlink", **_measures(content)}
    if placeholder.encode() in content:
        if path.endswith(".pyc"):
            raise errors.ChannelError(f"`{path}` holds the prefix, and bytecode cannot be given another one")
        record["file_mode"] = "binary" if b"\0" in content else "text"
        record["prefix_placeholder"] = placeholder
    return record


def _measures(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size_in_bytes": len(content)}


def _store(archive: zipfile.ZipFile, name: str, produce: Callable[[IO[bytes]], None]) -> None:
    entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    # Sizes must be known before the first byte is stored, or the format of the entry depends on its size.
    with tempfile.TemporaryFile(dir=Path(archive.filename or ".").parent) as buffer:
        produce(buffer)
        entry.file_size = buffer.tell()
        buffer.seek(0)
        with archive.open(entry, "w") as sink:
            while block := buffer.read(1 << 20):
                sink.write(block)


def _compress_at_once(sink: IO[bytes], *, level: int, fill: Callable[[tarfile.TarFile], None]) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        fill(tar)
    sink.write(zstandard.ZstdCompressor(level=level).compress(buffer.getbuffer()))


def _compress_threaded(sink: IO[bytes], *, level: int, fill: Callable[[tarfile.TarFile], None]) -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(level, threads=os.cpu_count() or 1, job_size=_JOB_BYTES)
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    with (
        compressor.stream_writer(sink, closefd=False) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as tar,
    ):
        fill(tar)


def _add_tree(tar: tarfile.TarFile, tree: Path, files: list[str]) -> None:
    for path in files:
        source = tree / path
        entry = _entry(path)
        if source.is_symlink():
            entry.type = tarfile.SYMTYPE
            entry.linkname = str(source.readlink())
            entry.mode = 0o777
            tar.addfile(entry)
            continue
        status = source.stat()
        entry.size = status.st_size
        entry.mode = 0o755 if status.st_mode & 0o111 else 0o644
        with source.open("rb") as stream:
            tar.addfile(entry, stream)


def _add_info(tar: tarfile.TarFile, metadata: Mapping[str, bytes]) -> None:
    for name in sorted(metadata):
        entry = _entry(f"info/{name}")
        entry.size = len(metadata[name])
        entry.mode = 0o644
        tar.addfile(entry, io.BytesIO(metadata[name]))


def _entry(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mtime = TIMESTAMP
    entry.uname = entry.gname = "root"
    return entry
