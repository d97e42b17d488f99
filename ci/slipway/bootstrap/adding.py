"""Writes the description of another package of the embedded channel, from what a wheel says of itself, and locks it.

What the wheel requires is added as well, where the channel lacks it. A wheel with compiled code is taken once for each
Python of the channel, with the libraries that it brings along; what else it links must be glibc or gcc's.
"""

from __future__ import annotations

import email.parser
import io
import re
import zipfile
from typing import TYPE_CHECKING, Any, Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.version import Version

from slipway.base.errors import ChannelError, NetworkError, UsageError
from slipway.base.proc import Processes
from slipway.bootstrap import wheels
from slipway.bootstrap.cache import Cache
from slipway.bootstrap.choices import ON_DEMAND
from slipway.bootstrap.described import GLIBC, Added, read_needs, write_description
from slipway.bootstrap.inventory import read_inventory
from slipway.bootstrap.lock import LockedWheel, read_lock, write_lock

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

    from slipway.base import log

_LICENCES: Final = {
    "MIT License": "MIT",
    "BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
}
"""What classifiers call them, and SPDX."""

_COMMON: Final = {"Apache-2.0": "Apache-2.0", "MPL-2.0": "MPL-2.0", "GPL-3.0-or-later": "GPL-3"}
"""Licences by SPDX's name, and the files of Debian's package base-files that hold their texts."""

_LICENCE_FILE: Final = re.compile(r"[^/]+\.dist-info/(licenses/|LICEN[CS]E|COPYING|NOTICE|AUTHORS)")


def add_wheels(
    projects: list[str], data: Path, cache: Path, reporter: log.Reporter, *, licence: str | None = None
) -> list[Added]:
    """Describe and lock the newest wheel of each project, and of what it requires.

    Args:
        licence: an SPDX expression for those that do not say their own.

    Raises:
        NetworkError: pip finds none.
        UsageError: one is described already.
        ChannelError: one does not say its licence, or links what the channel does not have.
    """
    inventory = read_inventory(data)
    known = {raw.head.name for raw in inventory.descriptions}
    lock = read_lock(inventory.lock_path)
    locked = dict(lock.wheels)
    waiting, added = list(projects), []
    for project in projects:
        if (name := _find_name(project, known)) in known:
            raise UsageError(f"the embedded channel has `{name}`", where=str(data / "packages"))
    store = Cache(cache)
    with store.exclusive(reporter):
        while waiting:
            project = waiting.pop(0)
            name = _find_name(project, known)
            if name in known:
                continue
            with reporter.step(f"wheel of {project}"):
                taken = _take(project, inventory.settings.pythons, store)
            path = taken[0][1]
            (metadata, has_text), (linked, programs) = _read_metadata(path), _read_compiled(path)
            description, requires = describe_wheel(
                project, path.name, metadata, known, linked, programs, licence, has_text=has_text
            )
            target = data / "packages" / ON_DEMAND / "python" / f"{name}.yaml"
            write_description(target, description)
            for wheel, _ in taken:
                locked[wheel.project, wheel.version, wheel.tag] = wheel
            known.add(name)
            waiting += requires
            added.append(Added(name, target))
    write_lock(inventory.lock_path, lock.suite, lock.debs.values(), locked.values())
    return added


def _take(project: str, pythons: tuple[str, ...], store: Cache) -> list[tuple[LockedWheel, Path]]:
    """The newest wheel that serves every Python, or else one of the newest version for each of them."""
    processes = Processes()
    taken: list[tuple[LockedWheel, Path]] = []
    version: str | None = None
    for python in pythons:
        with store.scratch() as scratch:
            try:
                path, sha256, size = wheels.resolve(project, version, python, processes, scratch, pure=version is None)
            except NetworkError:
                if version is not None:
                    raise
                path, sha256, size = wheels.resolve(project, None, python, processes, scratch)
            found = path.name.split("-")[1]
            wheel = LockedWheel(project, str(Version(found)), wheels.tag_of(path.name, python), path.name, sha256, size)
            taken.append((wheel, wheels.store_download(path, sha256, store.downloads)))
        version = wheel.version
        if wheel.tag == "any":
            break
    return taken


def describe_wheel(
    project: str,
    file: str,
    metadata: Message[str, str],
    known: set[str],
    linked: frozenset[str] = frozenset(),
    programs: tuple[str, ...] = (),
    licence: str | None = None,
    *,
    has_text: bool = True,
) -> tuple[dict[str, Any], list[str]]:
    """The description of a wheel as plain data, and the projects that it requires.

    Args:
        file: its name, which says whether it holds compiled code.
        metadata: its METADATA.
        known: names that packages of the channel have.
        linked: the libraries that its compiled code needs and does not bring along.
        programs: what it installs into ``bin`` and links gcc's libraries.
        licence: where it does not say its own.
        has_text: whether it brings a licence text along.
    """
    pure = file.endswith("-none-any.whl")
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist") or ()]
    needed = [one for one in required if one.marker is None or _holds(str(one.marker))]
    depends = _compiled_depends(file, linked)
    if pure:
        depends = [f"python {metadata.get('Requires-Python') or '>=3.10'}".replace(" ,", ",")]
    depends += [f"{_find_name(one.name, known)} {_bounds(one)}".strip() for one in needed]
    found = licence or _find_licence(project, metadata)
    described: dict[str, Any] = {
        "name": _find_name(project, known),
        "version": str(metadata["Version"]),
        **({"noarch_python": True} if pure else {"per": "python"}),
        "summary": str(metadata.get("Summary") or project),
        "home": _find_home(metadata) or f"the project {project}",
        "license": found,
        "depends": depends,
        "sources": _sources(project, found, has_text=has_text),
    }
    if programs:
        # Modules look where Python's own run path leads; programs need one.
        described["run_paths"] = [{"files": [f"bin/{name}" for name in programs], "value": "$ORIGIN/../lib"}]
    return described, [one.name for one in needed]


_LINKED: Final = {
    "libstdc++.so.6": "libstdcxx >=12",
    "libgcc_s.so.1": "libgcc >=12",
    "libgomp.so.1": "_openmp_mutex >=4.5",
    "libz.so.1": "libzlib >=1.2.13,<2.0a0",
}
"""Libraries that wheels count on the machine for, and what has them here."""


def _compiled_depends(file: str, linked: frozenset[str]) -> list[str]:
    """What a wheel with compiled code needs beside what it requires: its Python, a glibc, gcc's libraries."""
    unknown = sorted(name for name in linked if name not in _LINKED and not GLIBC.fullmatch(name))
    if unknown:
        raise ChannelError(f"the wheel links `{unknown[0]}`, which it does not bring along", where=file,
                           hint="describe it by hand (ci/slipway/bootstrap/data/README.md)")  # fmt: skip
    releases = [(int(major), int(minor)) for major, minor in re.findall(r"manylinux_(\d+)_(\d+)_", file)]
    glibc = ".".join(map(str, min(releases))) if releases else "2.17"
    return [
        "python ${python}.*",
        *(["python_abi ${python}.* *_cp${py}"] if "-abi3-" not in file and "-none-" not in file else []),
        f"__glibc >={glibc},<3.0.a0",
        *sorted({_LINKED[name] for name in linked if name in _LINKED}),
    ]


def _read_compiled(wheel: Path) -> tuple[frozenset[str], tuple[str, ...]]:
    """The libraries that the compiled code of a wheel needs, without those that lie in it; its compiled programs."""
    needed: set[str] = set()
    programs: list[str] = []
    with zipfile.ZipFile(wheel) as archive:
        brought = {name.rpartition("/")[2] for name in archive.namelist()}
        for info in archive.infolist():
            with archive.open(info) as stream:
                if stream.read(4) != b"\x7fELF":
                    continue
            needs = read_needs(io.BytesIO(archive.read(info))).libraries
            needed.update(needs)
            if ".data/scripts/" in info.filename and not _LINKED.keys().isdisjoint(needs):
                programs.append(info.filename.rpartition("/")[2])
    return frozenset(needed - brought), tuple(sorted(programs))


def _holds(marker: str) -> bool:
    """Whether a requirement counts for what is installed plainly, on the oldest Python of the channel."""
    return "extra" not in marker and Marker(marker).evaluate(
        {"python_version": "3.11", "python_full_version": "3.11.0"}
    )


def _bounds(requirement: Requirement) -> str:
    return ",".join(sorted(map(str, requirement.specifier), reverse=True))


def _find_name(project: str, known: set[str]) -> str:
    """conda-forge's name of a project: mostly with dashes; with an underscore where the channel has it so."""
    name = re.sub(r"[-_.]+", "-", project).lower()
    return name.replace("-", "_") if name.replace("-", "_") in known else name


def _sources(project: str, licence: str, *, has_text: bool) -> list[dict[str, Any]]:
    """The wheel, and the text of its licence where it does not bring that along and Debian has it."""
    if has_text:
        return [{"wheel": project, "install": True}]
    if licence not in _COMMON:
        raise ChannelError(
            f"the wheel of {project} has no licence text", hint="describe it by hand, with a source that has one"
        )
    text = {"deb": "base-files", "licenses": [f"usr/share/common-licenses/{_COMMON[licence]}"]}
    return [{"wheel": project, "install": True, "licenses": ["site/*.dist-info/METADATA"]}, text]


def _read_metadata(wheel: Path) -> tuple[Message[str, str], bool]:
    """What it says of itself, and whether it brings a licence text along."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        name = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        return email.parser.Parser().parsestr(archive.read(name).decode("utf-8"), headersonly=True), any(
            map(_LICENCE_FILE.match, names)
        )


def _find_home(metadata: Message[str, str]) -> str | None:
    if metadata.get("Home-page"):
        return str(metadata["Home-page"])
    urls = dict(str(line).split(", ", 1) for line in metadata.get_all("Project-URL") or () if ", " in str(line))
    wanted = ("homepage", "home", "source", "repository", "source code", "documentation")
    return next((url for want in wanted for label, url in urls.items() if label.lower() == want), None)


def _find_licence(project: str, metadata: Message[str, str]) -> str:
    classified = [str(line).rpartition(":: ")[2] for line in metadata.get_all("Classifier") or ()]
    given = [str(metadata[key]) for key in ("License-Expression", "License") if metadata.get(key)]
    for text in (*given, *(_LICENCES[name] for name in classified if name in _LICENCES)):
        try:
            return str(canonicalize_license_expression(text))
        except InvalidLicenseExpression:
            continue
    raise ChannelError(
        f"the wheel of {project} does not say its licence as SPDX knows it",
        hint="describe it by hand, licence included",
    )
