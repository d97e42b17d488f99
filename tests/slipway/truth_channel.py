"""A channel's index from rendered outputs, with no package built: what the solver would see if all of them were there.

A rendered output lacks what a build adds: the run_exports of the packages that it is built with. They come from the
index of the dependencies, which is data, and from the outputs themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from slipway.base.errors import UsageError
from slipway.base.schema import read_yaml
from slipway.channel import rattler
from slipway.channel.package import PACKAGE_SUFFIX
from slipway.channel.repodata import write_repodata
from slipway.channel.specs import strict_spec
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.base.platform import Platform
    from slipway.model import RenderedOutput

Record = dict[str, Any]


@dataclass(frozen=True)
class Build:
    """One build of a package, as the index tells of it; `run_exports` are specs by their kind, weak or strong."""

    version: str
    build: str
    build_number: int = 0
    depends: tuple[str, ...] = ()
    constrains: tuple[str, ...] = ()
    subdir: str | None = None
    track_features: str | None = None
    run_exports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def as_record(self, name: str) -> Record:
        """The record of a package with this name."""
        return {"name": name} | {key: value for key, value in asdict(self).items() if value is not None}


def read_dependencies(path: Path, platform: Platform) -> list[Record]:
    """Hand-written records: package name to a list of its builds, which are for `platform` unless they say more.

    Raises:
        UsageError: an unknown key, or a build without version or build string.
    """
    packages: Mapping[str, tuple[Build, ...]] = read_yaml(path, Mapping[str, tuple[Build, ...]])  # type: ignore[type-abstract]
    return [
        replace(build, subdir=build.subdir or platform.subdir).as_record(name)
        for name, builds in packages.items()
        for build in builds
    ]


def output_records(outputs: Sequence[RenderedOutput], dependencies: Sequence[Record]) -> list[Record]:
    """One record for each output, its requirements completed with what its build and host sections export.

    Raises:
        UsageError: a package of the build or host section is neither an output nor among `dependencies`.
    """
    known: dict[str, list[Record]] = {}
    for record in dependencies:
        known.setdefault(record["name"], []).append(record)
    for output in outputs:
        exports = {"weak": output.run_exports.weak, "strong": output.run_exports.strong}
        build = Build(output.version, output.build_string, subdir=output.subdir, run_exports=exports)
        known.setdefault(output.name, []).append(build.as_record(output.name))
    return [
        Build(
            output.version,
            output.build_string,
            output.build_number,
            depends=tuple(
                dict.fromkeys(strict_spec(spec) for spec in (*output.requirements.run, *_find_exports(output, known)))
            ),
            constrains=tuple(map(strict_spec, output.requirements.run_constrained)),
            subdir=output.subdir,
        ).as_record(output.name)
        for output in outputs
    ]


def _find_exports(output: RenderedOutput, known: Mapping[str, list[Record]]) -> list[str]:
    """Strong exports of the build section, and both kinds of the host section, but what the output ignores."""
    ignored = output.build.get("ignore_run_exports", ())
    found: list[str] = []
    for specs, kinds in ((output.requirements.build, ["strong"]), (output.requirements.host, ["weak", "strong"])):
        for spec in specs:
            record = _find_newest(spec, known, output)
            exports = [export for kind in kinds for export in record["run_exports"].get(kind, ())]
            found += [export for export in exports if name_of(export) not in ignored]
    return found


def _find_newest(spec: str, known: Mapping[str, list[Record]], output: RenderedOutput) -> Record:
    """The newest build that `spec` takes, in the same CUDA where the package comes for several."""
    cuda = next((other for other in output.requirements.host if name_of(other) == "cuda-version"), None)
    cuda_version = cuda.split()[1] if cuda else None
    fitting = []
    for record in known.get(name_of(spec), ()):
        package = rattler.PackageRecord(
            name=record["name"],
            version=record["version"],
            build=rattler.BuildString(record["build"]),
            build_number=record["build_number"],
            subdir=record["subdir"],
        )
        wants = next((part.partition(" ")[2] for part in record["depends"] if name_of(part) == "cuda-version"), "")
        if rattler.MatchSpec(strict_spec(spec)).matches(package) and (not wants or _takes_version(wants, cuda_version)):
            fitting.append(record)
    if not fitting:
        raise UsageError(f"`{spec}`, which `{output.key}` is built with, is not among the dependencies")
    return fitting[-1]


def _takes_version(wanted: str, version: str | None) -> bool:
    return version is not None and rattler.VersionSpec(wanted).matches(rattler.Version(version))


def write_channel(folder: Path, records: Sequence[Record]) -> str:
    """Write an index of packages that nobody can download; returns the channel's address."""

    def shown(record: Record, key: str) -> Record:
        facts = {"sha256": hashlib.sha256(key.encode()).hexdigest(), "size": 1, "license": "MIT"}
        return {name: value for name, value in record.items() if name != "run_exports"} | facts

    named = ((f"{record['name']}-{record['version']}-{record['build']}", record) for record in records)
    write_repodata(folder, ((f"{key}{PACKAGE_SUFFIX}", shown(record, key)) for key, record in named))
    return folder.resolve().as_uri()
