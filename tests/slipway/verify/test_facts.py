"""Facts are read as they are, and nonsense is told from them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import struct
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elftools.elf.elffile import ELFFile

from slipway.base.errors import IntegrityError
from slipway.verify.demangle import demangled
from slipway.verify.elf import BrokenElfError, Symbol, read_elf
from slipway.verify.facts import check_index_document, read_inventory
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
    assert read_inventory(path).libraries == {"liba.so", "liba.so.1"}
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
    from slipway.channel import package_writer as writer

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
        read_inventory(path)


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


GOOD_INDEX = {"name": "a", "version": "1", "build": "0", "build_number": 0, "depends": [], "subdir": "linux-64"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": None}, "`name` is null"),
        ({"name": "../../evil"}, "no package's name"),
        ({"name": "a\n\x1b[31m"}, "no package's name"),
        ({"version": "1 2"}, "no version"),
        ({"version": ["1"]}, "no version"),
        ({"version": "..", "build": "0"}, "no version"),
        ({"build": "../0"}, "no build string"),
        ({"build_number": "0"}, "no number"),
        ({"build_number": True}, "no number"),
        ({"subdir": "../../etc"}, "no platform"),
        ({"noarch": 5}, "`noarch` is 5"),
        ({"depends": "python"}, "`depends` is no list of match specs"),
        ({"depends": [["python"]]}, "`depends` is no list of match specs"),
        ({"depends": ["((((" + "x" * 1000]}, "which is no match spec"),
        ({"constrains": {"a": 1}}, "`constrains` is no list"),
    ],
)
def test_nonsense_in_the_index(changes: dict[str, object], message: str) -> None:
    with pytest.raises(IntegrityError, match=message) as raised:
        check_index_document({**GOOD_INDEX, **changes}, Path("a-1-0.conda"))
    assert len(raised.value.message) < 200


def test_file_of_another_name(kit: Kit) -> None:
    path = kit.package({"a": "a"})
    other = path.rename(path.with_name("bad-1.0-h0123456_0.conda"))
    with pytest.raises(IntegrityError, match=r"by its index.json it is good-1.0-h0123456_0.conda"):
        kit.facts(other)


@pytest.mark.parametrize("content", [b'{"weak": {"a": 1}}', b'{"strong": [5]}', b'{"noarch": "a"}'])
def test_nonsense_in_the_run_exports(raw_package: RawPackage, kit: Kit, content: bytes) -> None:
    path = raw_package.write(info=[(tarfile.TarInfo("info/run_exports.json"), content)])
    with pytest.raises(IntegrityError, match="is no list of match specs"):
        kit.facts(path)


def test_path_named_twice(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    from slipway.channel import package_writer as writer

    paths = json.dumps({"paths": [{"_path": "a"}, {"_path": "a"}]}).encode()
    original = writer._add_info
    monkeypatch.setattr(writer, "_add_info", lambda tar, data: original(tar, {**data, "paths.json": paths}))
    with pytest.raises(IntegrityError, match="names a path twice"):
        kit.facts(kit.package({"a": "a"}))


def test_symbols_whose_names_would_fill_the_memory(kit: Kit) -> None:
    """Each of thousands of symbols is called what the whole table of names says."""
    source = "\n".join(f"int symbol_with_some_length_{number}(void) {{ return 1; }}" for number in range(300))
    content = bytearray(kit.library(source))
    elf = ELFFile(io.BytesIO(bytes(content)))
    symbols = elf.get_section_by_name(".dynsym")
    names = elf.get_section(symbols["sh_link"])
    begin, size = names["sh_offset"], names["sh_size"]
    content[begin : begin + size - 1] = b"x" * (size - 1)
    for number in range(symbols.num_symbols()):
        struct.pack_into("<I", content, symbols["sh_offset"] + number * symbols["sh_entsize"], 0)
    with pytest.raises(BrokenElfError, match="no table of names"):
        read_elf(bytes(content))
