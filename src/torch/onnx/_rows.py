"""The table: which functions of torch have a form in ONNX, and which function writes it.

A row is a function `(graph, *arguments) -> Var or list of Vars` with PyTorch's arguments. Where it gives another
dtype than the recorded result has, a Cast is added.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.onnx._graph import Graph, Var

TABLE: dict[str, Row] = {}


@dataclass(frozen=True)
class Row:
    """A translation. `random`: gives other numbers each time; `data_sized`: the result's sizes depend on values."""

    function: Callable[..., Any]
    family: str
    opset: int = 17
    random: bool = False
    data_sized: bool = False


def row(*names: str, opset: int = 17, random: bool = False, data_sized: bool = False) -> Callable[[Any], Any]:
    """Lists the function as the translation of `names`, from `opset` on."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        family = function.__module__.rpartition(".")[2]
        for name in names:
            assert name not in TABLE, name
            TABLE[name] = Row(function, family, opset, random, data_sized)
        return function

    return add


def listed(arguments: tuple[Any, ...]) -> list[Any]:
    """Sizes or dimensions that may be given one by one or as one list."""
    if len(arguments) == 1 and isinstance(arguments[0], (list, tuple)):
        return list(arguments[0])
    return list(arguments)


def axes_of(dim: Any, rank: int) -> list[int] | None:
    """Dimensions as a list of numbers that are not negative; None for all."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return None
    return [each % max(rank, 1) for each in (dim if isinstance(dim, (list, tuple)) else [dim])]


def common_type(*values: Any) -> torch.dtype:
    """The dtype in which torch computes with Vars and numbers."""
    result = functools.reduce(_join, (_stand_in(each) for each in values))
    return result.dtype if isinstance(result, torch.Tensor) else torch.tensor(result).dtype


def _stand_in(value: Any) -> Any:
    """What promotes as `value` does."""
    if isinstance(value, (bool, int, float, complex, torch.Tensor)):
        return value
    return torch.empty((1,) * min(len(value.shape or ()), 1), dtype=value.dtype) if hasattr(value, "dtype") else 0


def _join(first: Any, second: Any) -> Any:
    rank = max(each.dim() if isinstance(each, torch.Tensor) else 0 for each in (first, second))
    if not rank and not any(isinstance(each, torch.Tensor) for each in (first, second)):
        return first + second
    return torch.empty((1,) * rank, dtype=torch.result_type(first, second))


def both(graph: Graph, a: Any, b: Any, dtype: torch.dtype | None = None) -> tuple[Var, Var]:
    """Two operands in one dtype: torch's, unless it is said."""
    kind = dtype or common_type(a, b)
    return graph.cast(a, kind), graph.cast(b, kind)
