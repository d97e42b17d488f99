"""Sizes of files, and of GPU code inside libraries."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError
from slipway.report.contents import FileSize, contents_of, read_contents
from slipway.verify.fatbin import read_device_code

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import MakePackage


def container(*entries: tuple[int, int, int]) -> bytes:
    """A fat binary of entries (kind, architecture, bytes of code), as nvcc lays it out."""
    body = b"".join(
        struct.pack("<HHIQIIHHI", kind, 0, 64, size, 0, 0, 0, 0, architecture).ljust(64, b"\0") + b"c" * size
        for kind, architecture, size in entries
    )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_sizes_by_architecture() -> None:
    section = container((2, 80, 1000), (2, 90, 400)) + container((1, 90, 304), (2, 80, 8))
    assert [(str(code), code.size) for code in read_device_code(section)] == [
        ("sm_80", 1064),
        ("sm_90", 464),
        ("compute_90", 368),
        ("sm_80", 72),
    ]


def library(section: bytes) -> bytes:
    """An ELF file (64 bits, little-endian) of nothing but a section named .nv_fatbin and the names of sections."""
    names = b"\0.nv_fatbin\0.shstrtab\0"
    head = 64 + len(section) + len(names)
    table = [
        struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        struct.pack("<IIQQQQIIQQ", 1, 1, 2, 0, 64, len(section), 0, 0, 8, 0),
        struct.pack("<IIQQQQIIQQ", 12, 3, 0, 0, 64 + len(section), len(names), 0, 0, 1, 0),
    ]
    start = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, head, 0, 64, 0, 0, 64, 3, 2)
    return start + section + names + b"".join(table)


def test_a_package_with_device_code(make_package: MakePackage, tmp_path: Path) -> None:
    content = library(container((2, 80, 2000), (1, 90, 800)) + container((2, 80, 8)))
    path = make_package("linux-64/a-1-0.conda", {"lib/liba.so": content, "lib/libb.so": b"\x7fELF no", "x": b""})
    code = {"compute_90": 864, "sm_80": 2064 + 72}
    assert read_contents(path) == (
        FileSize("lib/liba.so", len(content), code),
        FileSize("lib/libb.so", 7, {}),
        FileSize("x", 0, {}),
    )
    contents = contents_of(path, "aa", tmp_path)
    assert contents.device_code == code
    assert contents.packed == path.stat().st_size


def test_what_was_read_is_kept_until_the_package_changes(make_package: MakePackage, tmp_path: Path) -> None:
    path = make_package("linux-64/a-1-0.conda", {"x": b"12345"})
    first = contents_of(path, "aa", tmp_path)
    path.write_bytes(b"nothing")
    assert contents_of(path, "aa", tmp_path) == first
    with pytest.raises(IntegrityError, match="the package is damaged"):
        contents_of(path, "bb", tmp_path)


@pytest.mark.parametrize("keep", [0, 30, 0.5, 0.9])
def test_truncated_packages(make_package: MakePackage, keep: float) -> None:
    path = make_package("linux-64/a-1-0.conda", {"x": bytes(range(256)) * 99})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep if keep >= 1 else keep * len(whole))])
    with pytest.raises(IntegrityError):
        read_contents(path)
