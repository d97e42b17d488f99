"""Build order: an output comes after the outputs of the recipe that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.errors import RecipeError
from slipway.recipe.hashes import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    hard = {name: _needs(name, listed, ("build", "host")) for name in names}
    soft = {name: _needs(name, listed, ("build", "host", "run")) for name in names}
    placed: list[str] = []
    remaining = list(names)
    while remaining:
        ready = next((name for edges in (soft, hard) for name in remaining if not edges[name] & set(remaining)), None)
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


def _circle(names: Sequence[str], edges: dict[str, set[str]]) -> list[str]:
    path = [names[0]]
    while True:
        following = next(other for other in names if other in edges[path[-1]])
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)
