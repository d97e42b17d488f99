"""Libraries that give the same program when it is linked have the same interface, and others have another one."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import pytest
from elftools.elf.elffile import ELFFile

from slipway.verify.linking import linked_interface

if TYPE_CHECKING:
    from conftest import Kit

SOURCE = """\
extern int other(int);
int number = 3;
const char name[] = "a name";
__thread int own;
int good(void) { return number; }
int better(int x) { return other(x) + 1; }
__attribute__((weak)) int perhaps(void) { return 2; }
"""
VERSIONS = "ONE { global: *; };"


def interface(kit: Kit, source: str = SOURCE, *flags: str, versions: str = VERSIONS, name: str = "libgood.so.1") -> str:
    """Of the library that is made of this source."""
    found = linked_interface(kit.library(source, *flags, versions=versions, name=name))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return number;", "return number * number + 12345;"),
        ("other(x) + 1", "other(other(x + 7) * 99) / (x + 3)"),
        ("int number = 3", "int number = 4"),
        ("a name", "b name"),
        ("int good(", "static int hidden(int x) { return x / 3; }\nint (*volatile call)(int) = hidden;\nint good("),
    ],
)
def test_code_and_values_are_no_interface(kit: Kit, before: str, after: str) -> None:
    assert before in SOURCE
    # What is only seen inside is kept out of the table by a version script.
    script = "ONE { global: good; better; perhaps; number; name; own; local: *; };"
    assert interface(kit, versions=script) == interface(kit, SOURCE.replace(before, after), versions=script)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int good(void)", "int well(void)"),
        ("int good(void)", "int more(void) { return 1; }\nint good(void)"),
        ('"a name"', '"a longer name"'),
        ("const char name", "char name"),
        ("int number", "_Alignas(64) int number"),
        ("__thread int own", "int own"),
        ("__attribute__((weak)) ", ""),
        ("int good(", '__attribute__((visibility("protected"))) int good('),
        ("other(x)", "another(x)"),
        ("extern int other(int)", "extern int another(int)"),
        ("int good(void)", 'extern int alias __attribute__((alias("number")));\nint good(void)'),
    ],
)
def test_symbols_are(kit: Kit, before: str, after: str) -> None:
    assert before in SOURCE
    changed = SOURCE.replace(before, after)
    if before.startswith("extern"):
        changed = changed.replace("other(x)", "another(x)")
    assert interface(kit) != interface(kit, changed)


def test_names_versions_and_needs_are(kit: Kit) -> None:
    seen = [
        interface(kit),
        interface(kit, name="libgood.so.2"),
        interface(kit, versions="TWO { global: *; };"),
        interface(kit, versions=""),
        interface(kit, SOURCE, "-Wl,--no-as-needed", "-lm"),
        interface(kit, SOURCE, "-Wl,-rpath,$ORIGIN"),
        interface(kit, SOURCE, "-Wl,-Bsymbolic"),
    ]
    assert len(set(seen)) == len(seen)
    assert interface(kit, SOURCE, "-g", "-Wl,--build-id=0x1234") == seen[0], "nor are build ids and what debuggers read"


def without_name(library: bytes) -> bytes:
    """The same without a SONAME: its tag becomes DT_DEBUG."""
    section = ELFFile(io.BytesIO(library)).get_section_by_name(".dynamic")
    start, content = section["sh_offset"], bytearray(library)
    for offset in range(start, start + section["sh_size"], 16):
        if struct.unpack_from("<q", content, offset) == (14,):
            struct.pack_into("<q", content, offset, 21)
    return bytes(content)


def test_what_is_not_linked_or_not_readable_has_none(kit: Kit) -> None:
    library = kit.library(SOURCE)
    assert linked_interface(library)
    assert linked_interface(without_name(library)) is None, "a module, which programs load and run"
    assert linked_interface(kit.library("int main(void) { return 0; }", "-no-pie", "-pie")) is None, "a program"
    assert linked_interface(b"INPUT(-lgood)\n") is None
    assert linked_interface(b"") is None
    for size in (4, 63, 64, 200, len(library) // 2, len(library) - 1):
        assert linked_interface(library[:size]) is None
