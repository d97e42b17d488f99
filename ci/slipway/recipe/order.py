"""Build order: an output comes after the outputs of the recipe that it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from slipway.errors import RecipeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


def in_build_order(
    items: Sequence[T],
    *,
    name: Callable[[T], str],
    needs: Callable[[T], Sequence[str]],
    needs_first: Callable[[T], Sequence[str]],
    where: Callable[[T], str],
) -> tuple[T, ...]:
    """Sort by names, keeping the given order where nothing speaks against it.

    Args:
        needs: names that an item requires at all; obeyed where that makes no circle.
        needs_first: those among them that must be built before it.

    Raises:
        RecipeError: outputs need each other before either can be built.
    """
    names = list(dict.fromkeys(name(item) for item in items))
    hard = {own: {other for item in items if name(item) == own for other in needs_first(item)} for own in names}
    soft = {own: {other for item in items if name(item) == own for other in needs(item)} for own in names}
    placed: list[str] = []
    remaining = list(names)
    while remaining:
        ready = next(
            (own for edges in (soft, hard) for own in remaining if not (edges[own] - {own}) & set(remaining)), None
        )
        if ready is None:
            circle = _circle(remaining, hard)
            first = next(item for item in items if name(item) == circle[0])
            raise RecipeError(
                f"outputs need each other to be built: {' -> '.join(f'`{own}`' for own in circle)}", where=where(first),
                hint="move one of the requirements to `run`, or build both in one output",
            )  # fmt: skip
        placed.append(ready)
        remaining.remove(ready)
    position = {own: index for index, own in enumerate(placed)}
    return tuple(sorted(items, key=lambda item: position[name(item)]))


def _circle(names: Sequence[str], edges: dict[str, set[str]]) -> list[str]:
    path = [names[0]]
    while True:
        following = next(other for other in names if other in edges[path[-1]] and other != path[-1])
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)
