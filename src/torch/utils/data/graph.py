"""Which pipes a pipe reads from."""

from __future__ import annotations

from typing import Any

from torch.utils.data.datapipes.datapipe import IterDataPipe, MapDataPipe

__all__ = ["traverse", "traverse_dps"]


def _found_in(value: Any, seen: set[int]) -> list[Any]:
    """The pipes in an attribute, or in the lists, tuples, sets and dicts that it is made of."""
    if id(value) in seen:
        return []
    if isinstance(value, (IterDataPipe, MapDataPipe)):
        return [value]
    seen.add(id(value))
    parts: Any = ()
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    return [pipe for part in parts for pipe in _found_in(part, seen)]


def _traverse(pipe: Any, seen: set[int]) -> dict[int, Any]:
    if id(pipe) in seen:
        return {}
    seen = {*seen, id(pipe)}
    sources: dict[int, Any] = {}
    for value in vars(pipe).values():
        for source in _found_in(value, set()):
            sources.update(_traverse(source, seen))
    return {id(pipe): (pipe, sources)}


def traverse_dps(datapipe: Any) -> dict[int, Any]:
    """{id: (pipe, the same for the pipes that it reads from)}."""
    return _traverse(datapipe, set())


def traverse(datapipe: Any, only_datapipe: bool | None = None) -> dict[int, Any]:
    """The old form of `traverse_dps`."""
    return traverse_dps(datapipe)
