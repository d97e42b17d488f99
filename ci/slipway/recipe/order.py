"""Build order: an output comes after the outputs of the recipe that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from slipway.recipe.stages import Candidate


def in_build_order(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Sort by name, keeping the recipe's order where nothing speaks against it.

    What an output's build or host requirements name comes before it; what its run requirements name does too, unless
    that makes a circle.

    Raises:
        RecipeError: outputs need each other before either can be built.
    """
    listed = sorted(candidates, key=_position)
    names = list(dict.fromkeys(candidate.output.name for candidate in listed))
    hard = {name: _needs(name, listed, ("build", "host")) & set(names) for name in names}
    soft = {name: _needs(name, listed, ("run",)) & set(names) for name in names}
    either = {name: hard[name] | soft[name] for name in names}
    before = {name: hard[name] | {other for other in soft[name] if name not in _reach(other, either)} for name in names}
    placed: list[str] = []
    remaining = list(names)
    while remaining:
        ready = next((name for name in remaining if before[name] <= set(placed)), None)
        if ready is None:
            circle = _circle(remaining, hard)
            where = next(candidate.output.where for candidate in listed if candidate.output.name == circle[0])
            raise RecipeError(
                f"outputs need each other to be built: {' -> '.join(f'`{name}`' for name in circle)}", where=where,
                hint="move one of the requirements to `run`, or build both in one output",
            )  # fmt: skip
        placed.append(ready)
        remaining.remove(ready)
    return tuple(sorted(listed, key=lambda candidate: placed.index(candidate.output.name)))


def _position(candidate: Candidate) -> tuple[bool, int]:
    index = candidate.output.index
    return (index is None, index or 0)


def _needs(name: str, candidates: Sequence[Candidate], sections: Sequence[str]) -> set[str]:
    own = [candidate.output.requirements for candidate in candidates if candidate.output.name == name]
    return {name_of(spec) for part in own for section in sections for spec in part[section]} - {name}


def _reach(start: str, edges: Mapping[str, set[str]]) -> set[str]:
    """Everything that `start` needs, directly or not, itself included."""
    found, waiting = {start}, [start]
    while waiting:
        following = edges[waiting.pop()] - found
        found |= following
        waiting.extend(following)
    return found


def _circle(names: Sequence[str], edges: Mapping[str, set[str]]) -> list[str]:
    """One circle among `names`; there is at least one."""

    def next_around(name: str) -> str | None:
        return next((other for other in sorted(edges[name]) if name in _reach(other, edges)), None)

    path = [next(name for name in names if next_around(name) is not None)]
    while True:
        following = next_around(path[-1])
        assert following is not None, "a circle goes on"
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)
