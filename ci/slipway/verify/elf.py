"""Facts about an ELF file: what it needs and from which version on, where it looks, what it is called and exports."""

from __future__ import annotations

import io
import itertools
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection

from slipway.verify.fatbin import DeviceCode, add_up, read_device_code

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"\x7fELF"

FATBIN_SECTIONS = (".nv_fatbin",)
"""Where nvcc puts device code that can run; what __nv_relfatbin holds was for its linker alone."""

_KINDS = {1: "object", 2: "function", 6: "thread-local", 10: "indirect function"}
"""Symbols' types that are an interface: STT_OBJECT, STT_FUNC, STT_TLS, STT_GNU_IFUNC."""

_UNDEFINED, _LOCAL, _VISIBLE = 0, 0, (0, 3)
"""SHN_UNDEF, STB_LOCAL, and the visibilities STV_DEFAULT and STV_PROTECTED."""

_MOST_VERSIONS = 10_000
"""Hostile tables of versions lead in circles; no library needs as many."""

_NAME_BYTES_PER_TABLE_BYTE = 16
"""Names may share their ends in the table, but not so much that a small table becomes gigabytes."""


@dataclass(frozen=True)
class Symbol:
    """An exported symbol, by its mangled name; `size` in bytes is part of the contract for objects only."""

    kind: str
    size: int


@dataclass(frozen=True)
class ElfFacts:
    """What the headers and the dynamic section of a library or program say.

    Attributes:
        dynamic: false for static programs and object files.
        versions: library -> version names that are needed from it (``libc.so.6`` -> ``GLIBC_2.34``, ...).
        exports: name -> symbol.
        device_code: CUDA code for GPUs, by architecture.
    """

    machine: str
    dynamic: bool
    needed: tuple[str, ...]
    soname: str | None
    run_paths: tuple[str, ...]
    versions: dict[str, tuple[str, ...]]
    exports: dict[str, Symbol]
    device_code: tuple[DeviceCode, ...]


class BrokenElfError(Exception):
    """A file begins like ELF and cannot be read to the end."""


def read_elf(content: bytes) -> ElfFacts:
    """The facts of one file.

    Raises:
        BrokenElfError: it is no ELF file, or a damaged one.
    """
    try:
        return _read(ELFFile(io.BytesIO(content)))
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        # Over damaged files pyelftools raises whatever comes first: its own errors, construct's, struct's, KeyError...
        raise BrokenElfError(str(error) or type(error).__name__) from error


def _read(elf: ELFFile) -> ElfFacts:
    dynamic: DynamicSection | None = None
    versions: dict[str, tuple[str, ...]] = {}
    exports: dict[str, Symbol] = {}
    code: list[DeviceCode] = []
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            dynamic = section
        elif isinstance(section, GNUVerNeedSection):
            for need, names in itertools.islice(section.iter_versions(), _MOST_VERSIONS):
                versions[str(need.name)] = tuple(name.name for name in itertools.islice(names, _MOST_VERSIONS))
        elif isinstance(section, SymbolTableSection) and section.name == ".dynsym":
            exports = dict(_exports(elf, section))
        elif section.name in FATBIN_SECTIONS:
            code.extend(read_device_code(section.data()))
    # pyelftools gives each tag an attribute named after its kind, which its type does not say.
    tags: list[Any] = list(dynamic.iter_tags()) if dynamic is not None else []
    run_paths = [
        part
        for tag in tags
        if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")
        for part in (tag.rpath if tag.entry.d_tag == "DT_RPATH" else tag.runpath).split(":")
    ]
    return ElfFacts(
        machine=str(elf.header.e_machine),
        dynamic=dynamic is not None,
        needed=tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        soname=next((tag.soname for tag in tags if tag.entry.d_tag == "DT_SONAME"), None),
        run_paths=tuple(part for part in run_paths if part),
        versions=versions,
        exports=exports,
        device_code=add_up(code),
    )


def _exports(elf: ELFFile, section: SymbolTableSection) -> Iterator[tuple[str, Symbol]]:
    """The public symbols, read by hand: pyelftools takes a minute for what a large library exports."""
    order = "<" if elf.little_endian else ">"
    # name, info, other, section, value, size; the two classes order them differently
    layout = struct.Struct(f"{order}IBBHQQ" if elf.elfclass == 64 else f"{order}IIIBBH")
    content = section.data()
    names = elf.get_section(section["sh_link"]).data()
    room = _NAME_BYTES_PER_TABLE_BYTE * len(names)
    for fields in layout.iter_unpack(content[: len(content) // layout.size * layout.size]):
        if elf.elfclass == 64:
            place, info, other, index, _, size = fields
        else:
            place, _, size, info, other, index = fields
        kind = _KINDS.get(info & 0xF)
        if kind is None or index == _UNDEFINED or info >> 4 == _LOCAL or other & 3 not in _VISIBLE:
            continue
        end = names.find(b"\0", place)
        room -= end - place
        if not 0 <= place < end or room < 0:
            raise BrokenElfError("the names of its symbols are no table of names")
        yield names[place:end].decode("utf-8", "backslashreplace"), Symbol(kind, 0 if "function" in kind else size)
