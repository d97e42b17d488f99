"""What a linker reads of a shared library: its names, what it needs, its symbols. Code and data are none of that."""

from __future__ import annotations

import hashlib
import io
import struct
from typing import TYPE_CHECKING, Any

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection

from slipway.verify.elf import MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXTS = {"DT_NEEDED": "needed", "DT_SONAME": "soname", "DT_RPATH": "rpath", "DT_RUNPATH": "runpath"}
"""Tags whose value is a text, and what pyelftools calls that."""

_NUMBERS = ("DT_FLAGS", "DT_FLAGS_1", "DT_SYMBOLIC", "DT_TEXTREL")

_MEANING_CONTENT = (".gnu.lto_", ".gnu.warning", ".llvm.lto", ".note.gnu.property", ".gnu.version_d")
"""Sections, or the beginnings of their names, that linkers read the content of."""

_OBJECT_KINDS = (1, 6)
"""STT_OBJECT and STT_TLS: programs copy an object to a place of their own, by its size and alignment."""

_UNDEFINED, _ABSOLUTE, _RESERVED = 0, 0xFFF1, 0xFF00
"""SHN_UNDEF, SHN_ABS, SHN_LORESERVE."""


def linked_interface(content: bytes) -> str | None:
    """A sha256 over what linking against this library can depend on, or None where it is no shared library.

    Two libraries with the same one give the same program. It is all of the dynamic section that is a text or a flag,
    and every dynamic symbol in its order, undefined ones too: name, version, type, binding and visibility, of objects
    also the size, the alignment and which of them are one. Where symbols lie is left out, and so is what lies there.

    A file that cannot be read, or is of another kind (a module without a SONAME, a program, 32 bits), is None.
    """
    if not content.startswith(MAGIC):
        return None
    try:
        facts = list(_read(ELFFile(io.BytesIO(content))))
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception:  # see `slipway.verify.elf.read_elf`
        return None
    return hashlib.sha256(repr(facts).encode()).hexdigest() if facts else None


def _read(elf: ELFFile) -> Iterator[object]:
    dynamic = elf.get_section_by_name(".dynamic")
    symbols = elf.get_section_by_name(".dynsym")
    if elf.header.e_type != "ET_DYN" or elf.elfclass != 64:
        return
    if symbols is None or not isinstance(dynamic, DynamicSection):
        return
    tags: list[Any] = list(dynamic.iter_tags())
    if any(segment.header.p_type == "PT_INTERP" for segment in elf.iter_segments()):
        return
    if not any(tag.entry.d_tag == "DT_SONAME" and tag.soname for tag in tags):
        return
    header = elf.header
    yield [header.e_machine, header.e_flags, header.e_ident["EI_OSABI"], elf.little_endian]
    yield [
        (tag.entry.d_tag, getattr(tag, _TEXTS[tag.entry.d_tag]) if tag.entry.d_tag in _TEXTS else tag.entry.d_val)
        for tag in tags
        if tag.entry.d_tag in _TEXTS or tag.entry.d_tag in _NUMBERS
    ]
    versions: dict[int, str] = {}
    for section in elf.iter_sections():
        if isinstance(section, GNUVerNeedSection):
            for need, names in section.iter_versions():
                versions |= {name.entry.vna_other: f"{need.name} {name.name}" for name in names}
        elif isinstance(section, GNUVerDefSection):
            for definition, names in section.iter_versions():
                told = [definition.entry.vd_flags, *(name.name for name in names)]
                versions[definition.entry.vd_ndx] = repr(told)
        elif section.name.startswith(_MEANING_CONTENT):
            yield [section.name, section.data()]
    yield sorted(versions.items())
    yield from _symbols(elf, symbols, versions)


def _symbols(elf: ELFFile, section: Any, versions: dict[int, str]) -> Iterator[object]:
    """What each dynamic symbol is to a linker."""
    order = "<" if elf.little_endian else ">"
    content, names = section.data(), elf.get_section(section["sh_link"]).data()
    numbers = elf.get_section_by_name(".gnu.version")
    indexes = [0] * (len(content) // 24) if numbers is None else [
        one for (one,) in struct.iter_unpack(f"{order}H", numbers.data())
    ]  # fmt: skip
    kept = {}  # of sections, what is asked of those that hold objects
    for number, one in enumerate(elf.iter_sections()):
        kept[number] = (one["sh_flags"], one["sh_type"], one["sh_addralign"])
    first_at: dict[int, bytes] = {}
    for (place, info, other, index, value, size), version in zip(
        struct.iter_unpack(f"{order}IBBHQQ", content), indexes, strict=True
    ):
        name = names[place : names.index(b"\0", place)]
        told: list[object] = [name, versions.get(version & 0x7FFF, ""), version >> 15, info, other]
        if index == _UNDEFINED:
            told.append("undefined")
        elif index == _ABSOLUTE:
            told.append(value)
        elif index >= _RESERVED:
            told += [index, size]
        elif info & 0xF in _OBJECT_KINDS:
            flags, kind, alignment = kept[index]
            told += [size, flags, kind, min(alignment, value & -value or alignment), first_at.setdefault(value, name)]
        yield told
