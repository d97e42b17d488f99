"""The lock file ``ci/slipway/bootstrap/data/lock.yaml``: which downloads the packages are made from.

A wheel never changes: it is locked by file name, size and sha256. A Debian mirror keeps only the current revision of a
package: its name and the suite are locked, apt's signed index tells the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from slipway.base import errors
from slipway.base.files import write_file
from slipway.bootstrap.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_HEADER = """\
# What the embedded channel is made from. Written by `slipway bootstrap --update-lock`; not by hand.
# wheels: project -> version -> Python tag ("any" serves all) -> file. debs: names, taken from the suite below.
"""
_HINT = "run `slipway bootstrap --update-lock`"


@dataclass(frozen=True)
class LockedWheel:
    """One file of a project: `tag` is ``cp311`` for one Python, ``any`` for all; `size` is in bytes."""

    project: str
    version: str
    tag: str
    file: str
    sha256: str
    size: int


@dataclass(frozen=True)
class Lock:
    """The whole file. `wheels` is keyed by project, version and tag."""

    suite: str
    debs: frozenset[str]
    wheels: Mapping[tuple[str, str, str], LockedWheel]

    def wheel(self, project: str, version: str, python: str | None) -> LockedWheel:
        """The wheel of `project` that serves Python `python` (X.Y, or None where any will do)."""
        tags = ["any"] if python is None else [f"cp{python.replace('.', '')}", "any"]
        for tag in tags:
            if found := self.wheels.get((project, version, tag)):
                return found
        wanted = f"{project} {version}" + (f" for Python {python}" if python else "")
        raise errors.ChannelError(
            f"the lock has no wheel of {wanted}", where="ci/slipway/bootstrap/data/lock.yaml", hint=_HINT
        )

    def require_deb(self, name: str) -> None:
        """Debian package `name` is in the lock, or a ChannelError is raised."""
        if name not in self.debs:
            raise errors.ChannelError(
                f"the lock has no Debian package `{name}`", where="ci/slipway/bootstrap/data/lock.yaml", hint=_HINT
            )


def read_lock(path: Path) -> Lock:
    """Read and check the lock file."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise errors.ChannelError("the lock file is missing", where=str(path), hint=_HINT) from None
    except yaml.YAMLError as error:
        raise errors.ChannelError(f"this is not YAML: {error}", where=str(path), hint=_HINT) from None
    section = Section(path, "", document, {})
    suite = section.text("suite")
    debs = frozenset(section.texts("debs"))
    wheels: dict[tuple[str, str, str], LockedWheel] = {}
    for project, versions in section.mapping("wheels").items():
        for version, tags in Section(path, project, versions, {}).take_all().items():
            for tag, values in Section(path, f"{project}.{version}", tags, {}).take_all().items():
                item = Section(path, f"{project}.{version}.{tag}", values, {})
                wheel = LockedWheel(
                    project, version, tag, item.text("file"), item.text("sha256"), item.number("size", 0)
                )
                item.finish()
                wheels[project, version, tag] = wheel
    section.finish()
    return Lock(suite, debs, wheels)


def write_lock(path: Path, suite: str, debs: Iterable[str], wheels: Iterable[LockedWheel]) -> None:
    """Write the lock file, beside it first."""
    tree: dict[str, dict[str, dict[str, dict[str, object]]]] = {}
    for wheel in sorted(wheels, key=lambda item: (item.project, item.version, item.tag)):
        tree.setdefault(wheel.project, {}).setdefault(wheel.version, {})[wheel.tag] = {
            "file": wheel.file,
            "sha256": wheel.sha256,
            "size": wheel.size,
        }
    text = _HEADER + yaml.safe_dump(
        {"suite": suite, "debs": sorted(debs), "wheels": tree}, sort_keys=False, width=120, default_flow_style=False
    )
    write_file(path, text)
