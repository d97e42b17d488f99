"""Hotfixes: what the indexes of a channel say otherwise than its packages, as data.

A package that turned out wrong is not built again for a requirement that its name does not change: the index says it.

    hotfixes:
      - packages: libtorch 2.13.0        # a match spec
        reason: MKL 2026 took symbols away
        replace: {mkl: "mkl <2026"}      # a requirement, by its name or as it is written, by another one
        depends: [_openmp_mutex]         # more requirements
        constrains: ["libtorch-cuda 2.13.0"]
        revoke: true                     # nothing can be installed with it any more; its file stays
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - `read_yaml` reads the annotations
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from slipway.base.errors import ChannelError
from slipway.base.schema import read_yaml
from slipway.channel import rattler
from slipway.channel.specs import strict_spec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

REVOKED = "package_has_been_revoked"
"""The requirement of a revoked package, which conda's tools know: no package is called so."""


@dataclass(frozen=True)
class Hotfix:
    """One entry of the file.

    Attributes:
        packages: which packages, as a match spec.
        reason: why, for people.
        replace: requirements (by name, or whole) and what stands in their place; an empty text takes one out.
        depends: requirements that are added.
        constrains: constraints that are added.
        revoke: whether the package can no longer be installed.
    """

    packages: str
    reason: str
    replace: Mapping[str, str] = field(default_factory=dict)
    depends: tuple[str, ...] = ()
    constrains: tuple[str, ...] = ()
    revoke: bool = False


@dataclass(frozen=True)
class Hotfixes:
    """The file."""

    hotfixes: tuple[Hotfix, ...] = ()


def load_hotfixes(path: Path) -> tuple[Hotfix, ...]:
    """The hotfixes of a YAML file.

    Raises:
        UsageError: it is not of that form.
    """
    return read_yaml(path, Hotfixes).hotfixes


def apply_hotfixes(hotfixes: Iterable[Hotfix], records: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The records by path, as the indexes tell them.

    Raises:
        ChannelError: a hotfix is no match spec, or does not change anything.
    """
    patched = {path: dict(record) for path, record in records.items()}
    for hotfix in hotfixes:
        spec = _parse(hotfix)
        matched = [record for record in patched.values() if matches_record(spec, record)]
        replaced = sum([_replace(record, hotfix.replace) for record in matched])  # in all of them
        if matched and hotfix.replace and not replaced:
            raise ChannelError(
                f"a hotfix replaces {', '.join(map(repr, hotfix.replace))}, which none of its packages requires",
                where=f"the hotfix of `{hotfix.packages}`",
            )
        for record in matched:
            for key, added in (("depends", hotfix.depends), ("constrains", hotfix.constrains)):
                if added:
                    record[key] = [*record.get(key, []), *(one for one in added if one not in record.get(key, []))]
            if hotfix.revoke:
                record["revoked"] = True
                record["depends"] = [*record.get("depends", []), REVOKED]
    return patched


def find_useless(hotfixes: Iterable[Hotfix], records: Mapping[str, Mapping[str, Any]]) -> list[Hotfix]:
    """The hotfixes that match no package."""
    return [one for one in hotfixes if not any(matches_record(_parse(one), record) for record in records.values())]


def _replace(record: dict[str, Any], replacements: Mapping[str, str]) -> int:
    count = 0
    for key in ("depends", "constrains"):
        new = []
        for spec in record.get(key, []):
            found = replacements.get(spec, replacements.get(spec.split(" ")[0]))
            count += found is not None
            new += [spec] if found is None else [found] if found else []
        if key in record:
            record[key] = new
    return count


def _parse(hotfix: Hotfix) -> rattler.MatchSpec:
    try:
        return rattler.MatchSpec(strict_spec(hotfix.packages))
    except rattler.exceptions.InvalidMatchSpecError as error:
        raise ChannelError(f"no match spec: {error}", where=f"the hotfix of `{hotfix.packages}`") from error


def matches_record(spec: rattler.MatchSpec, record: Mapping[str, Any]) -> bool:
    """Whether a match spec means the package of a record."""
    build = rattler.BuildString(str(record["build"]))
    name, version, number = str(record["name"]), str(record["version"]), int(record["build_number"])
    return spec.matches(rattler.PackageRecord(name, version, build, number, str(record["subdir"])))
