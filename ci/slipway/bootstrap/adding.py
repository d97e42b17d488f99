"""Writes the description of another package of the embedded channel, from what a wheel says of itself, and locks it.

What the wheel requires is added as well, where the channel lacks it. Only wheels of Python alone are described so: one
with compiled code needs somebody who looks at what it links, see the README of the data.
"""

from __future__ import annotations

import email.parser
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.markers import Marker
from packaging.requirements import Requirement

from slipway.base.errors import ChannelError, UsageError
from slipway.base.files import write_file
from slipway.base.proc import Processes
from slipway.bootstrap import wheels
from slipway.bootstrap.cache import Cache
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

_LICENCE_FILE: Final = re.compile(r"[^/]+\.dist-info/(licenses/|LICEN[CS]E|COPYING|NOTICE|AUTHORS)")


@dataclass(frozen=True)
class Added:
    """A package that was described: its name, and the file."""

    name: str
    path: Path


def add_wheels(projects: list[str], data: Path, cache: Path, reporter: log.Reporter) -> list[Added]:
    """Describe and lock the newest wheel of each project, and of what it requires.

    Raises:
        NetworkError: pip finds none.
        UsageError: one is described already.
        ChannelError: one holds compiled code, or does not say its licence.
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
            with store.scratch() as scratch, reporter.step(f"wheel of {project}"):
                path, sha256, size = wheels.resolve(project, None, inventory.settings.pythons[0], Processes(), scratch)
                metadata = _read_metadata(path)
                description, requires = describe_wheel(project, path.name, metadata, known)
                target = data / "packages" / "python" / f"{name}.yaml"
                write_file(target, yaml.safe_dump(description, sort_keys=False, width=110, allow_unicode=True))
                wheels.store_download(path, sha256, store.downloads)
            version = str(description["version"])
            locked[project, version, "any"] = LockedWheel(project, version, "any", path.name, sha256, size)
            known.add(name)
            waiting += requires
            added.append(Added(name, target))
    write_lock(inventory.lock_path, lock.suite, lock.debs.values(), locked.values())
    return added


def describe_wheel(
    project: str, file: str, metadata: Message[str, str], known: set[str]
) -> tuple[dict[str, Any], list[str]]:
    """The description of a wheel as plain data, and the projects that it requires.

    Args:
        file: its name, which says whether it holds compiled code.
        metadata: its METADATA.
        known: names that packages of the channel have.
    """
    if not file.endswith("-none-any.whl"):
        raise ChannelError(
            f"the wheel of {project} holds compiled code", where=file,
            hint="describe it by hand, with `per: python` and what it links (ci/slipway/bootstrap/data/README.md)",
        )  # fmt: skip
    required = [Requirement(text) for text in metadata.get_all("Requires-Dist") or ()]
    needed = [one for one in required if one.marker is None or _holds(str(one.marker))]
    depends = [f"python {metadata.get('Requires-Python') or '>=3.10'}".replace(" ,", ",")]
    depends += [f"{_find_name(one.name, known)} {_bounds(one)}".strip() for one in needed]
    described = {
        "name": _find_name(project, known),
        "version": str(metadata["Version"]),
        "noarch_python": True,
        "summary": str(metadata.get("Summary") or project),
        "home": _find_home(metadata) or f"the project {project}",
        "license": _find_licence(project, metadata),
        "depends": depends,
        "sources": [{"wheel": project, "install": True}],
    }
    return described, [one.name for one in needed]


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


def _read_metadata(wheel: Path) -> Message[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        if not any(_LICENCE_FILE.match(name) for name in names):
            raise ChannelError(
                "the wheel has no licence text",
                where=wheel.name,
                hint="describe it by hand, with a source that has one",
            )
        name = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        return email.parser.Parser().parsestr(archive.read(name).decode("utf-8"), headersonly=True)


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
