"""The packages that a build takes: solved, fetched and checked before anything of them is linked or run.

rattler-build makes the environments itself. It gets a channel with the packages that were picked for them, whose
archives are nowhere, and a cache that holds their checked files: nothing else can reach the build, and no network is
needed for it.
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from slipway.base.errors import SolveError
from slipway.base.events import Phase
from slipway.base.platform import LINUX_64
from slipway.channel.environments import solve
from slipway.channel.repodata import write_repodata
from slipway.channel.taken import BUILDS, fill_cache_with_links, take_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from slipway.base.platform import Platform
    from slipway.channel.taken import SolvedPackage, TakenPackage


class LockedChannel:
    """Channel and cache for one build, in two new folders below `place`."""

    def __init__(
        self,
        place: Path,
        channels: Sequence[str],
        environ: Mapping[str, str],
        *,
        what: str,
        target: Platform = LINUX_64,
    ) -> None:
        self.folder = place / "channel"
        self.cache = place / "rattler-cache"
        self._channels = tuple(channels)
        self._environ = environ
        self._what = what
        self._target = target
        self._taken: dict[str, TakenPackage] = {}
        self._records: dict[str, Mapping[str, Any]] = {}
        (self.cache / "pkgs").mkdir(parents=True)
        write_repodata(self.folder, ())

    @property
    def url(self) -> str:
        """Its address."""
        return self.folder.as_uri()

    def add_build(self, requirements: Mapping[str, Any], enter: Callable[[Phase], None], *, merged: bool) -> None:
        """Take what the solver picks for the build and host environments of a v1 recipe's `requirements`.

        Args:
            enter: called when another phase of that begins.
            merged: whether both are one environment.

        Raises:
            SolveError, IntegrityError, NetworkError, ChannelError: see `solve` and `take_packages`.
        """
        build, host = requirements["build"], requirements["host"]
        if merged:
            self._add([*build, *host], enter=enter)
        else:
            exported = _strong_run_exports(self._add(build, enter=enter), requirements)
            self._add([*host, *exported], self._target, enter=enter)

    def add_test(self, requirements: Sequence[str], package: str, built: str, tools: Sequence[str] = ()) -> None:
        """Take what the solver picks where `package`, which the channel at the address `built` holds, is tested.

        The package itself is not taken: it is unpacked from its own archive where it was built.

        Args:
            tools: what a test of another platform's package runs on this one.
        """
        self._add(tools)
        self._add([package, *requirements], self._target, first=built, without=package.split()[0])

    def _add(
        self,
        specs: Sequence[str],
        platform: Platform = LINUX_64,
        *,
        first: str | None = None,
        without: str = "",
        enter: Callable[[Phase], None] = lambda phase: None,
    ) -> list[TakenPackage]:
        if not specs:
            return []
        enter(Phase.SOLVE)
        try:
            solution = solve(specs, (*filter(None, [first]), *self._channels), platform=platform)
        except SolveError as error:
            error.message = f"`{self._what}`: {error.message}"
            raise
        kept = [
            (package, record)
            for package, record in zip(solution.packages, solution.records, strict=True)
            if package.name != without
        ]
        enter(Phase.TAKE)
        missing = [package for package, _ in kept if _identity(package) not in self._taken]
        new = take_packages(missing, self._environ, shelf=BUILDS)
        self._taken |= dict(zip(map(_identity, missing), new, strict=True))
        taken = [self._taken[_identity(package)] for package, _ in kept]
        for (package, record), one in zip(kept, taken, strict=True):
            said = {"run_exports": _run_exports(one)} | json.loads(record.to_json()) | {"sha256": one.sha256}
            self._records[PurePosixPath(package.url).name] = said
        write_repodata(self.folder, self._records.items())
        fill_cache_with_links(new, self.cache / "pkgs")
        return taken


def _identity(package: SolvedPackage) -> str:
    return package.sha256 or package.url


def _strong_run_exports(build: Iterable[TakenPackage], requirements: Mapping[str, Any]) -> Iterator[str]:
    """What the packages that the build section names add to the host environment."""
    named = {str(spec).split()[0].lower() for spec in requirements["build"]}
    ignored = requirements.get("ignore_run_exports") or {}
    for package in build:
        name = str(package.judged.index["name"]).lower()
        if name in named and name not in ignored.get("from_package", ()):
            strong = _run_exports(package).get("strong") or ()
            yield from (spec for spec in strong if spec.split()[0] not in ignored.get("by_name", ()))


def _run_exports(package: TakenPackage) -> dict[str, Any]:
    """What a package says that it adds to others."""
    file = package.folder / "info" / "run_exports.json"
    exports = json.loads(file.read_bytes()) if file.is_file() else {}
    return exports if isinstance(exports, dict) else {}
