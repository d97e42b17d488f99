"""What is around a package when it runs: the environment that the solver picks for it, and the release before it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from slipway.base.files import hash_file
from slipway.channel import rattler
from slipway.channel.archive import read_members
from slipway.verify.facts import Inventory, read_inventory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from slipway.channel.taken import SolvedPackage
    from slipway.verify.facts import PackageFacts


_RUNTIME_LINKS = frozenset(f"lib/{name}" for name in ("libgomp.so.1", "libiomp5.so", "libomp.so", "libomp5.so"))
"""Links whose ends matter: one OpenMP runtime may go under another one's name."""

_HASH = re.compile(r"h[0-9a-f]{7,}")


@dataclass(frozen=True)
class Surroundings:
    """A solved environment, without the package itself.

    Attributes:
        packages: name -> what it brings.
        previous: the last release of the package, where there is one.
    """

    packages: Mapping[str, Inventory] = field(default_factory=dict)
    previous: PackageFacts | None = None

    @property
    def libraries(self) -> dict[str, str]:
        """File name of each shared library -> name of the package that brings it."""
        return {library: name for name, found in self.packages.items() for library in found.libraries}


def read_surroundings(
    packages: Iterable[SolvedPackage], name: str, *, previous: PackageFacts | None = None
) -> Surroundings:
    """Look into every package of a solution but `name` itself.

    Where links between libraries lead is read from local packages only: metadata does not say it.

    Raises:
        IntegrityError: one of them is damaged.
    """
    found = {}
    for package in packages:
        if package.name != name:
            location = _location(package.url)
            inventory = read_inventory(location)
            if isinstance(location, Path) and _RUNTIME_LINKS.intersection(inventory.links):
                targets = {member.path: member.target for member in read_members(location) if member.target}
                inventory = replace(inventory, targets=targets)
            found[package.name] = inventory
    return Surroundings(found, previous)


def _location(url: str) -> Path | str:
    return Path(unquote(urlsplit(url).path)) if url.startswith("file://") else url


def find_previous(channel: Path, facts: PackageFacts) -> Path | None:
    """The release to compare `facts` with: of the same name and sort of build, the newest in the local `channel`.

    The sort of a build is its string without hash and number: ``mkl``, ``cuda130``, ``py311``. The package itself,
    recognised by its bytes, is no predecessor of its own, and neither is a later version.
    """
    most = rattler.Version(str(facts.index.get("version", "0")))
    sort = _sort_of_build(str(facts.index.get("build", "")))
    found: list[tuple[rattler.Version, float, Path]] = []
    for path in (channel / str(facts.index.get("subdir", ""))).glob(f"{facts.package}-*.conda"):
        if not path.is_file():
            continue  # a link to what has gone
        name, version, build = path.stem.rsplit("-", 2)
        if name == facts.package and rattler.Version(version) <= most and _sort_of_build(build) == sort:
            found.append((rattler.Version(version), path.stat().st_mtime, path))
    for *_, path in sorted(found, reverse=True):
        if path.stat().st_size != facts.size or not _same_bytes(path, facts):
            return path
    return None


def _same_bytes(path: Path, facts: PackageFacts) -> bool:
    return hash_file(path) == facts.sha256


def _sort_of_build(build: str) -> str:
    return "_".join(part for part in build.split("_") if not part.isdigit() and not _HASH.fullmatch(part))


def resolve_link(path: str, target: str) -> str:
    """Where the symbolic link at `path` leads, as a path of the prefix."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
