"""What a request needs: the data files it selects, in the order they can be assembled, and the sources they name."""

from __future__ import annotations

import graphlib
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base import errors
from slipway.base.platform import LINUX_64, find_platform
from slipway.bootstrap.choices import read_cuda, read_settings
from slipway.bootstrap.description import (
    PackageDescription,
    RawDescription,
    Selection,
    instantiate,
    load,
)
from slipway.channel.specs import package_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from slipway.base.platform import Platform
    from slipway.bootstrap.choices import ChannelRequest, EmbeddedSettings


@dataclass(frozen=True)
class EmbeddedInventory:
    """All data of the embedded channel."""

    folder: Path
    settings: EmbeddedSettings
    descriptions: tuple[RawDescription, ...]

    @property
    def lock_path(self) -> Path:
        """The lock file."""
        return self.folder / "lock.yaml"

    def select(
        self,
        request: ChannelRequest,
        full_pythons: Mapping[str, str],
        from_debian: frozenset[str] = frozenset(),
        target_python: str = "",
    ) -> tuple[PackageDescription, ...]:
        """The checked descriptions of every package that the request needs, tools before what is made with them.

        Args:
            full_pythons: the full version X.Y.Z of each requested Python.
            from_debian: those of them that are made from Debian's packages, not as a snapshot.
            target_python: the full version of Debian's Python, where another platform is asked for.
        """
        self.settings.check(request)

        def kind_of(python: str) -> str:
            return "debian" if python in from_debian else "snapshot"

        selection = Selection(request.cuda, request.blas)
        chosen: list[PackageDescription] = []
        on_demand: dict[str, list[PackageDescription]] = {}
        for raw in self.descriptions:
            if raw.wanted(selection):
                when = raw.head.when
                pythons = {
                    version: full_pythons[version]
                    for version in request.python
                    if (not when.python or version in when.python)
                    and (not when.interpreter or kind_of(version) in when.interpreter)
                }
                instances = self._instances(raw, pythons, request.cuda)
                if raw.on_demand:
                    on_demand.setdefault(raw.head.name, []).extend(instances)
                else:
                    chosen += instances
        wanted = set(request.names).union(*map(_needed_names, chosen))
        while names := wanted & on_demand.keys():
            for name in sorted(names):
                found = on_demand.pop(name)
                chosen += found
                wanted.update(*map(_needed_names, found))
        return (*_sort_by_tools(chosen), *self._for_target(request.platform, selection, target_python))

    def _for_target(
        self, platform: Platform, selection: Selection | None, full_python: str
    ) -> Iterator[PackageDescription]:
        """What a target has, beside what is for every platform: the settings' `targets`, and all that these need."""
        if platform == LINUX_64:
            return
        known: dict[str, list[RawDescription]] = {}
        for raw in self.descriptions:
            when = raw.head.when
            fits = when.interpreter != ("snapshot",) and self.settings.debian_python in (
                when.python or (self.settings.debian_python,)
            )
            if fits and (selection is None or raw.wanted(selection)):
                known.setdefault(raw.head.name, []).append(raw)
        waiting, seen = list(self.settings.targets[platform.subdir]), set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for raw in known.get(name, ()):
                version = self.settings.debian_python if raw.head.per == "python" else None
                found = instantiate(
                    raw, python=version, full_python=full_python, files=self.folder / "files", platform=platform
                )
                waiting += _needed_names(found) - found.tools
                if found.subdir == platform.subdir:  # the others are there for every platform
                    yield found

    def everything(self) -> tuple[PackageDescription, ...]:
        """Every package for every choice: what the lock must cover."""
        chosen: list[PackageDescription] = []
        for raw in self.descriptions:
            settings, when = self.settings, raw.head.when
            versions = (settings.debian_python,) if when.interpreter == ("debian",) else when.python or settings.pythons
            chosen += self._instances(raw, {version: f"{version}.0" for version in versions}, settings.cudas)
        for subdir in self.settings.targets:
            chosen += self._for_target(find_platform(subdir), None, f"{self.settings.debian_python}.0")
        return tuple(chosen)

    def _instances(
        self, raw: RawDescription, pythons: Mapping[str, str], cudas: Sequence[str]
    ) -> list[PackageDescription]:
        files = self.folder / "files"
        match raw.head.per:
            case "python":
                return [
                    instantiate(raw, python=short, full_python=full, files=files) for short, full in pythons.items()
                ]
            case "cuda":
                return [instantiate(raw, cuda=read_cuda(version, self.folder), files=files) for version in cudas]
        return [instantiate(raw, files=files)]


def read_inventory(folder: Path) -> EmbeddedInventory:
    """Read ``ci/slipway/bootstrap/data``."""
    files = sorted((folder / "packages").rglob("*.yaml"))
    descriptions = tuple(load(path, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files)
    return EmbeddedInventory(folder, read_settings(folder / "settings.yaml"), descriptions)


def _needed_names(description: PackageDescription) -> set[str]:
    """What a package needs, and what packages that are built with it will."""
    exports = description.run_exports
    specs = (*description.depends, *exports.weak, *exports.strong, *exports.noarch)
    return {package_name(spec) for spec in specs} | description.tools


def _sort_by_tools(chosen: Iterable[PackageDescription]) -> tuple[PackageDescription, ...]:
    by_name: dict[str, list[PackageDescription]] = {}
    for description in chosen:
        by_name.setdefault(description.name, []).append(description)
    graph: Mapping[str, frozenset[str]] = {
        name: frozenset(tool for item in items for tool in item.tools) for name, items in by_name.items()
    }
    for name, tools in graph.items():
        if missing := sorted(tools - by_name.keys()):
            raise errors.ChannelError(f"no package is called `{missing[0]}`", where=f"{by_name[name][0].origin}: steps")
    try:
        order = tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise errors.ChannelError(f"these packages need each other as tools: {', '.join(error.args[1])}") from None
    return tuple(item for name in order for item in by_name[name])
