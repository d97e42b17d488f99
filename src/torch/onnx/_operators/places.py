"""Elements by their places: gather, scatter, masks."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.onnx._operators.table import Refusal, check_size, operator

_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


def _checked(index: Tensor, size: int) -> Tensor:
    """Places counted from the front; Refusal for those that are outside."""
    index = index.to(torch.int64)
    if index.numel() and (int(index.min()) < -size or int(index.max()) >= size):
        raise Refusal(f"an index of {int(index.min())} to {int(index.max())} into {size}")
    return torch.where(index < 0, index + size, index)


@operator("Gather")
def gather(x: Tensor, index: Tensor, *, axis: int = 0) -> Tensor:
    dim = axis % x.dim()
    places = _checked(index, x.shape[dim])
    check_size([*x.shape[:dim], places.numel(), *x.shape[dim + 1 :]])
    picked = x.index_select(dim, places.reshape(-1))
    return picked.reshape([*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]])


@operator("GatherElements")
def gather_elements(x: Tensor, index: Tensor, *, axis: int = 0) -> Tensor:
    return x.gather(axis, _checked(index, x.shape[axis]))


def _flat_places(shape: Any, index: Tensor) -> Tensor:
    """Rows of `index` as places in the first dimensions of `shape`, taken as one."""
    places = torch.zeros(index.shape[:-1], dtype=torch.int64)
    for part in range(index.shape[-1]):
        places = places * shape[part] + _checked(index[..., part], shape[part])
    return places


@operator("GatherND")
def gather_nd(x: Tensor, index: Tensor, *, batch_dims: int = 0) -> Tensor:
    depth, batches = index.shape[-1], math.prod(x.shape[:batch_dims])
    rest = x.shape[batch_dims + depth :]
    table = x.reshape([batches, math.prod(x.shape[batch_dims : batch_dims + depth]), *rest])
    flat = index.reshape(batches, -1, depth)
    places = (
        _flat_places(x.shape[batch_dims : batch_dims + depth], flat)
        + torch.arange(batches).reshape(-1, 1) * table.shape[1]
    )
    return table.flatten(0, 1).index_select(0, places.reshape(-1)).reshape([*index.shape[:-1], *rest])


@operator("ScatterElements", "Scatter")
def scatter_elements(x: Tensor, index: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none") -> Tensor:
    places = _checked(index, x.shape[axis])
    if reduction == "none":
        return x.scatter(axis, places, updates)
    return x.scatter_reduce(axis, places, updates, _REDUCTIONS[reduction])


@operator("ScatterND")
def scatter_nd(x: Tensor, index: Tensor, updates: Tensor, *, reduction: str = "none") -> Tensor:
    depth = index.shape[-1]
    rest = math.prod(x.shape[depth:])
    places = _flat_places(x.shape[:depth], index.reshape(-1, depth)).reshape(-1, 1).expand(-1, rest)
    return scatter_elements(x.reshape(-1, rest), places, updates.reshape(-1, rest), reduction=reduction).reshape(
        x.shape
    )


@operator("TensorScatter")
def tensor_scatter(
    cache: Tensor, update: Tensor, starts: Tensor | None = None, *, axis: int = -2, mode: str = "linear"
) -> Tensor:
    dim = axis % cache.dim()
    batch = cache.shape[0]
    first = torch.zeros(batch, dtype=torch.int64) if starts is None else starts
    places = first.reshape(-1, 1) + torch.arange(update.shape[dim])
    places = places % cache.shape[dim] if mode == "circular" else _checked(places, cache.shape[dim])
    shape = [1] * cache.dim()
    shape[0], shape[dim] = batch, update.shape[dim]
    return cache.scatter(dim, places.reshape(shape).expand(update.shape), update)


@operator("NonZero")
def non_zero(x: Tensor) -> Tensor:
    return x.nonzero().T.contiguous() if x.dim() else x.reshape(1).nonzero().T[:0]


@operator("Compress")
def compress(x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    work, dim = (x.reshape(-1), 0) if axis is None else (x, axis)
    return work.index_select(dim, condition.reshape(-1).nonzero().reshape(-1))


@operator("OneHot")
def one_hot(index: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1) -> Tensor:
    size = int(depth)
    check_size([*index.shape, size])
    places = index.to(torch.int64)
    places = torch.where(places < 0, places + size, places)
    found = places.unsqueeze(-1) == torch.arange(size)
    return torch.where(found, values[1], values[0]).movedim(-1, axis)


@operator("Einsum")
def einsum(*tensors: Tensor, equation: str) -> Tensor:
    sizes = {
        letter: size
        for term, tensor in zip(equation.replace(" ", "").partition("->")[0].split(","), tensors, strict=True)
        if "." not in term
        for letter, size in zip(term, tensor.shape, strict=True)
    }
    check_size([sizes[letter] for letter in equation.partition("->")[2] if letter in sizes])
    return torch.einsum(equation, *tensors)
