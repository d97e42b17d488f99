"""Along dimensions: sums and their like, softmax, places of extremes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.table import Refusal, numbers, operator


def _reduction(function: Any) -> Any:
    def reduce(
        x: Tensor, given: Tensor | None = None, *, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Tensor:
        chosen = numbers(given) if given is not None else list(axes or [])
        if not chosen and noop_with_empty_axes:
            return function(x.unsqueeze(0), [0], False)  # type: ignore[no-any-return]
        every = [axis % max(x.dim(), 1) for axis in chosen] or list(range(x.dim()))
        if not every:
            return function(x.reshape(1), [0], False)  # type: ignore[no-any-return]
        return function(x, every, bool(keepdims))  # type: ignore[no-any-return]

    return reduce


def _product(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=keep).to(x.dtype)
    return x


def _extreme(name: str) -> Any:
    def reduce(x: Tensor, axes: list[int], keep: bool) -> Tensor:
        if any(x.shape[axis] == 0 for axis in axes):  # of nothing: the lowest or highest there is
            if x.dtype == torch.bool:
                fill: Any = name == "amin"
            else:
                limits = torch.finfo(x.dtype) if x.is_floating_point() else torch.iinfo(x.dtype)
                fill = float("inf") if x.is_floating_point() else limits.max
                fill = fill if name == "amin" else -float("inf") if x.is_floating_point() else limits.min
            kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
            shape = kept if keep else [size for axis, size in enumerate(x.shape) if axis not in axes]
            return torch.full(shape, fill, dtype=x.dtype)
        return getattr(x, name)(axes, keepdim=keep)  # type: ignore[no-any-return]

    return reduce


_KINDS = {
    "ReduceSum": lambda x, axes, keep: x.sum(axes, keepdim=keep, dtype=x.dtype),
    "ReduceMean": lambda x, axes, keep: (
        x.mean(axes, keepdim=keep)
        if x.is_floating_point()
        else (x.to(torch.float64).mean(axes, keepdim=keep)).to(x.dtype)
    ),
    "ReduceMax": _extreme("amax"),
    "ReduceMin": _extreme("amin"),
    "ReduceProd": _product,
    "ReduceL1": lambda x, axes, keep: x.abs().sum(axes, keepdim=keep, dtype=x.dtype),
    "ReduceL2": lambda x, axes, keep: (x * x).sum(axes, keepdim=keep).sqrt().to(x.dtype),
    "ReduceSumSquare": lambda x, axes, keep: (x * x).sum(axes, keepdim=keep, dtype=x.dtype),
    "ReduceLogSum": lambda x, axes, keep: x.sum(axes, keepdim=keep).log().to(x.dtype),
    "ReduceLogSumExp": lambda x, axes, keep: torch.logsumexp(x, axes, keepdim=keep).to(x.dtype),
}
for _name, _kind in _KINDS.items():
    operator(_name)(_reduction(_kind))


def _place(largest: bool) -> Any:
    def find(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
        work = x.flip(axis) if select_last_index else x
        places = (work.argmax if largest else work.argmin)(axis, keepdim=bool(keepdims))
        return x.shape[axis] - 1 - places if select_last_index else places

    return find


operator("ArgMax")(_place(True))
operator("ArgMin")(_place(False))


def _softmax(function: Any) -> Any:
    def compute(x: Tensor, *, axis: int | None = None, opset: int = 13) -> Tensor:
        if opset >= 13:
            return function(x, -1 if axis is None else axis)  # type: ignore[no-any-return]
        split = (1 if axis is None else axis) % max(x.dim(), 1)  # before: of all that follows
        return function(x.flatten(split), -1).reshape(x.shape)  # type: ignore[no-any-return]

    return compute


def _hardmax(x: Tensor, axis: int) -> Tensor:
    return F.one_hot(x.argmax(axis), x.shape[axis]).to(x.dtype).movedim(-1, axis)


operator("Softmax")(_softmax(lambda x, axis: torch.softmax(x, axis)))
operator("LogSoftmax")(_softmax(lambda x, axis: torch.log_softmax(x, axis)))
operator("Hardmax")(_softmax(_hardmax))


def _cumulative(function: Any) -> Any:
    def compute(x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
        dim = int(axis)
        work = x.flip(dim) if reverse else x
        result = function(work, dim).to(x.dtype)
        if exclusive:
            first = torch.full_like(
                result.narrow(dim, 0, min(1, result.shape[dim])), 0 if function is torch.cumsum else 1
            )
            result = torch.cat([first, result.narrow(dim, 0, max(result.shape[dim] - 1, 0))], dim)
        return result.flip(dim) if reverse else result

    return compute


operator("CumSum")(_cumulative(torch.cumsum))
operator("CumProd")(_cumulative(torch.cumprod))


@operator("TopK")
def top_k(x: Tensor, k: Tensor, *, axis: int = -1, largest: int = 1, sorted: int = 1) -> tuple[Tensor, Tensor]:
    values, places = x.sort(dim=axis, descending=bool(largest), stable=True)
    count = int(k)
    if not 0 <= count <= x.shape[axis]:
        raise Refusal(f"the {count} best of {x.shape[axis]}")
    return values.narrow(axis, 0, count), places.narrow(axis, 0, count)


@operator("LpNormalization")
def lp_normalization(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    norm = torch.linalg.vector_norm(x, p, axis, keepdim=True)
    return torch.where(norm == 0, torch.zeros_like(x), x / norm)


@operator("MeanVarianceNormalization")
def mean_variance_normalization(x: Tensor, *, axes: Any = (0, 2, 3)) -> Tensor:
    mean = x.mean(list(axes), keepdim=True)
    return (x - mean) / (((x - mean) ** 2).mean(list(axes), keepdim=True).sqrt() + 1e-9)


@operator("Unique")
def unique(x: Tensor, *, axis: int | None = None, sorted: int = 1) -> tuple[Tensor, ...]:
    values, inverse, counts = torch.unique(x, sorted=True, return_inverse=True, return_counts=True, dim=axis)
    flat = inverse.reshape(-1)
    first = torch.full((counts.numel(),), flat.numel(), dtype=torch.int64)
    first = first.scatter_reduce(0, flat, torch.arange(flat.numel()), "amin")
    if not sorted:
        order = first.argsort()
        back = torch.empty_like(order)
        back[order] = torch.arange(order.numel())
        values = values.index_select(0 if axis is None else axis, order)
        first, counts, flat = first[order], counts[order], back[flat]
    return values, first, flat, counts
