"""The lock file ``ci/slipway/bootstrap/data/lock.yaml``: which downloads the packages are made from.

Each is locked by file name, size and sha256. A wheel never changes and stays where it is; a Debian mirror drops a
revision sooner or later, see `slipway.bootstrap.download.DebianArchive`.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - these types are read when a file is converted to them
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from slipway.base import errors
from slipway.base.files import write_file
from slipway.base.platform import LINUX_64
from slipway.base.schema import read_yaml
from slipway.bootstrap.debs import OfferedDeb

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from slipway.base.platform import Platform

_HEADER = """\
# What the embedded channel is made from. Written by `slipway bootstrap --update-lock`; not by hand.
# wheels: project -> version -> Python tag ("any" serves all) -> file. debs: name -> revision, of the suite below.
"""
_HINT = "run `slipway bootstrap --update-lock`"


@dataclass(frozen=True)
class LockedWheel:
    """One file of a project; `size` is in bytes.

    `tag` says what it serves: ``cp311`` one Python, ``any`` all of them, and ``cp311-aarch64`` one on another processor
    than the channel's own.
    """

    project: str
    version: str
    tag: str
    file: str
    sha256: str
    size: int


@dataclass(frozen=True)
class _LockedDeb:
    """What the file says of a Debian package."""

    version: str
    file: str
    sha256: str
    size: int


@dataclass(frozen=True)
class _LockedFile:
    """What the file says of a wheel."""

    file: str
    sha256: str
    size: int


@dataclass(frozen=True)
class LockFile:
    """The file as it is written: project -> version -> tag -> wheel."""

    suite: str
    debs: Mapping[str, _LockedDeb]
    wheels: Mapping[str, Mapping[str, Mapping[str, _LockedFile]]]


@dataclass(frozen=True)
class Lock:
    """The whole file. `debs` is keyed by name, `wheels` by project, version and tag."""

    suite: str
    debs: Mapping[str, OfferedDeb]
    wheels: Mapping[tuple[str, str, str], LockedWheel]

    def find_wheel(
        self, project: str, version: str, python: str | None, platform: Platform = LINUX_64
    ) -> LockedWheel | None:
        """The wheel of `project` that serves Python `python` (X.Y, or None where any will do) on a platform."""
        end = "" if platform == LINUX_64 else f"-{platform.cpu}"
        tags = [f"{tag}{end}" for tag in ([f"cp{python.replace('.', '')}"] if python else [])] + [f"any{end}"]
        for tag in tags:
            if found := self.wheels.get((project, version, tag)):
                return found
        found = self.wheels.get((project, version, "any"))
        return found if found is not None and found.file.endswith("-any.whl") else None

    def wheel(self, project: str, version: str, python: str | None, platform: Platform = LINUX_64) -> LockedWheel:
        """The same, which must be there."""
        if found := self.find_wheel(project, version, python, platform):
            return found
        wanted = f"{project} {version}" + (f" for Python {python}" if python else "")
        raise errors.ChannelError(
            f"the lock has no wheel of {wanted}", where="ci/slipway/bootstrap/data/lock.yaml", hint=_HINT
        )

    def deb(self, name: str) -> OfferedDeb:
        """Debian package `name`."""
        if name not in self.debs:
            raise errors.ChannelError(
                f"the lock has no Debian package `{name}`", where="ci/slipway/bootstrap/data/lock.yaml", hint=_HINT
            )
        return self.debs[name]

    def deb_name(self, name: str, platform: Platform) -> str:
        """apt's name of a package for a platform: ``libz:arm64`` for another processor, if it is not for every one."""
        if platform == LINUX_64 or ":" in name or self.deb(name).file.endswith("_all.deb"):
            return name
        return f"{name}:{platform.debian}"


def read_lock(path: Path) -> Lock:
    """Read and check the lock file.

    Raises:
        ChannelError: it is missing, or not what `write_lock` writes.
    """
    given = read_yaml(path, LockFile, error=errors.ChannelError, hint=_HINT)
    wheels = {
        (project, version, tag): LockedWheel(project, version, tag, wheel.file, wheel.sha256, wheel.size)
        for project, versions in given.wheels.items()
        for version, tags in versions.items()
        for tag, wheel in tags.items()
    }
    debs = {
        name: OfferedDeb(name=name, version=deb.version, file=deb.file, size=deb.size, sha256=deb.sha256)
        for name, deb in given.debs.items()
    }
    return Lock(given.suite, debs, wheels)


def write_lock(path: Path, suite: str, debs: Iterable[OfferedDeb], wheels: Iterable[LockedWheel]) -> None:
    """Write the lock file, beside it first."""
    tree: dict[str, dict[str, dict[str, dict[str, object]]]] = {}
    for wheel in sorted(wheels, key=lambda item: (item.project, item.version, item.tag)):
        tree.setdefault(wheel.project, {}).setdefault(wheel.version, {})[wheel.tag] = {
            "file": wheel.file,
            "sha256": wheel.sha256,
            "size": wheel.size,
        }
    locked = {
        deb.name: {"version": deb.version, "file": deb.file, "sha256": deb.sha256, "size": deb.size}
        for deb in sorted(debs, key=lambda deb: deb.name)
    }
    text = _HEADER + yaml.safe_dump(
        {"suite": suite, "debs": locked, "wheels": tree}, sort_keys=False, width=120, default_flow_style=False
    )
    write_file(path, text)
