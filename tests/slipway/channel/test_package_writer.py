"""Packages: the same bytes from the same tree, and metadata that says what is inside."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import zipfile
from pathlib import Path
from typing import IO, Any, cast

import pytest
import zstandard

from slipway.base import errors
from slipway.channel.package import unpack_files
from slipway.channel.package_writer import PackageRecord, write_package

PLACEHOLDER = "/placeholder/of/the/prefix"
RECORD = PackageRecord("toy", "1.0", "h0_0", 0, "linux-64", ("libgcc",), (), "MIT", noarch_python=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    (root / "bin" / "toy").write_text(f"#!{PLACEHOLDER}/bin/python\n")
    (root / "bin" / "toy").chmod(0o775)
    (root / "lib" / "libtoy.so.1").write_bytes(b"\x7fELF\0" + PLACEHOLDER.encode() + b"\0rest")
    (root / "lib" / "libtoy.so").symlink_to("libtoy.so.1")
    (root / "lib" / "elsewhere.so").symlink_to("libother.so.2")
    (root / "lib" / "random").write_bytes(os.urandom(9_000_000))  # more than one job of zstd
    return root


def write(tree: Path, destination: Path) -> Path:
    destination.parent.mkdir(exist_ok=True)
    info = {"licenses/LICENSE": b"MIT\n", "about.json": b"{}\n"}
    write_package(tree, RECORD, destination, placeholder=PLACEHOLDER, info=info, level=3)
    return destination


def read_part(package: Path, part: str) -> dict[str, Any]:
    with zipfile.ZipFile(package) as archive:
        name = next(name for name in archive.namelist() if name.startswith(part))
        with (
            archive.open(name) as raw,
            zstandard.ZstdDecompressor().stream_reader(cast("IO[bytes]", raw)) as stream,
            tarfile.open(fileobj=stream, mode="r|") as tar,
        ):
            return {entry.name: (entry, _content(tar, entry)) for entry in tar}


def _content(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(entry) if entry.isfile() else None
    return stream.read() if stream else b""


def test_the_same_tree_gives_the_same_bytes(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(tree, tmp_path / "a" / RECORD.file_name).read_bytes()
    for path in tree.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (1, 1))
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    second = write(tree, tmp_path / "b" / RECORD.file_name).read_bytes()
    assert hashlib.sha256(first).hexdigest() == hashlib.sha256(second).hexdigest()


def test_paths_json(tree: Path, tmp_path: Path) -> None:
    info = read_part(write(tree, tmp_path / "a" / RECORD.file_name), "info-")
    paths = {item["_path"]: item for item in json.loads(info["info/paths.json"][1])["paths"]}
    assert paths["bin/toy"]["file_mode"] == "text"
    assert paths["lib/libtoy.so.1"]["file_mode"] == "binary"
    assert paths["lib/libtoy.so.1"]["prefix_placeholder"] == PLACEHOLDER
    assert "prefix_placeholder" not in paths["lib/random"]
    assert paths["lib/libtoy.so"]["path_type"] == "softlink"
    assert paths["lib/libtoy.so"]["sha256"] == paths["lib/libtoy.so.1"]["sha256"]
    assert paths["lib/elsewhere.so"]["size_in_bytes"] == 0
    assert json.loads(info["info/index.json"][1])["depends"] == ["libgcc"]
    assert info["info/licenses/LICENSE"][1] == b"MIT\n"


def test_owners_modes_and_times_are_fixed(tree: Path, tmp_path: Path) -> None:
    content = read_part(write(tree, tmp_path / "a" / RECORD.file_name), "pkg-")
    assert list(content) == sorted(content)
    assert {(entry.uid, entry.gid, entry.uname, entry.mtime) for entry, _ in content.values()} == {
        (0, 0, "root", 1767225600)
    }
    assert content["bin/toy"][0].mode == 0o755
    assert content["lib/random"][0].mode == 0o644
    assert content["lib/libtoy.so"][0].linkname == "libtoy.so.1"


def test_unpack_gives_the_tree_back(tree: Path, tmp_path: Path) -> None:
    unpack_files(write(tree, tmp_path / "a" / RECORD.file_name), tmp_path / "again")
    assert (tmp_path / "again" / "lib" / "random").read_bytes() == (tree / "lib" / "random").read_bytes()
    assert (tmp_path / "again" / "lib" / "libtoy.so").readlink() == Path("libtoy.so.1")


def test_bytecode_with_a_prefix_is_refused(tree: Path, tmp_path: Path) -> None:
    (tree / "lib" / "toy.pyc").write_bytes(b"\0" + PLACEHOLDER.encode())
    with pytest.raises(errors.ChannelError, match="bytecode cannot be given another one"):
        write(tree, tmp_path / "a" / RECORD.file_name)


def test_a_package_is_never_overwritten(tree: Path, tmp_path: Path) -> None:
    write(tree, tmp_path / "a" / RECORD.file_name)
    with pytest.raises(FileExistsError):
        write(tree, tmp_path / "a" / RECORD.file_name)


def test_tools_are_unpacked_side_by_side(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "again" / "bin").mkdir(parents=True)
    (tmp_path / "again" / "bin" / "other").write_text("stays")
    unpack_files(write(tree, tmp_path / "a" / RECORD.file_name), tmp_path / "again")
    assert (tmp_path / "again" / "bin" / "other").read_text() == "stays"
    assert (tmp_path / "again" / "bin" / "toy").is_file()
    assert not (tmp_path / "again" / "info").exists()
