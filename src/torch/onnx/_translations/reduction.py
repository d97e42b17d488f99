"""Functions that join the elements along dimensions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Var
from torch.onnx._rows import axes_of, row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph


def _reduced(kind: str) -> Any:
    def translate(
        g: Graph, x: Var, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None
    ) -> Any:
        return g.reduce(kind, g.cast(x, g.dtype), axes_of(dim if axis is None else axis, x.rank), keepdim)

    return translate


for _name, _kind in (("sum", "ReduceSum"), ("mean", "ReduceMean"), ("prod", "ReduceProd")):
    row(_name)(_reduced(_kind))


@row("nansum")
def nansum(g: Graph, x: Var, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    clean = (
        g.op("Where", g.op("IsNaN", x), g.constant(0.0, x.dtype), x, dtype=x.dtype) if x.dtype.is_floating_point else x
    )
    return g.reduce("ReduceSum", g.cast(clean, g.dtype), axes_of(dim, x.rank), keepdim)


@row("amax")
def amax(g: Graph, x: Var, dim: Any = (), keepdim: bool = False) -> Any:
    return _extreme(g, "ReduceMax", x, dim, keepdim)


@row("amin")
def amin(g: Graph, x: Var, dim: Any = (), keepdim: bool = False) -> Any:
    return _extreme(g, "ReduceMin", x, dim, keepdim)


def _extreme(g: Graph, kind: str, x: Var, dim: Any, keepdim: bool) -> Any:
    work = g.cast(x, torch.int32) if x.dtype in (torch.bool, torch.uint8, torch.int16) else x
    return g.cast(g.reduce(kind, Var(work.name, work.dtype, x.shape), axes_of(dim, x.rank), keepdim), x.dtype)


@row("aminmax")
def aminmax(g: Graph, x: Var, *, dim: Any = None, keepdim: bool = False) -> Any:
    return [_extreme(g, kind, x, dim, keepdim) for kind in ("ReduceMin", "ReduceMax")]


def _with_places(name: str, kind: str, pair: str, place: str) -> None:
    @row(name)
    def translate(g: Graph, x: Var, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, Var):
            return g.op(pair, g.cast(x, g.dtype), g.cast(dim, g.dtype))
        if dim is None:
            return _extreme(g, kind, x, None, False)
        if x.rank == 0:
            return [x, g.constant(0)]
        work = g.cast(x, torch.int32) if x.dtype in (torch.bool, torch.uint8) else x
        return [_extreme(g, kind, x, dim, keepdim), g.op(place, work, axis=dim % x.rank, keepdims=int(keepdim))]


_with_places("max", "ReduceMax", "Max", "ArgMax")
_with_places("min", "ReduceMin", "Min", "ArgMin")


def _place(name: str, op: str) -> None:
    @row(name)
    def translate(g: Graph, x: Var, dim: int | None = None, keepdim: bool = False) -> Any:
        work = g.cast(x, torch.int32) if x.dtype in (torch.bool, torch.uint8) else x
        if x.rank == 0:
            return g.constant(0)
        if dim is None:
            found = g.op(op, g.op("Reshape", work, [-1]), axis=0, keepdims=0)
            return g.reshape(found, [1] * x.rank) if keepdim else found
        return g.op(op, work, axis=dim % x.rank, keepdims=int(keepdim))


_place("argmax", "ArgMax")
_place("argmin", "ArgMin")


def _median(g: Graph, x: Var, dim: int, keepdim: bool) -> list[Any]:
    axis = dim % x.rank
    size = x.size(axis)
    parts = g.op("TopK", x, [(size + 1) // 2], axis=axis, largest=0, sorted=1, outputs=2)
    ends = [
        g.slice(part, axis, (size - 1) // 2, (size + 1) // 2) for part in (parts[0], Var(parts[1].name, torch.int64))
    ]
    ends = [g.slice(part, axis, -1, 2**63 - 1) for part in ends]
    return ends if keepdim else [g.squeeze(part, [axis]) for part in ends]


@row("median")
def median(g: Graph, x: Var, dim: int | None = None, keepdim: bool = False) -> Any:
    if x.rank == 0:
        return [x, g.constant(0)][: len(g.results)]
    if dim is None:
        count = None if None in (x.shape or ()) else math.prod(x.shape or ())
        return _median(g, Var(g.op("Reshape", x, [-1]).name, x.dtype, (count,)), 0, False)[0]
    return _median(g, x, dim, keepdim)


@row("nanmean")
def nanmean(g: Graph, x: Var, dim: Any = None, keepdim: bool = False, **_: Any) -> Any:
    axes, known = axes_of(dim, x.rank), g.op("Not", g.op("IsNaN", x))
    clean = g.op("Where", known, x, g.constant(0.0, x.dtype), dtype=x.dtype)
    total, count = (
        g.reduce("ReduceSum", Var(each.name, x.dtype, x.shape), axes, keepdim)
        for each in (clean, g.cast(known, x.dtype))
    )
    return g.op("Div", total, count)


@row("_unique2", data_sized=True)
def unique(g: Graph, x: Var, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    values, _, inverse, counts = g.op("Unique", g.op("Reshape", x, [-1]), sorted=1, outputs=4)
    back = g.op("Reshape", Var(inverse.name, torch.int64), g.sizes_of(x))
    return [values, back, Var(counts.name, torch.int64)][: len(g.results)]


@row("unique_dim", data_sized=True)
def unique_slices(
    g: Graph, x: Var, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Any:
    values, _, inverse, counts = g.op("Unique", x, axis=dim % x.rank, sorted=1, outputs=4)
    return [values, Var(inverse.name, torch.int64), Var(counts.name, torch.int64)][: len(g.results)]


def _truth(name: str, kind: str) -> None:
    @row(name)
    def translate(g: Graph, x: Var, dim: Any = None, keepdim: bool = False) -> Any:
        # Sums and products, which are right of nothing, too.
        truth = g.cast(g.cast(x, torch.bool), torch.int32)
        return g.cast(g.reduce(kind, Var(truth.name, truth.dtype, x.shape), axes_of(dim, x.rank), keepdim), torch.bool)


_truth("any", "ReduceSum")
_truth("all", "ReduceProd")


@row("count_nonzero")
def count_nonzero(g: Graph, x: Var, dim: Any = None) -> Any:
    ones = g.cast(g.cast(x, torch.bool), torch.int64)
    return g.reduce("ReduceSum", Var(ones.name, ones.dtype, x.shape), axes_of(dim, x.rank), False)


@row("logsumexp")
def logsumexp(g: Graph, x: Var, dim: Any, keepdim: bool = False) -> Any:
    return g.reduce("ReduceLogSumExp", g.cast(x, g.dtype), axes_of(dim, x.rank), keepdim)


@row("cumsum")
def cumsum(g: Graph, x: Var, dim: int, *, dtype: Any = None) -> Any:
    return g.op("CumSum", g.cast(x, g.dtype), g.constant(dim % x.rank)) if x.rank else x


def _softmax(name: str, op: str) -> None:
    @row(name)
    def translate(g: Graph, x: Var, dim: int, dtype: Any = None, **_: Any) -> Any:
        x = g.cast(x, g.dtype)
        return g.op(op, x, axis=dim % x.rank) if x.rank else g.reshape(g.op(op, g.reshape(x, [1]), axis=0), [])


_softmax("softmax", "Softmax")
_softmax("log_softmax", "LogSoftmax")


# ---------------------------------------------------------------------- spread


def _count(g: Graph, x: Var, axes: list[int] | None) -> Any:
    """How many elements are joined, in x's dtype."""
    known = [g.size_of(x, axis) for axis in (range(x.rank) if axes is None else axes)]
    total: Any = 1
    for each in known:
        total = (
            total * each if isinstance(total, int) and isinstance(each, int) else g.op("Mul", *_vars(g, total, each))
        )
    return g.constant(float(total), x.dtype) if isinstance(total, int) else g.cast(g.squeeze(total, [0]), x.dtype)


def _vars(g: Graph, *values: Any) -> list[Var]:
    return [g.constant([each]) if isinstance(each, int) else each for each in values]


def _variance(g: Graph, x: Var, dim: Any, unbiased: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    less = correction if correction is not None else 1 if unbiased is None else int(unbiased)
    axes = axes_of(dim, x.rank)
    mean = g.reduce("ReduceMean", x, axes, True)
    deviation = g.op("Sub", x, mean)
    squares = g.reduce("ReduceSum", Var(g.op("Mul", deviation, deviation).name, x.dtype, x.shape), axes, keepdim)
    freedom = g.op("Max", g.op("Sub", _count(g, x, axes), g.constant(float(less), x.dtype)), g.constant(0.0, x.dtype))
    kept = mean if keepdim or x.rank == 0 else g.squeeze(mean, axes if axes is not None else list(range(x.rank)))
    return g.op("Div", squares, freedom), kept


def _add_spread(name: str, root: bool, with_mean: bool) -> None:
    @row(name)
    def translate(
        g: Graph, x: Var, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
    ) -> Any:
        variance, mean = _variance(g, x, dim, unbiased, correction, keepdim)
        variance = g.op("Sqrt", variance) if root else variance
        return [variance, mean] if with_mean else variance


for _name in ("var", "std"):
    _add_spread(_name, _name == "std", False)
    _add_spread(f"{_name}_mean", _name == "std", True)


# ---------------------------------------------------------------------- norms


@row("norm", "linalg_vector_norm")
def norm(g: Graph, x: Var, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None, **named: Any) -> Any:
    order = named.get("ord", 2 if p is None or p == "fro" else p)
    if not isinstance(order, (int, float)):
        raise NotImplementedError(f"p={order!r}")
    axes, x = axes_of(dim, x.rank), g.cast(x, g.dtype)
    if order in (1, 2):
        return g.op("Abs", x) if x.rank == 0 else g.reduce(f"ReduceL{int(order)}", x, axes, keepdim)
    size = Var(g.op("Abs", x).name, x.dtype, x.shape)
    if order in (float("inf"), float("-inf")):
        return g.reduce("ReduceMax" if order > 0 else "ReduceMin", size, axes, keepdim)
    if order == 0:
        ones = g.cast(g.op("Not", g.op("Equal", x, 0.0)), x.dtype)
        return g.reduce("ReduceSum", Var(ones.name, x.dtype, x.shape), axes, keepdim)
    power = Var(g.op("Pow", size, float(order)).name, x.dtype, x.shape)
    return g.op("Pow", g.reduce("ReduceSum", power, axes, keepdim), 1.0 / order)


@row("dist")
def dist(g: Graph, a: Var, b: Var, p: float = 2) -> Any:
    difference = g.op("Sub", g.cast(a, g.dtype), g.cast(b, g.dtype))
    return norm(g, Var(difference.name, g.dtype, (None,)), p)
