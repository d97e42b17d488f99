"""Facts about an ELF file: what it needs, where it looks, what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

if TYPE_CHECKING:
    from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ElfFacts:
    """What the dynamic section of a library or program says; `dynamic` is false for static and object files."""

    machine: str
    dynamic: bool
    needed: tuple[str, ...]
    soname: str | None
    run_paths: tuple[str, ...]


def read_elf(path: Path) -> ElfFacts | None:
    """The facts of one file; None for a file that starts like ELF and is not."""
    with path.open("rb") as stream:
        try:
            elf = ELFFile(stream)
            section = next((found for found in elf.iter_sections() if isinstance(found, DynamicSection)), None)
            # pyelftools gives each tag an attribute named after its kind, which its type does not say.
            tags: list[Any] = list(section.iter_tags()) if section is not None else []
        except ELFError:
            return None
    run_paths = [
        part
        for tag in tags
        if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")
        for part in (tag.rpath if tag.entry.d_tag == "DT_RPATH" else tag.runpath).split(":")
    ]
    return ElfFacts(
        machine=str(elf.header.e_machine),
        dynamic=section is not None,
        needed=tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        soname=next((tag.soname for tag in tags if tag.entry.d_tag == "DT_SONAME"), None),
        run_paths=tuple(part for part in run_paths if part),
    )
