"""Nested dicts and lists, and the names of their leaves ("optim.param_groups.0.lr")."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class Leaf(NamedTuple):
    """A value, the dict or list that holds it, under which key, and its path from the top."""

    value: Any
    holder: Any
    key: Any
    path: tuple[str | int, ...]


def _is_leaf(value: Any) -> bool:
    """Dicts are taken apart, and lists in which there are tensors or dicts."""
    if isinstance(value, dict):
        return False
    return not isinstance(value, list) or all(not isinstance(part, torch.Tensor) and _is_leaf(part) for part in value)


def leaves_of(state_dict: dict[Any, Any]) -> dict[str, Leaf]:
    """The leaves by name. ValueError if two have the same."""
    found: dict[str, Leaf] = {}

    def visit(holder: Any, key: Any, path: tuple[str | int, ...]) -> None:
        value = holder[key]
        if isinstance(value, dict):
            for inner in value:
                visit(value, inner, (*path, str(inner)))
        elif not _is_leaf(value):
            for number in range(len(value)):
                visit(value, number, (*path, number))
        else:
            name = ".".join(map(str, path))
            if name in found:
                raise ValueError(f"duplicated flatten key {name}")
            found[name] = Leaf(value, holder, key, path)

    for key in state_dict:
        visit(state_dict, key, (str(key),))
    return found


def nest(leaves: dict[str, Any], paths: dict[str, tuple[str | int, ...]]) -> dict[str, Any]:
    """The nested dict of leaves, by their paths."""
    top: dict[str, Any] = {}
    for name, value in leaves.items():
        holder: Any = top
        path = paths.get(name, (name,))
        for step, following in zip(path, [*path[1:], None], strict=True):
            fresh: Any = value if following is None else [] if isinstance(following, int) else {}
            if isinstance(holder, list):
                holder.extend([None] * (step + 1 - len(holder)))  # type: ignore[operator]
                there = holder[step]  # type: ignore[index]
            else:
                there = holder.get(step)
            if there is None or following is None:
                holder[step] = there = fresh
            holder = there
    return top
