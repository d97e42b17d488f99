"""Facts are read as they are, and nonsense is told from them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.errors import IntegrityError
from slipway.verify.demangle import demangled
from slipway.verify.elf import BrokenElfError, Symbol, read_elf
from slipway.verify.facts import list_libraries, read_inventory
from slipway.verify.fatbin import DeviceCode, read_device_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Kit, RawPackage


def test_facts_of_a_package(kit: Kit) -> None:
    placeholder = "/prefix" + "_placehold" * 8
    path = kit.package(
        {"lib/liba.so": kit.library(), "lib/liba.so.1": Path("liba.so"), "etc/a": f"{placeholder}/etc"},
        depends=["zlib >=1.2", "__glibc >=2.17"],
        info={"run_exports.json": b'{"weak": ["good >=1.0"]}'},
    )
    facts = kit.facts(path)
    assert facts.package == "good"
    assert facts.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert facts.size == path.stat().st_size
    assert facts.dependency_names == {"zlib", "__glibc"}
    assert facts.licence_files == ("LICENSE",)
    assert facts.run_exports == {"weak": ["good >=1.0"]}
    by_path = {entry.path: entry for entry in facts.files}
    assert by_path["etc/a"].prefix_mode == "text"
    assert by_path["lib/liba.so.1"].target == "liba.so"
    assert by_path["lib/liba.so"].elf is not None
    assert all(entry.present for entry in facts.files)
    assert list_libraries(path) == {"liba.so", "liba.so.1"}
    assert read_inventory(path).exported == {"good"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("info/about.json", b"{", "no valid JSON"),
        ("info/about.json", b"[]", "an object was expected"),
        ("info/about.json", b"[" * 100_000, "no valid JSON"),
        ("info/about.json", b"\xff\xfe\xfd", "no valid JSON"),
    ],
)
def test_nonsense_in_the_metadata(raw_package: RawPackage, kit: Kit, name: str, content: bytes, message: str) -> None:
    path = raw_package.write(info=[(tarfile.TarInfo(name), content)])
    with pytest.raises(IntegrityError, match=message) as raised:
        kit.facts(path)
    assert name in (raised.value.where or "")


@pytest.mark.parametrize("paths", [{"paths": 1}, {"paths": [1]}, {"paths": [{"path": "a"}]}, {}])
def test_nonsense_in_the_list_of_paths(kit: Kit, paths: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from slipway.bootstrap import writer

    original = writer._add_info
    monkeypatch.setattr(
        writer, "_add_info", lambda tar, data: original(tar, {**data, "paths.json": json.dumps(paths).encode()})
    )
    with pytest.raises(IntegrityError, match="not a list of paths"):
        kit.facts(kit.package({"a": "a"}))


def test_damaged_neighbour(tmp_path: Path) -> None:
    path = tmp_path / "a-1-0.conda"
    path.write_bytes(b"PK\x03\x04 but not really")
    with pytest.raises(IntegrityError, match="damaged"):
        list_libraries(path)


def test_elf(kit: Kit) -> None:
    facts = read_elf(kit.user_of("libz.so.1", version="Z_1.2", run_path="$ORIGIN/../lib"))
    assert facts.dynamic
    assert facts.soname == "libgood.so"
    assert "libz.so.1" in facts.needed
    assert facts.run_paths == ("$ORIGIN/../lib",)
    assert facts.versions["libz.so.1"] == ("Z_1.2",)
    assert facts.exports["good"].kind == "function"
    assert facts.device_code == ()


def test_exports(kit: Kit) -> None:
    source = """
    int table[3]; __thread int own; static int hidden_one(void) { return 1; }
    __attribute__((visibility("hidden"))) int hidden(void) { return hidden_one(); }
    __attribute__((weak)) int weak(void) { return hidden(); }
    """
    exports = read_elf(kit.library(source)).exports
    assert exports == {
        "table": Symbol("object", 12),
        "own": Symbol("thread-local", 4),
        "weak": Symbol("function", 0),
    }


@pytest.mark.parametrize("kept", [5, 20, 64, 300, 4000])
def test_broken_elf(kit: Kit, kept: int) -> None:
    with pytest.raises(BrokenElfError):
        read_elf(kit.library()[:kept])


def test_any_flipped_byte_of_an_elf_header_is_survived(kit: Kit) -> None:
    """Whatever the headers say, the answer is facts or one error."""
    content = kit.library()
    for offset in range(4, 64):
        damaged = bytearray(content)
        damaged[offset] ^= 0xFF
        with contextlib.suppress(BrokenElfError):
            assert read_elf(bytes(damaged)).machine


def test_device_code(fat_binary: Callable[..., bytes]) -> None:
    section = fat_binary("sm_80", "compute_90") + bytes(16) + fat_binary("sm_120")
    assert read_device_code(section) == [DeviceCode("sm", 80), DeviceCode("compute", 90), DeviceCode("sm", 120)]
    assert str(DeviceCode("sm", 80)) == "sm_80"
    assert read_device_code(b"") == []


@pytest.mark.parametrize("cut", [20, 50, 95])
def test_truncated_device_code(fat_binary: Callable[..., bytes], cut: int) -> None:
    with pytest.raises(ValueError, match="truncated"):
        read_device_code(fat_binary("sm_80", "sm_90")[:cut])


def test_device_code_that_is_none() -> None:
    with pytest.raises(ValueError, match="no fat binary at offset 0"):
        read_device_code(b"some other section of 32 bytes..")


def test_demangled() -> None:
    assert demangled("plain") == "plain"
    assert demangled("_Znonsense") == "_Znonsense"
    assert demangled("_ZN2at3addEii") in ("at::add(int, int)", "_ZN2at3addEii")
