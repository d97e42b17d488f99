"""How large the files of a package are, and how much of each library is code for which GPU.

A package is read once; what was found stays in a JSON file beside the logs, under the package's hash.
"""

from __future__ import annotations

import json
from collections.abc import Mapping  # noqa: TC003 - what was kept is converted to these types
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from slipway.base.files import write_file
from slipway.base.json_file import read_json
from slipway.base.schema import convert
from slipway.channel.archive import Kind, read_members
from slipway.verify import elf

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1


@dataclass(frozen=True)
class FileSize:
    """A file of a package: bytes as installed, and of these the code for each GPU (``sm_90`` -> bytes)."""

    path: str
    size: int
    device_code: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PackageContents:
    """A package file: its name, its own bytes, and what it installs."""

    name: str
    sha256: str
    packed: int
    files: tuple[FileSize, ...]

    @property
    def installed(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def device_code(self) -> dict[str, int]:
        """Bytes for each GPU in all files, smallest architecture first."""
        total: dict[str, int] = {}
        for file in self.files:
            for name, size in file.device_code.items():
                total[name] = total.get(name, 0) + size
        return dict(sorted(total.items()))


def read_contents(path: Path) -> tuple[FileSize, ...]:
    """The files that the package at `path` installs; nothing is unpacked to disk.

    Raises:
        IntegrityError: it is not a readable package.
    """
    return tuple(
        FileSize(member.path, len(member.content), _device_code(member.content))
        for member in read_members(path)
        if member.kind is Kind.FILE and not member.path.startswith("info/")
    )


def _device_code(content: bytes) -> dict[str, int]:
    sizes: dict[str, int] = {}
    if content.startswith(b"\x7fELF"):
        with suppress(elf.BrokenElfError):  # what is wrong with it, `verify` says; here it is a file like others
            for code in elf.read_elf(content).device_code:
                sizes[str(code)] = sizes.get(str(code), 0) + code.size
    return dict(sorted(sizes.items()))


def kept_contents(name: str, sha256: str, logs: Path) -> PackageContents | None:
    """What the folder `logs` keeps of a package's contents: of one that another machine built, only that came here."""
    given = read_json(_place(logs, name))
    if not isinstance(given, dict) or given.pop("format", None) != FORMAT or given.get("sha256") != sha256:
        return None
    return convert(given, PackageContents)


def contents_of(path: Path, sha256: str, logs: Path) -> PackageContents:
    """The contents of a package, from what is kept in the folder `logs` or from the package itself.

    Raises:
        IntegrityError: it is not a readable package.
        OSError: it cannot be read, or what was found cannot be kept.
    """
    known = kept_contents(path.name, sha256, logs)
    if known is not None:
        return known
    contents = PackageContents(path.name, sha256, path.stat().st_size, read_contents(path))
    write_file(_place(logs, path.name), json.dumps({"format": FORMAT, **asdict(contents)}))
    return contents


def _place(logs: Path, name: str) -> Path:
    return logs / f"{name}.contents.json"
