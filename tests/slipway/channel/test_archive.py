"""Hostile, damaged and truncated archives: each a clear error, and not a byte written anywhere."""

from __future__ import annotations

import os
import struct
import sys
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from slipway.base.errors import ChannelError, IntegrityError
from slipway.channel.archive import Kind, Limits, read_contents, read_members

if TYPE_CHECKING:
    from conftest import Kit, RawPackage

LIMITS = Limits(total_bytes=1 << 30, file_bytes=1 << 28, members=1000, ratio=300, ratio_from_bytes=1 << 20)


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    """A member for a tarball."""
    made = tarfile.TarInfo(name)
    made.type = kind
    made.linkname = target
    return made, b"content" if kind == tarfile.REGTYPE else b""


def refuse(path: Path, message: str, limits: Limits = LIMITS) -> None:
    """Reading `path` to its end must fail, with the archive's name and this in the message."""
    with pytest.raises(IntegrityError, match=message) as raised:
        list(read_members(path, limits))
    assert str(path) in (raised.value.where or "")
    assert raised.value.hint


def test_members_of_a_good_package(kit: Kit) -> None:
    path = kit.package({"lib/a.txt": "a", "lib/b.txt": Path("a.txt")})
    members = {member.path: member for member in read_members(path, LIMITS)}
    assert members["lib/a.txt"].content == b"a"
    assert (members["lib/b.txt"].kind, members["lib/b.txt"].target) == (Kind.LINK, "a.txt")
    assert "info/index.json" in members


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([entry("/etc/passwd")], "`/etc/passwd` is no path inside a prefix"),
        ([entry("../outside")], "`../outside` leads out of the prefix"),
        ([entry("lib/../../outside")], "leads out of the prefix"),
        ([entry("lib\\..\\outside")], "is no path inside a prefix"),
        (
            [entry("lib/a", tarfile.SYMTYPE, "/etc/passwd")],
            "the link `lib/a` leads out of the prefix, to `/etc/passwd`",
        ),
        ([entry("lib/a", tarfile.SYMTYPE, "../../x")], "leads out of the prefix"),
        ([entry("lib/a", tarfile.LNKTYPE, "/etc/passwd")], "a hard link to `/etc/passwd`, which is no earlier file"),
        ([entry("lib/a", tarfile.LNKTYPE, "lib/b"), entry("lib/b")], "which is no earlier file"),
        ([entry("dev/null", tarfile.CHRTYPE)], "`dev/null` is a device, a pipe"),
        ([entry("dev/sda", tarfile.BLKTYPE)], "is a device, a pipe"),
        ([entry("pipe", tarfile.FIFOTYPE)], "is a device, a pipe"),
        ([entry("lib/a"), entry("lib/a")], "holds `lib/a` twice"),
        ([entry("lib/a"), entry("lib/./a")], "holds `lib/a` twice"),
        ([entry("lib", tarfile.SYMTYPE, "share"), entry("lib/a")], "`lib/a` would be written through `lib`"),
        ([entry("lib"), entry("lib/a")], "would be written through `lib`, which is no folder"),
        ([entry("info/index.json")], "`info/index.json` does not belong into the pkg tarball"),
        ([entry("lib/caf\udce9")], "damaged: 'utf-8' codec can't decode"),
    ],
)
def test_hostile_members(
    raw_package: RawPackage,
    members: list[tuple[tarfile.TarInfo, bytes]],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = raw_package.write(members)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    refuse(path, message)
    assert list(empty.iterdir()) == []
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a-1-0.conda", "empty"]


def test_reading_writes_nothing_at_all(kit: Kit) -> None:
    """The kernel itself refuses every write while a package is read."""
    path = kit.package({"lib/a.txt": "a" * 100_000, "lib/libgood.so": kit.library()})
    program = f"""
import resource, signal, sys
from pathlib import Path
from slipway.verify.verifier import Verifier
verifier = Verifier(environ={{}})
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
assert len(verifier.facts(Path({str(path)!r})).files) == 2
"""
    import subprocess

    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_member_of_the_wrong_section(raw_package: RawPackage) -> None:
    refuse(raw_package.write(info=[entry("bin/sh")]), "`bin/sh` does not belong into the info tarball")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["../evil"], "the package holds `../evil`, which no package has"),
        (["pkg-other.tar.zst"], "not exactly one info and one pkg tarball"),
    ],
)
def test_hostile_entries_of_the_outer_archive(raw_package: RawPackage, names: list[str], message: str) -> None:
    refuse(raw_package.write(names=names), message)


def test_two_packages_in_one_file(raw_package: RawPackage) -> None:
    """Who takes the entries as they come unpacks the first one; who goes by the directory at the end, the second."""
    first = raw_package.write([entry("bin/evil")]).read_bytes()
    second = raw_package.write([entry("bin/good")]).read_bytes()
    raw_package.path.write_bytes(first + second)
    refuse(raw_package.path, f"the package holds {len(first)} bytes between its entries")


@pytest.mark.parametrize("forgotten", ["pkg-", "extra-"])
def test_entry_that_the_directory_does_not_name(raw_package: RawPackage, forgotten: str) -> None:
    path = raw_package.write([entry("bin/good")], names=["extra-x.tar.zst"])
    content = path.read_bytes()
    with zipfile.ZipFile(path, "a") as archive:
        (left_out,) = [one for one in archive.filelist if one.filename.startswith(forgotten)]
        archive.filelist.remove(left_out)
        archive.NameToInfo.pop(left_out.filename)
        archive.comment = b""  # so that the directory is written again, over itself
        archive._didModify = True  # type: ignore[attr-defined]
    assert path.read_bytes() != content
    with pytest.raises(IntegrityError, match=r"bytes (between|behind) its entries"):
        list(read_members(path, LIMITS))


def test_entries_whose_sizes_stand_behind_them(raw_package: RawPackage) -> None:
    """As a packer writes them that cannot go back in its output."""
    good = raw_package.write([entry("lib/a")])
    with zipfile.ZipFile(good) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}

    class Pipe:
        def __init__(self) -> None:
            self.content = bytearray()

        def write(self, data: bytes) -> int:
            self.content += data
            return len(data)

        def flush(self) -> None:
            pass

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as archive:  # type: ignore[call-overload]
        for name, content in contents.items():
            archive.writestr(name, content)
    good.write_bytes(pipe.content)
    assert zipfile.ZipFile(good).infolist()[0].flag_bits & 8
    assert [member.path for member in read_members(good, LIMITS)][-1] == "lib/a"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_entry_twice(raw_package: RawPackage) -> None:
    refuse(raw_package.write(names=["metadata.json"]), "holds an entry twice")


def test_bomb_goes_off_in_nobodys_face(raw_package: RawPackage) -> None:
    """64 MB of zeros in 6 kB: noticed after the first megabytes."""
    made = tarfile.TarInfo("zeros")
    path = raw_package.write([(made, bytes(64 << 20))])
    assert path.stat().st_size < 100_000
    refuse(path, "the package is a bomb: it unpacks to more than")


def test_bomb_behind_the_end_of_the_tarball(raw_package: RawPackage) -> None:
    path = raw_package.write(packed=zstandard.ZstdCompressor().compress(bytes(64 << 20)))
    refuse(path, "bomb")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (replace(LIMITS, file_bytes=50), "`info/index.json` is larger than 50 bytes"),
        (replace(LIMITS, members=2), "more than 2 members"),
        (replace(LIMITS, total_bytes=1000), "bomb"),
    ],
)
def test_limits(raw_package: RawPackage, limits: Limits, message: str) -> None:
    refuse(raw_package.write([entry("lib/a"), entry("lib/b")]), message, limits)


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_truncated(kit: Kit, kept: float) -> None:
    path = kit.package({"lib/a.bin": os.urandom(20_000)})
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    refuse(path, "the package is damaged")


@pytest.mark.parametrize("part", [0.3, 0.5, 0.6])
def test_flipped_bits(kit: Kit, part: float) -> None:
    path = kit.package({"lib/a.bin": os.urandom(20_000)})
    content = bytearray(path.read_bytes())
    content[int(len(content) * part)] ^= 0x10
    path.write_bytes(content)
    refuse(path, "damaged")


def test_tarball_that_ends_in_the_middle(raw_package: RawPackage) -> None:
    """Whole to zip and to zstd, and still cut off."""
    header = tarfile.TarInfo("lib/a")
    header.size = 1000
    path = raw_package.write(packed=zstandard.ZstdCompressor().compress(header.tobuf() + b"x" * 10))
    refuse(path, "damaged|truncated")


def test_corrupt_zstd(raw_package: RawPackage) -> None:
    refuse(raw_package.write(packed=b"this is no zstd frame"), "the package is damaged")


def test_encrypted_entry(raw_package: RawPackage) -> None:
    path = raw_package.write([entry("lib/a")])
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = content.find(signature)
        while position >= 0:
            (flags,) = struct.unpack_from("<H", content, position + offset)
            struct.pack_into("<H", content, position + offset, flags | 1)
            position = content.find(signature, position + 4)
    path.write_bytes(content)
    refuse(path, "damaged")


def test_what_is_no_package(tmp_path: Path) -> None:
    with pytest.raises(ChannelError, match="there is no such package"):
        list(read_members(tmp_path / "a-1-0.conda", LIMITS))
    (tmp_path / "a-1-0.zip").touch()
    with pytest.raises(ChannelError, match="not a conda package"):
        list(read_members(tmp_path / "a-1-0.zip", LIMITS))


def test_unknown_format_version(raw_package: RawPackage) -> None:
    path = raw_package.write()
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content.replace(b'version": 2', b'version": 3'))
    refuse(path, "format version 3")


def test_contents(kit: Kit) -> None:
    assert read_contents(kit.package({"x/a.txt": "hello"}), LIMITS)["x/a.txt"] == b"hello"


def test_sparse_file(raw_package: RawPackage) -> None:
    """A thousand gigabytes of holes in one block: nothing of them is in the stream, so nothing would count them."""
    header = bytearray(entry("x/holes", tarfile.GNUTYPE_SPARSE)[0].tobuf(tarfile.GNU_FORMAT))
    size = b"%011o\0" % (1 << 32)
    header[386:410] = size + b"%011o\0" % 0
    header[483:495] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    path = raw_package.write(packed=zstandard.ZstdCompressor().compress(bytes(header) + bytes(1024)))
    refuse(path, "`x/holes` is a sparse file")


@pytest.mark.parametrize("text", ["[2]", "null", "{", '"2"'])
def test_format_that_is_none(raw_package: RawPackage, text: str) -> None:
    path = raw_package.write()
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, "metadata.json": text.encode()}.items():
            archive.writestr(name, content)
    refuse(path, "format version None|damaged")


def test_directory_that_points_out_of_the_file(raw_package: RawPackage) -> None:
    path = raw_package.write()
    content = bytearray(path.read_bytes())
    struct.pack_into("<I", content, content.rfind(b"PK\x05\x06") + 16, 0xFFFFFFF0)
    path.write_bytes(content)
    refuse(path, "refers to a place outside of the file")
