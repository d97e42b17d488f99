"""Facts about a package file: what it says, what it holds. Reads, never judges.

The archive is read once, as a stream (see `slipway.channel.archive`). What counts as a trace of the build or as a
secret is told by the caller (`slipway.verify.traces`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from slipway.base.errors import IntegrityError
from slipway.channel.archive import Kind, Member, read_members
from slipway.channel.judgement import (
    INDEX,
    LINK,
    PATHS,
    check_index_document,
    check_link_document,
    check_paths_document,
    read_document,
    require_documents,
)
from slipway.channel.package import read_info_files
from slipway.verify.elf import MAGIC, BrokenElfError, ElfFacts, read_elf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from slipway.verify.traces import Trace, Tracer

_TEXT_SUFFIXES = (
    ".dist-info/METADATA",
    ".dist-info/INSTALLER",
    ".dist-info/RECORD",
    ".dist-info/WHEEL",
    ".dist-info/entry_points.txt",
    ".cmake",
)
"""Python's metadata, and CMake's: small files whose text is a fact of its own."""

_BESIDES = ("share/doc/", "share/licenses/", "share/man/", "lib/pkgconfig/", "lib/cmake/")
"""What lies beside libraries and is no use of its own."""

_SCRIPT_BYTES = 4096
"""How much of a program is kept when it is a text: the first lines of a script say who runs it and what it imports."""


@dataclass(frozen=True)
class FileFacts:
    """One file of a package: what paths.json promises and what is there.

    Attributes:
        present: False when paths.json names it and the archive does not hold it.
        promised_sha256, promised_size: None when paths.json does not say.
        actual_sha256: of the content; None for links and what is not there.
        size: in bytes.
        mode: permission bits.
        target: where a symbolic link leads, else "".
        prefix_mode: "text" or "binary" when paths.json declares a prefix in it.
        traces: what it lets slip of the build, see `slipway.verify.traces`.
        elf, broken_elf: its ELF facts, or why they cannot be read; both None for other files.
        text: content of Python's and CMake's metadata files and the beginning of scripts, else "".
    """

    path: str
    present: bool = True
    promised_sha256: str | None = None
    promised_size: int | None = None
    actual_sha256: str | None = None
    size: int = 0
    mode: int = 0o644
    target: str = ""
    prefix_mode: str | None = None
    traces: tuple[Trace, ...] = ()
    elf: ElfFacts | None = None
    broken_elf: str | None = None
    text: str = ""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class PackageFacts:
    """A package file, opened.

    Attributes:
        name: the package's file name.
        sha256, size: of the package file, in bytes.
        files: what paths.json names.
        unlisted: files of the archive that paths.json does not name.
        info: the files below ``info/``.
        licence_files: names below ``info/licenses``.
        run_exports: info/run_exports.json.
        links: info/link.json: entry points of a noarch package.
    """

    name: str
    index: Mapping[str, Any]
    about: Mapping[str, Any]
    files: tuple[FileFacts, ...]
    unlisted: tuple[str, ...] = ()
    licence_files: tuple[str, ...] = ()
    sha256: str = ""
    size: int = 0
    info: tuple[FileFacts, ...] = ()
    run_exports: Mapping[str, Any] = field(default_factory=dict)
    links: Mapping[str, Any] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """The package's name without version and build."""
        return str(self.index.get("name", ""))

    @property
    def depends(self) -> tuple[str, ...]:
        """The run dependencies, as match specs."""
        return tuple(map(str, self.index.get("depends") or ()))

    @property
    def dependency_names(self) -> frozenset[str]:
        """Names of the run dependencies."""
        return frozenset(spec.split()[0].lower() for spec in self.depends if spec.split())


def read_package(path: Path, tracer: Tracer) -> PackageFacts:
    """Every fact the judgement needs, from one package file.

    Raises:
        IntegrityError: it is damaged, hostile, or says nonsense about itself.
        ChannelError: there is no such package.
    """
    documents: dict[str, dict[str, Any]] = {}
    wanted = {f"info/{name}.json" for name in ("index", "paths", "about", "run_exports", "link")}
    info: list[FileFacts] = []
    found: dict[str, FileFacts] = {}
    placeholders: dict[str, str] = {}
    for member in read_members(path):
        if member.path.startswith("info/"):
            if member.path in wanted:
                documents[member.path] = read_document(member.content, f"{path}: {member.path}")
                if member.path == PATHS:
                    check_paths_document(documents[PATHS], path)
                    placeholders = _placeholders(documents[PATHS])
            # paths.json names the prefixes, so that they can be replaced; elsewhere in info/ nothing replaces them.
            declared = set(placeholders.values()) if member.path == PATHS else ()
            info.append(_file_facts(member, declared, tracer, found))
        else:
            declared = {placeholders[member.path]} if member.path in placeholders else ()
            found[member.path] = _file_facts(member, declared, tracer, found)
    require_documents(documents, path)
    check_index_document(documents[INDEX], path)
    check_link_document(documents.get(LINK, {}), path)
    if "info/run_exports.json" in documents:
        _check_run_exports(documents["info/run_exports.json"], f"{path}: info/run_exports.json")
    promises = {str(entry["_path"]): entry for entry in documents["info/paths.json"].get("paths", ())}
    content = path.read_bytes()
    licences = sorted(entry.path.removeprefix("info/licenses/") for entry in info if "/licenses/" in entry.path)
    return PackageFacts(
        name=path.name,
        index=documents["info/index.json"],
        about=documents.get("info/about.json", {}),
        files=tuple(_with_promise(name, entry, found.get(name)) for name, entry in promises.items()),
        unlisted=tuple(sorted(found.keys() - promises.keys())),
        licence_files=tuple(licences),
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        info=tuple(info),
        run_exports=documents.get("info/run_exports.json", {}),
        links=documents.get("info/link.json", {}),
    )


def _check_run_exports(document: Mapping[str, Any], where: str) -> None:
    for key, specs in document.items():
        if not isinstance(specs, list) or not all(isinstance(spec, str) for spec in specs):
            raise IntegrityError(f"the package is damaged: `{key[:50]}` is no list of match specs", where=where)


def _placeholders(paths: Mapping[str, Any]) -> dict[str, str]:
    return {entry["_path"]: entry["prefix_placeholder"] for entry in paths["paths"] if entry.get("prefix_placeholder")}


def _file_facts(
    member: Member, placeholders: Iterable[str], tracer: Tracer, found: Mapping[str, FileFacts]
) -> FileFacts:
    if member.kind == Kind.HARD_LINK and member.target in found:
        return replace(found[member.target], path=member.path)
    if member.kind != Kind.FILE:
        return FileFacts(member.path, mode=member.mode, target=member.target)
    content = member.content
    elf: ElfFacts | None = None
    broken: str | None = None
    if content.startswith(MAGIC):
        try:
            elf = read_elf(content)
        except BrokenElfError as error:
            broken = str(error)
    kept = content if member.path.endswith(_TEXT_SUFFIXES) else content[: _SCRIPT_BYTES if content[:2] == b"#!" else 0]
    return FileFacts(
        path=member.path,
        actual_sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        mode=member.mode & 0o7777,
        traces=tracer.traces(content, placeholders),
        elf=elf,
        broken_elf=broken,
        text=kept.decode("utf-8", "replace"),
    )


def _with_promise(path: str, entry: Mapping[str, Any], actual: FileFacts | None) -> FileFacts:
    return replace(
        actual or FileFacts(path, present=False),
        promised_sha256=entry.get("sha256"),
        promised_size=entry.get("size_in_bytes"),
        prefix_mode=str(entry.get("file_mode", "text")) if entry.get("prefix_placeholder") else None,
    )


@dataclass(frozen=True)
class Inventory:
    """What a package would bring into an environment, from its metadata alone.

    Attributes:
        links: path -> whether it is a symbolic link.
        exported: names of packages in its run_exports.
        targets: where links lead, for packages whose content was read for it.
    """

    links: Mapping[str, bool]
    exported: frozenset[str]
    targets: Mapping[str, str] = field(default_factory=dict)

    @property
    def libraries(self) -> frozenset[str]:
        """File names of its shared libraries."""
        return frozenset(name for path in self.links if ".so" in (name := path.rpartition("/")[2]))

    @property
    def has_other_uses(self) -> bool:
        """Whether it brings programs, headers, Python modules or data beside libraries."""
        return any(".so" not in path.rpartition("/")[2] and not path.startswith(_BESIDES) for path in self.links)


def read_inventory(location: Path | str) -> Inventory:
    """The inventory of a package in a file, or at an address (where only its metadata is fetched).

    Raises:
        IntegrityError: it cannot be read.
    """

    documents = read_info_files(location, ["paths.json", "run_exports.json"])
    where = str(location)
    paths = read_document(documents.get("paths.json", b"{}"), where).get("paths", [])
    exports = read_document(documents.get("run_exports.json", b"{}"), where)
    specs: Sequence[str] = [spec for values in exports.values() if isinstance(values, list) for spec in values]
    return Inventory(
        links={str(entry["_path"]): entry.get("path_type") == "softlink" for entry in paths},
        exported=frozenset(str(spec).split()[0] for spec in specs),
    )
