"""Which packages of a channel go, if the last builds of each are to stay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from slipway.channel import indexes, rattler
from slipway.channel.hotfixes import matches_record
from slipway.channel.specs import strict_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from slipway.channel.catalogue import Catalogue, CataloguedPackage

_HASH_AND_NUMBER = re.compile(r"(^|_)(pyh|h)[0-9a-f]{7}(?=_|$)|(^|_)\d+$")


def variant_of(package: CataloguedPackage) -> tuple[str, str, str]:
    """What is a line of builds: subdir, name, and the build string without its hash and number (``cuda130``)."""
    record = package.record
    return str(record["subdir"]), str(record["name"]), _HASH_AND_NUMBER.sub("", str(record["build"]))


def find_old(catalogue: Catalogue, keep: int) -> tuple[str, ...]:
    """The paths of packages that go, if the newest `keep` builds of each variant stay, and all that these need."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    by_newness = sorted(catalogue.packages, key=lambda path: indexes.newness(catalogue.packages[path]), reverse=True)
    for path in by_newness:
        lines.setdefault(variant_of(catalogue.packages[path]), []).append(path)
    kept = {path for line in lines.values() for path in line[:keep]}
    waiting = sorted(kept)
    while waiting:
        for needed in _needed(waiting.pop(), by_newness, kept, catalogue.packages):
            kept.add(needed)
            waiting.append(needed)
    return tuple(path for path in catalogue.packages if path not in kept)


def _needed(path: str, by_newness: list[str], kept: set[str], packages: Mapping[str, CataloguedPackage]) -> list[str]:
    """For each requirement of a package that only packages satisfy that would go, the newest of those."""
    found = []
    for requirement in packages[path].record.get("depends", ()):
        name = requirement.split(" ")[0]
        of_name = [one for one in by_newness if packages[one].record["name"] == name]
        if not of_name:
            continue
        spec = rattler.MatchSpec(strict_spec(requirement))
        satisfying = [one for one in of_name if matches_record(spec, packages[one].record)]
        if satisfying and kept.isdisjoint(satisfying):
            found.append(satisfying[0])
    return found
