"""Comparisons, logic and choices between elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Var
from torch.onnx._rows import both, row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph

_COMPARISONS = {
    "eq": "Equal", "lt less": "Less", "le less_equal": "LessOrEqual", "gt greater": "Greater",
    "ge greater_equal": "GreaterOrEqual",
}  # fmt: skip


def _operands(g: Graph, a: Any, b: Any, op: str) -> tuple[Var, Var]:
    a, b = both(g, a, b)
    if a.dtype == torch.bool and op != "Equal":
        return g.cast(a, torch.int32), g.cast(b, torch.int32)
    return a, b


def _compare(names: str, op: str) -> None:
    @row(*names.split())
    def translate(g: Graph, a: Any, b: Any) -> Any:
        return g.op(op, *_operands(g, a, b, op))


for _names, _op in _COMPARISONS.items():
    _compare(_names, _op)


@row("ne", "not_equal")
def ne(g: Graph, a: Any, b: Any) -> Any:
    return g.op("Not", g.op("Equal", *both(g, a, b)))


def _logical(name: str) -> None:
    @row(f"logical_{name}")
    def translate(g: Graph, a: Any, b: Any) -> Any:
        return g.op(name.capitalize(), *both(g, a, b, torch.bool))


for _name in ("and", "or", "xor"):
    _logical(_name)


@row("isclose")
def isclose(g: Graph, a: Var, b: Var, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    kind = a.dtype if a.dtype.is_floating_point else torch.float64
    x, y = both(g, a, b, kind)
    allowed = g.op("Add", g.op("Mul", g.op("Abs", y), float(rtol)), float(atol))
    distance = g.op("Abs", g.op("Sub", x, y))
    close = g.op("And", g.op("LessOrEqual", distance, allowed), g.op("Not", g.op("IsInf", distance)))
    close = g.op("Or", close, g.op("Equal", x, y))
    if not equal_nan:
        return close
    return g.op("Or", close, g.op("And", g.op("IsNaN", x), g.op("IsNaN", y)))


@row("where")
def where(g: Graph, condition: Var, a: Any = None, b: Any = None, *, other: Any = None) -> Any:
    if a is None:
        places = g.op("NonZero", condition if condition.rank else g.unsqueeze(condition, [0]))
        return [g.squeeze(each, [0]) for each in g.split(places, [1] * len(g.results), 0)]
    x, y = both(g, a, other if b is None else b, g.dtype)
    return g.op("Where", g.cast(condition, torch.bool), x, y, dtype=g.dtype)


@row("masked_fill")
def masked_fill(g: Graph, x: Var, mask: Var, value: Any) -> Any:
    return g.op("Where", mask, g.cast(value, x.dtype), x, dtype=x.dtype)


@row("isin")
def isin(g: Graph, elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    x, tests = both(g, elements, test_elements)
    rank = elements.rank if isinstance(elements, Var) else 0
    same = g.op("Equal", g.unsqueeze(x, [rank]), g.op("Reshape", tests, [-1]))
    found = g.cast(g.reduce("ReduceMax", g.cast(same, torch.int32), [-1], False), torch.bool)
    return g.op("Not", found) if invert else found
