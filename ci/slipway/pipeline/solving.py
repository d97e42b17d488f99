"""The build and host environments of an output, without the recipe's own packages, and what they add to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from slipway.base.errors import SolveError
from slipway.base.platform import LINUX_64
from slipway.channel.taken import run_exports_of
from slipway.pipeline.unsolvable import explain
from slipway.recipe.defaults import target_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from slipway.base.platform import Platform
    from slipway.channel.environments import Solution
    from slipway.model import RenderedOutput


class Solve(Protocol):
    """What picks the packages of an environment."""

    def __call__(self, specs: tuple[str, ...], platform: Platform) -> Solution:
        """Those that satisfy `specs` on `platform`."""


@dataclass(frozen=True)
class BuildEnvironments:
    """The environments of one output.

    Attributes:
        run_exports: what the packages that they are asked for by name add to the run requirements.
    """

    build: Solution
    host: Solution
    run_exports: tuple[str, ...]


def solve_environments(output: RenderedOutput, own_names: Collection[str], solve: Solve) -> BuildEnvironments:
    """The build and host environments of `output`.

    Args:
        own_names: of all outputs of the recipe: no solver is asked for those, which need not exist yet.

    Raises:
        SolveError: one of them has no solution.
    """
    requirements, target = output.requirements, target_of(output.variant, LINUX_64)
    build = _solve(output, "build", _without(requirements.build, own_names), partial(solve, platform=LINUX_64))
    strong = tuple(_run_exports(build, requirements.build, ("strong",), output))
    needed = (*_without(requirements.host, own_names), *_without(strong, own_names))
    host = _solve(output, "host", needed, partial(solve, platform=target))
    if output.noarch:
        return BuildEnvironments(build, host, tuple(_run_exports(host, requirements.host, ("noarch",), output)))
    from_host = _run_exports(host, (*requirements.host, *strong), ("strong", "weak"), output)
    return BuildEnvironments(build, host, tuple(dict.fromkeys((*strong, *from_host))))


def _solve(
    output: RenderedOutput, section: str, specs: tuple[str, ...], solve: Callable[[tuple[str, ...]], Solution]
) -> Solution:
    try:
        return solve(specs)
    except SolveError as error:
        raise explain(error, output, section, specs) from error


def _without(specs: Sequence[str], names: Collection[str]) -> tuple[str, ...]:
    """The specs of packages that are not among `names`: those count by what they are made from."""
    return tuple(spec for spec in specs if spec.split()[0] not in names)


def _run_exports(
    solution: Solution, specs: Sequence[str], kinds: Sequence[str], output: RenderedOutput
) -> Iterator[str]:
    """What the packages that `specs` name add to later sections."""
    named = {spec.split()[0] for spec in specs} - _names(output, "ignore_run_exports_from")
    ignored = _names(output, "ignore_run_exports")
    packages = {package.name: package for package in solution.packages}
    for record in solution.records:
        if record.name.normalized in named:
            exports = run_exports_of(packages[record.name.normalized], record)
            yield from (spec for kind in kinds for spec in exports.get(kind) or () if spec.split()[0] not in ignored)


def _names(output: RenderedOutput, key: str) -> set[str]:
    return {str(name).split()[0] for name in output.build.get(key) or ()}
