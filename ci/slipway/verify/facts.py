"""Facts about a package file: what it says, what it holds. Reads, never judges."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.errors import IntegrityError
from slipway.verify.elf import ElfFacts, read_elf

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BUILD_PATH = re.compile(rb"(?:/[\w.+-]+)+/bld/rattler-build_[\w.+-]+/(?:work|build_env|host_env)[\w./+-]*")
"""Where rattler-build builds: what no installed file may mention."""

PLACEHOLDER = b"_placehold_placehold"
"""Part of every prefix that a package is built in."""


@dataclass(frozen=True)
class FileFacts:
    """One file of a package: what paths.json promises and what is there."""

    path: str
    promised_sha256: str | None
    actual_sha256: str | None
    prefix_mode: str | None
    leaked_path: str | None
    elf: ElfFacts | None


@dataclass(frozen=True)
class PackageFacts:
    """A package file, opened.

    Attributes:
        unlisted: files of the archive that paths.json does not name.
        licence_files: names below ``info/licenses``.
    """

    name: str
    index: Mapping[str, Any]
    about: Mapping[str, Any]
    files: tuple[FileFacts, ...]
    unlisted: tuple[str, ...]
    licence_files: tuple[str, ...]


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The package at `path`, unpacked in a scratch folder.

    Raises:
        IntegrityError: it is not a readable package.
    """
    from rattler import package_streaming

    with tempfile.TemporaryDirectory(prefix="slipway-verify-") as folder:
        try:
            package_streaming.extract(path, Path(folder))
        except Exception as error:
            # py-rattler wraps whatever went wrong; only a real system error, such as a full disk, has a number.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise IntegrityError(f"the package is damaged: {error}", where=str(path)) from error
        yield Path(folder)


def read_package(path: Path) -> PackageFacts:
    """Every fact the judgement needs, from one package file."""
    with opened(path) as folder:
        index = _json(folder / "info/index.json")
        listed = _json(folder / "info/paths.json").get("paths", [])
        present = {os.path.relpath(f"{base}/{name}", folder) for base, _, names in os.walk(folder) for name in names}
        content = {name for name in present if not name.startswith("info/")}
        licences = sorted(name.removeprefix("info/licenses/") for name in present if name.startswith("info/licenses/"))
        return PackageFacts(
            name=path.name,
            index=index,
            about=_json(folder / "info/about.json"),
            files=tuple(_file_facts(folder, entry) for entry in listed),
            unlisted=tuple(sorted(content.difference(entry["_path"] for entry in listed))),
            licence_files=tuple(licences),
        )


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _file_facts(folder: Path, entry: Mapping[str, Any]) -> FileFacts:
    path = folder / entry["_path"]
    actual: str | None = None
    leak: str | None = None
    elf: ElfFacts | None = None
    if path.is_symlink():
        actual = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else entry.get("sha256")
    elif path.is_file():
        content = path.read_bytes()
        actual = hashlib.sha256(content).hexdigest()
        leak = _leak(content, declared=entry.get("prefix_placeholder"))
        elf = read_elf(path) if content.startswith(b"\x7fELF") else None
    return FileFacts(
        path=str(entry["_path"]),
        promised_sha256=entry.get("sha256"),
        actual_sha256=actual,
        prefix_mode=entry.get("file_mode") if entry.get("prefix_placeholder") else None,
        leaked_path=leak,
        elf=elf,
    )


def _leak(content: bytes, *, declared: str | None) -> str | None:
    """The first build path in `content` that installation will not replace."""
    if declared:
        content = content.replace(declared.encode(), b"")
    found = BUILD_PATH.search(content)
    if found:
        return found.group(0).decode(errors="replace")
    if PLACEHOLDER in content:
        return PLACEHOLDER.decode()
    return None


def list_libraries(path: Path) -> frozenset[str]:
    """File names of the shared libraries that the package at `path` installs, from its paths.json alone."""
    from rattler.package_streaming import PackageArchive

    async def read() -> bytes | None:
        return await (await PackageArchive.from_path(path)).read_file("info/paths.json")

    listed = json.loads(asyncio.run(read()) or b"{}").get("paths", [])
    names = (str(entry["_path"]).rpartition("/")[2] for entry in listed)
    return frozenset(name for name in names if ".so" in name)
