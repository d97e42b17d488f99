"""Outputs that only list `files`: the top level's script runs once, and each of them takes its part of what it made.

conda-build keeps what the top level installed, and copies it into the prefix of every output before its files are
picked. Here the top level is built as a package of its own, which no channel of anybody's ever holds: it is installed
into the host environment of each such output, so that paths and prefixes are right there, and the files that the
output lists are packed although they belong to another package.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from slipway.base.errors import BuildError
from slipway.channel.package import read_package_digest, read_paths
from slipway.channel.specs import strict_spec
from slipway.source import patterns as file_patterns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.channel.folder import Channel
    from slipway.model import RenderedOutput

SUFFIX = "-staging"
"""Put behind the top level's name, so that an output of that name is another package."""


@dataclass(frozen=True)
class Staged:
    """What a staged output is packed from.

    Attributes:
        spec: the match spec of the top level's package.
        files: those of its files that the output takes.
        channel: address of the channel that holds it.
    """

    spec: str
    files: tuple[str, ...]
    channel: str


def as_package(staging: RenderedOutput) -> RenderedOutput:
    """The top level as it is packed: under a name of its own, which its script does not see."""
    variables = {"PKG_NAME": staging.name, **staging.script_env}
    return replace(staging, name=f"{staging.name}{SUFFIX}", script_env=variables)


def find_built(channel: Channel, staging: RenderedOutput, digest: str | None) -> Path | None:
    """The package that an earlier output of the same run was taken from, if it was made from just that."""
    package = as_package(staging)
    path = channel.path_of(package.subdir, package.key)
    if digest is None or not path.is_file() or channel.find_damage(path) is not None:
        return None
    return path if read_package_digest(path) == digest else None


def staged(output: RenderedOutput, channel: Channel, path: Path) -> Staged:
    """What `output` takes from its top level's package at `path` in `channel`.

    Raises:
        BuildError: none of the files that it lists is there.
    """
    assert output.staging is not None
    names = sorted(read_paths(path))
    files = pick(names, output.build.get("files", ()), output.build.get("files_excluded", ()))
    if not files:
        raise BuildError(
            f"`{output.name}` lists {', '.join(f'`{pattern}`' for pattern in output.build.get('files', ()))}, "
            f"and the top level installs no such file",
            where=str(output.recipe_path),
            hint=f"it installs {_shortened(names)}",
        )
    package = as_package(output.staging)
    return Staged(f"{package.name} =={package.version} {package.build_string}", tuple(files), channel.url)


def add_top_level(requirements: dict[str, Any], staging: RenderedOutput) -> None:
    """What the top level's script needs, which does not count for what the output runs with."""
    given = {str(spec).split()[0] for section in ("build", "host") for spec in requirements[section]}
    ignored: dict[str, Any] = requirements.setdefault("ignore_run_exports", {})
    for section, specs in (("build", staging.requirements.build), ("host", staging.requirements.host)):
        added = [spec for spec in specs if spec.split()[0] not in given]
        requirements[section] += [strict_spec(spec) for spec in added]
        ignored["from_package"] = [*ignored.get("from_package", ()), *(spec.split()[0] for spec in added)]


def pick(names: Sequence[str], included: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """The names that a pattern of `included` takes and none of `excluded`.

    A pattern is a path from the prefix, in which ``*`` stays in its folder and ``**`` does not; a folder's name takes
    all that is below it.
    """

    def spec(patterns: Sequence[str]) -> file_patterns.GitIgnoreSpec:
        return file_patterns.GitIgnoreSpec.from_lines("/" + pattern.lstrip("/") for pattern in patterns)

    takes, leaves = spec(included), spec(excluded)
    return [name for name in names if takes.match_file(name) and not leaves.match_file(name)]


def _shortened(names: Sequence[str]) -> str:
    if not names:
        return "nothing"
    more = len(names) - 8
    return ", ".join(names[:8]) + (f" and {more} more" if more > 0 else "")
