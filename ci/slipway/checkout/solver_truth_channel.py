"""A channel's index from rendered outputs, with no package built: what the solver would see if all of them were there.

A rendered output lacks what a build adds: the run_exports of the packages that it is built with. They come from the
index of the dependencies, which is data, and from the outputs themselves.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import yaml
from rattler import BuildString, MatchSpec, PackageRecord, Version, VersionSpec

from slipway.base.errors import UsageError
from slipway.channel.package import PACKAGE_SUFFIX
from slipway.channel.repodata import write_repodata
from slipway.channel.specs import strict_spec
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.base.platform import Platform
    from slipway.model import RenderedOutput, RunExports

Record = dict[str, Any]

RECORD_KEYS = frozenset(
    ["version", "build", "build_number", "depends", "constrains", "subdir", "track_features", "run_exports"]
)


def read_dependencies(path: Path, platform: Platform) -> list[Record]:
    """Hand-written records: package name to a list of its builds, which are for `platform` unless they say more.

    Raises:
        UsageError: an unknown key, or a build without version or build string.
    """
    records = []
    for name, builds in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for build in builds:
            if unknown := set(build) - RECORD_KEYS:
                raise UsageError(f"`{name}` has an unknown key `{min(unknown)}`", where=str(path))
            if missing := {"version", "build"} - set(build):
                raise UsageError(f"`{name}` has no `{min(missing)}`", where=str(path))
            records.append(_record(str(name), {"subdir": platform.subdir, **build}))
    return records


def _record(name: str, facts: Mapping[str, Any]) -> Record:
    return {
        "name": name,
        "version": str(facts["version"]),
        "build": facts["build"],
        "build_number": facts.get("build_number", 0),
        "depends": list(facts.get("depends", ())),
        "constrains": list(facts.get("constrains", ())),
        "subdir": facts["subdir"],
        **({"track_features": facts["track_features"]} if "track_features" in facts else {}),
        "run_exports": facts.get("run_exports", {}),
    }


def output_records(outputs: Sequence[RenderedOutput], dependencies: Sequence[Record]) -> list[Record]:
    """One record for each output, its requirements completed with what its build and host sections export.

    Raises:
        UsageError: a package of the build or host section is neither an output nor among `dependencies`.
    """
    known: dict[str, list[Record]] = {}
    for record in dependencies:
        known.setdefault(record["name"], []).append(record)
    for output in outputs:
        facts = {
            "version": output.version,
            "build": output.build_string,
            "subdir": output.subdir,
            "run_exports": _exports(output.run_exports),
        }
        known.setdefault(output.name, []).append(_record(output.name, facts))
    return [
        _record(
            output.name,
            {
                "version": output.version,
                "build": output.build_string,
                "build_number": output.build_number,
                "subdir": output.subdir,
                "depends": [
                    *dict.fromkeys(strict_spec(spec) for spec in (*output.requirements.run, *_exported(output, known)))
                ],
                "constrains": list(map(strict_spec, output.requirements.run_constrained)),
            },
        )
        for output in outputs
    ]


def _exports(exports: RunExports) -> dict[str, list[str]]:
    return {"weak": list(exports.weak), "strong": list(exports.strong)}


def _exported(output: RenderedOutput, known: Mapping[str, list[Record]]) -> list[str]:
    """Strong exports of the build section, and both kinds of the host section."""
    found: list[str] = []
    for specs, kinds in ((output.requirements.build, ["strong"]), (output.requirements.host, ["weak", "strong"])):
        for spec in specs:
            record = _matching(spec, known, output)
            found += [export for kind in kinds for export in record["run_exports"].get(kind, ())]
    return found


def _matching(spec: str, known: Mapping[str, list[Record]], output: RenderedOutput) -> Record:
    """The newest build that `spec` takes, in the same CUDA where the package comes for several."""
    cuda = next((other for other in output.requirements.host if name_of(other) == "cuda-version"), None)
    cuda_version = cuda.split()[1] if cuda else None
    fitting = []
    for record in known.get(name_of(spec), ()):
        package = PackageRecord(
            name=record["name"],
            version=record["version"],
            build=BuildString(record["build"]),
            build_number=record["build_number"],
            subdir=record["subdir"],
        )
        wants = next((part.partition(" ")[2] for part in record["depends"] if name_of(part) == "cuda-version"), "")
        if MatchSpec(strict_spec(spec)).matches(package) and (not wants or _takes_version(wants, cuda_version)):
            fitting.append(record)
    if not fitting:
        raise UsageError(f"`{spec}`, which `{output.key}` is built with, is not among the dependencies")
    return fitting[-1]


def _takes_version(wanted: str, version: str | None) -> bool:
    return version is not None and VersionSpec(wanted).matches(Version(version))


def write_channel(folder: Path, records: Sequence[Record]) -> str:
    """Write an index of packages that nobody can download; returns the channel's address."""

    def shown(record: Record, key: str) -> Record:
        facts = {"sha256": hashlib.sha256(key.encode()).hexdigest(), "size": 1, "license": "MIT"}
        return {name: value for name, value in record.items() if name != "run_exports"} | facts

    named = ((f"{record['name']}-{record['version']}-{record['build']}", record) for record in records)
    write_repodata(folder, ((f"{key}{PACKAGE_SUFFIX}", shown(record, key)) for key, record in named))
    return folder.resolve().as_uri()
