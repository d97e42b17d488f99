"""What `slipway bootstrap add` shares: descriptions are written, and what was added is looked at in an environment."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import yaml
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from slipway.base.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GLIBC: Final = re.compile(
    r"(ld-linux-x86-64|lib(c|m|dl|pthread|rt|resolv|util|anl|mvec|nsl|thread_db|BrokenLocale))\.so\.\d+"
)
"""Libraries of the sysroot, which every machine has."""


@dataclass(frozen=True)
class Added:
    """A package that was described: its name, and the file."""

    name: str
    path: Path


class _Indented(yaml.SafeDumper):
    """Writes lists as the descriptions have them: indented below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """See `yaml.emitter.Emitter`."""
        super().increase_indent(flow, False)


def write_description(path: Path, described: Mapping[str, Any]) -> None:
    """Write a description into its file, keys in their given order."""
    text = yaml.dump(dict(described), Dumper=_Indented, sort_keys=False, width=110, allow_unicode=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text)


def missing_libraries(prefix: Path, name: str) -> list[str]:
    """What programs and libraries of an installed package need and do not find in their environment.

    Each is a line of text; none where the package is whole.
    """
    (record,) = (prefix / "conda-meta").glob(f"{name}-[0-9]*.json")
    missing = []
    for file in json.loads(record.read_text(encoding="utf-8"))["files"]:
        path = prefix / file
        if not path.exists():
            missing.append(f"{file} is not there" if not path.is_symlink() else f"{file} leads nowhere")
        elif path.is_file() and not path.is_symlink():
            missing += [f"{file} does not find {library}" for library in _not_found(path)]
    return missing


def _not_found(path: Path) -> Iterator[str]:
    with path.open("rb") as stream:
        needs = read_needs(stream)
    folders = [Path(part.replace("$ORIGIN", str(path.parent))) for part in needs.run_paths]
    if path.parent.name.endswith(".libs"):
        folders.append(path.parent)  # what a wheel brings along: the module that asks for one has loaded the others
    if module := re.search(r"^.*/lib(?=/python3\.\d+/)", str(path)):
        folders.append(Path(module[0]))  # Python looks there for whatever a module of its own needs
    for library in needs.libraries:
        if not GLIBC.fullmatch(library) and not any((folder / library).exists() for folder in folders):
            yield library


@dataclass(frozen=True)
class ElfNeeds:
    """Which libraries a program or library needs, and where it looks for them; nothing for other files."""

    libraries: tuple[str, ...] = ()
    run_paths: tuple[str, ...] = ()


def read_needs(stream: BinaryIO) -> ElfNeeds:
    """What an ELF file says that it needs."""
    if stream.read(4) != b"\x7fELF":
        return ElfNeeds()
    try:
        dynamic: Any = ELFFile(stream).get_section_by_name(".dynamic")
    except ELFError:
        return ElfNeeds()  # for another machine, or an example of a damaged one
    tags: list[Any] = list(dynamic.iter_tags()) if dynamic is not None else []
    run_paths = [tag.rpath if tag.entry.d_tag == "DT_RPATH" else tag.runpath
                 for tag in tags if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH")]  # fmt: skip
    return ElfNeeds(
        tuple(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED"),
        tuple(part for one in run_paths for part in one.split(":") if part),
    )
