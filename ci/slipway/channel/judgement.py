"""What a package says about itself, held against what it is: before anything of it is linked, whoever made it."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from slipway.base.errors import IntegrityError
from slipway.channel import rattler
from slipway.channel.archive import SUFFIXES, Kind, Member, find_path_problem, read_members

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

INDEX = "info/index.json"
PATHS = "info/paths.json"
LINK = "info/link.json"

_INDEX_TEXTS = (
    ("name", re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*"), "package's name"),
    ("version", re.compile(r"[A-Za-z0-9_.+!]+"), "version"),
    ("build", re.compile(r"[A-Za-z0-9_.+]+"), "build string"),
    ("subdir", re.compile(r"noarch|[a-z0-9]+-[a-z0-9_]+"), "platform"),
)
"""Keys of index.json that are texts: the form that each has, and what it is."""

_PATH_TYPES = ("hardlink", "softlink", "directory")

_SHA256 = re.compile(r"[0-9a-f]{64}")

_PROGRAM = re.compile(r"[^/\\\s.][^/\\\s]*")
"""The name of an entry point: what is made in ``bin``."""


@dataclass(frozen=True)
class FoundMember:
    """One file or link of an archive that was judged.

    Attributes:
        sha256, size: of a file's content; empty and 0 for links.
    """

    path: str
    kind: Kind
    sha256: str
    size: int
    target: str
    mode: int


@dataclass(frozen=True)
class JudgedPackage:
    """A package that may be linked.

    Attributes:
        index: its info/index.json.
        members: its files and links.
        linked: the paths that its info/paths.json names: those are put into a prefix.
        programs: names of its entry points: for each a program is made in ``bin``.
    """

    index: Mapping[str, Any]
    members: tuple[FoundMember, ...]
    linked: tuple[str, ...]
    programs: tuple[str, ...] = ()


def judge_package(path: Path, take: Callable[[Member], None] = lambda member: None) -> JudgedPackage:
    """Read all of the package at `path`.

    Args:
        take: is given each member as it is read, its own name already judged.

    Raises:
        IntegrityError: it is damaged, hostile, or says nonsense about itself; names the package and the path in it.
        ChannelError: there is no such package.
    """
    documents: dict[str, dict[str, Any]] = {}
    members: list[FoundMember] = []
    for member in read_members(path):
        if member.path in (INDEX, PATHS, LINK) and member.kind == Kind.FILE:
            documents[member.path] = read_document(member.content, f"{path}: {member.path}")
        digest = member.sha256 if member.kind == Kind.FILE else ""
        members.append(FoundMember(member.path, member.kind, digest, len(member.content), member.target, member.mode))
        take(member)
    require_documents(documents, path)
    check_index_document(documents[INDEX], path)
    check_paths_document(documents[PATHS], path)
    linked = documents[PATHS]["paths"]
    _check_promises(linked, {member.path: member for member in members}, path)
    if documents[INDEX].get("noarch"):  # linked on systems, too, that do not tell such names apart
        for first, second in find_case_collisions(entry["_path"] for entry in linked):
            refuse(f"`{first}` and `{second}` differ in nothing but case", path, PATHS)
    programs = check_link_document(documents.get(LINK, {}), path)
    return JudgedPackage(documents[INDEX], tuple(members), tuple(entry["_path"] for entry in linked), programs)


def refuse(message: str, path: Path, document: str = "") -> NoReturn:
    """Say why the package at `path` is not to be used."""
    where = f"{path}: {document}" if document else str(path)
    hint = "fetch or build the package again; do not install this one"
    raise IntegrityError(f"the package is damaged: {message}", where=where, hint=hint)


def read_document(content: bytes, where: str) -> dict[str, Any]:
    """A JSON object of a package.

    Raises:
        IntegrityError: it is none.
    """
    try:
        value = json.loads(content, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise IntegrityError(f"the package is damaged: no valid JSON: {error}", where=where) from error
    if not isinstance(value, dict):
        raise IntegrityError("the package is damaged: an object was expected", where=where)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which no key stands twice: of two values, readers take the one or the other."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise ValueError(f"the key {_shortened(twice)} stands there twice")
    return found


def require_documents(documents: Mapping[str, Any], path: Path) -> None:
    """That it has what every package has.

    Raises:
        IntegrityError: it has not.
    """
    for name in (INDEX, PATHS):
        if name not in documents:
            refuse(f"it has no {name}", path)


def check_index_document(index: Mapping[str, Any], path: Path) -> None:
    """Whether what index.json says has the form that solvers and indexers read, and fits the name of the file.

    Raises:
        IntegrityError: it does not.
    """
    for key, form, meaning in _INDEX_TEXTS:
        if not isinstance(index.get(key), str) or not form.fullmatch(index[key]):
            refuse(f"`{key}` is {_shortened(index.get(key))}, which is no {meaning}", path, INDEX)
    try:
        rattler.Version(index["version"])
    except Exception:  # py-rattler's own type is not exported
        refuse(f"`version` is {_shortened(index['version'])}, which is no version", path, INDEX)
    number = index.get("build_number")
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        refuse(f"`build_number` is {_shortened(number)}, which is no number", path, INDEX)
    if index.get("noarch") not in (None, False, True, "python", "generic"):
        refuse(f"`noarch` is {_shortened(index.get('noarch'))}, and only python and generic are known", path, INDEX)
    for key in ("depends", "constrains"):
        specs = index.get(key, [])
        if not isinstance(specs, list) or not all(isinstance(spec, str) for spec in specs):
            refuse(f"`{key}` is no list of match specs", path, INDEX)
        for spec in specs:
            try:
                rattler.MatchSpec(spec, strict=False)
            except Exception:
                refuse(f"`{key}` holds {_shortened(spec)}, which is no match spec", path, INDEX)
    suffix = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), path.suffix)
    expected = f"{index['name']}-{index['version']}-{index['build']}{suffix}"
    if path.name != expected:
        raise IntegrityError(
            f"the file's name is not the package's: by its index.json it is {expected[:200]}",
            where=str(path),
            hint="channels know a package by its file's name: give it back its own",
        )


def check_paths_document(document: Mapping[str, Any], path: Path) -> None:
    """Whether paths.json is a list of paths that may be linked, none twice.

    Raises:
        IntegrityError: it is not.
    """
    entries = document.get("paths")
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("_path"), str) for entry in entries
    ):
        refuse("not a list of paths", path, PATHS)
    seen: set[str] = set()
    for entry in entries:
        name = entry["_path"]
        shown = _shortened(name)
        if problem := find_path_problem(name):
            refuse(f"{shown} {problem}", path, PATHS)
        if not name or any(part in ("", ".") for part in name.split("/")):
            refuse(f"{shown} is no path of a file", path, PATHS)
        if name in seen:
            refuse(f"it names a path twice: {shown}", path, PATHS)
        seen.add(name)
        if entry.get("path_type", "hardlink") not in _PATH_TYPES:
            refuse(f"{shown} has the type {_shortened(entry.get('path_type'))}, which is unknown", path, PATHS)
        digest, size = entry.get("sha256"), entry.get("size_in_bytes")
        if digest is not None and not (isinstance(digest, str) and _SHA256.fullmatch(digest)):
            refuse(f"{shown} has the sha256 {_shortened(digest)}, which is none", path, PATHS)
        if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 0):
            refuse(f"{shown} has the size {_shortened(size)}, which is none", path, PATHS)
        placeholder = entry.get("prefix_placeholder")
        if placeholder is not None and (not isinstance(placeholder, str) or "\0" in placeholder):
            refuse(f"{shown} has the prefix {_shortened(placeholder)}, which is none", path, PATHS)
        if entry.get("file_mode") not in (None, "text", "binary"):
            refuse(f"{shown} has the mode {_shortened(entry.get('file_mode'))}, which is unknown", path, PATHS)


def check_link_document(document: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    """The names of the programs that link.json lets installers make.

    Raises:
        IntegrityError: it is not of the form that it has.
    """
    noarch = document.get("noarch", {})
    points = noarch.get("entry_points", []) if isinstance(noarch, dict) else None
    if not isinstance(points, list) or not all(isinstance(point, str) for point in points):
        refuse("`entry_points` is no list of texts", path, LINK)
    names = tuple(point.partition("=")[0].strip() for point in points)
    for name in names:
        if not _PROGRAM.fullmatch(name) or find_path_problem(f"bin/{name}"):
            refuse(f"the entry point {_shortened(name)} is no name of a program", path, LINK)
    return names


def find_case_collisions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of paths, folders among them, that some file systems take for one: they differ in nothing but case."""
    known: dict[str, str] = {}
    found: list[tuple[str, str]] = []
    for path in paths:
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            one = "/".join(parts[:depth])
            other = known.setdefault(unicodedata.normalize("NFC", unicodedata.normalize("NFC", one).casefold()), one)
            if other != one:
                found.append((other, one))
                break
    return found


def _check_promises(entries: Iterable[Mapping[str, Any]], members: Mapping[str, FoundMember], path: Path) -> None:
    """That what paths.json names is in the archive, of its kind, size and content."""
    for entry in entries:
        name, kind = entry["_path"], entry.get("path_type", "hardlink")
        member = members.get(name)
        if kind == "directory":
            continue
        if name.startswith("info/"):
            refuse(f"`{name}` is no path of a prefix", path, PATHS)
        if member is None:
            refuse(f"it names `{name}`, which is not in the package", path, PATHS)
        if (member.kind == Kind.LINK) != (kind == "softlink"):
            refuse(f"`{name}` is a {member.kind}, and paths.json says {kind}", path, PATHS)
        if member.kind == Kind.FILE:
            size, digest = entry.get("size_in_bytes"), entry.get("sha256")
            if size is not None and size != member.size:
                refuse(f"`{name}` has {member.size} bytes, and paths.json says {size}", path, PATHS)
            if digest is not None and digest != member.sha256:
                refuse(f"the content of `{name}` is not what paths.json promises", path, PATHS)


def _shortened(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:76]}..."
