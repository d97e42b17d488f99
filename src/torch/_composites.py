"""Functions that are also methods of tensors, written in terms of the operators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

# ---------------------------------------------------------------------------------------------------- rearranging


def roll(input: Tensor, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Tensor:
    """Shifts elements along dimensions; those that leave one end come in at the other. Without `dims`: flattened."""
    if dims is None:
        return roll(input.reshape(-1), shifts, 0).reshape(input.shape)
    steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    axes = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(steps) != len(axes):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(steps)}, dims:{len(axes)}")
    for step, dim in zip(steps, axes, strict=True):
        size = input.size(dim)
        if size:
            start = -step % size
            input = torch.cat([input.narrow(dim, start, size - start), input.narrow(dim, 0, start)], dim)
    return input


def tile(input: Tensor, *dims: Any) -> Tensor:
    """Repeats as `Tensor.repeat`; fewer numbers than dimensions count from the last."""
    times = list(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else list(dims)
    return input.repeat([1] * (input.dim() - len(times)) + times)


def repeat_interleave(input: Tensor, repeats: int | Tensor, dim: int | None = None) -> Tensor:
    """Repeats each element (along `dim`; default: flattened) `repeats` times, or its own number of times."""
    if dim is None:
        input, dim = input.reshape(-1), 0
    size = input.size(dim)
    counts = [repeats] * size if isinstance(repeats, int) else repeats.reshape(-1).tolist()
    counts = counts * size if len(counts) == 1 else counts
    if len(counts) != size:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {len(counts)} and input.size({dim}) = {size}"
        )
    if any(count < 0 for count in counts):
        raise RuntimeError("repeats can not be negative")
    places = [place for place, count in enumerate(counts) for _ in range(count)]
    return input.index_select(dim, torch.tensor(places, dtype=torch.int64, device=input.device))


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A square matrix with a vector on its diagonal, or the diagonal of a matrix (a copy)."""
    if input.dim() == 2:
        return input.diagonal(diagonal).clone()
    if input.dim() != 1:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    size = input.numel() + abs(diagonal)
    result = torch.zeros((size, size), dtype=input.dtype, device=input.device)
    result.diagonal(diagonal).copy_(input)
    return result


def diff(input: Tensor, n: int = 1, dim: int = -1) -> Tensor:
    """Differences of neighbours along `dim`, `n` times."""
    for _ in range(n):
        size = input.size(dim)
        after, before = input.narrow(dim, min(1, size), max(size - 1, 0)), input.narrow(dim, 0, max(size - 1, 0))
        input = after.logical_xor(before) if input.dtype == torch.bool else after - before
    return input


def fliplr(input: Tensor) -> Tensor:
    """Mirrors dimension 1."""
    return input.flip((1,))


def flipud(input: Tensor) -> Tensor:
    """Mirrors dimension 0."""
    return input.flip((0,))


# ---------------------------------------------------------------------------------------------------- copies


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """A copy in which `src` (a tensor or a number) was written at `index` along `dim`."""
    return input.clone().scatter_(dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy in which `src` was added at `index` along `dim`."""
    return input.clone().scatter_add_(dim, index, src)


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """A copy in which `alpha * source` was added to the slices `index` of `dim`."""
    return input.clone().index_add_(dim, index, source, alpha=alpha)


def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy in which `values` were written (or added) at `indices`."""
    return input.clone().index_put_(indices, values, accumulate)


# ---------------------------------------------------------------------------------------------------- reductions


def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if input.dim() != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim " + str(input.dim()))
    return input.diagonal().sum()


def count_nonzero(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """How many elements are not zero."""
    return (input != 0).sum() if dim is None else (input != 0).sum(dim)


class _MinMax(NamedTuple):
    min: Tensor
    max: Tensor


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> _MinMax:
    """The smallest and the largest value."""
    dims: tuple[int, ...] = () if dim is None else (dim,)
    return _MinMax(input.amin(dims, keepdim), input.amax(dims, keepdim))


def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN becomes `nan` (0), the infinities the given numbers or the dtype's largest and smallest."""
    if not input.is_floating_point():
        return input.clone()
    limits = torch.finfo(input.dtype)
    result = input.masked_fill(input.isnan(), 0.0 if nan is None else nan)
    result = result.masked_fill(input == math.inf, limits.max if posinf is None else posinf)
    return result.masked_fill(input == -math.inf, limits.min if neginf is None else neginf)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number from 0 on occurs, or the sum of its `weights`."""
    if input.dim() != 1 or input.is_floating_point() or (input.numel() and int(input.min()) < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    size = max(minlength, int(input.max()) + 1 if input.numel() else 0)
    values = torch.ones_like(input, dtype=torch.int64) if weights is None else weights
    if weights is not None and weights.dtype != torch.float32:
        values = values.double()
    return torch.zeros(size, dtype=values.dtype, device=input.device).index_add_(0, input.long(), values)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different values in ascending order; each element's place there (`return_inverse`); how often each occurs."""
    if dim is not None:
        raise NotImplementedError("unique(dim=...) is not supported: use it without dim, or numpy.unique(axis=...)")
    ordered, order = input.reshape(-1).sort()
    if ordered.numel() == 0:
        first = torch.zeros(0, dtype=torch.bool, device=input.device)
    else:
        first = torch.cat([torch.ones(1, dtype=torch.bool, device=input.device), ordered[1:] != ordered[:-1]])
    answer: list[Tensor] = [ordered[first]]
    number = first.long().cumsum(0) - 1
    if return_inverse:
        inverse = torch.empty_like(order).scatter_(0, order, number)
        answer.append(inverse.reshape(input.shape))
    if return_counts:
        answer.append(bincount(number, minlength=answer[0].numel()))
    return answer[0] if len(answer) == 1 else tuple(answer)


class _Median(NamedTuple):
    values: Tensor
    indices: Tensor


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The middle value, the lower one of two: of all elements, or along `dim` with its place."""
    if dim is None:
        if input.numel() == 0:
            raise RuntimeError("median(): the input has no elements")
        return input.reshape(-1).sort().values[(input.numel() - 1) // 2]
    values, indices = input.sort(dim)
    middle = (input.size(dim) - 1) // 2
    picked = (values.narrow(dim, middle, 1), indices.narrow(dim, middle, 1))
    return _Median(*(picked if keepdim else (part.squeeze(dim) for part in picked)))


# ---------------------------------------------------------------------------------------------------- products


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The product of two vectors."""
    return input.dot(other)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums products over the last dimensions of both."""
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    result: Tensor = torch.tensordot(input, other, ([-1], [-1]))
    return result


def kron(input: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product."""
    dims = max(input.dim(), other.dim())
    left = [1] * (dims - input.dim()) + list(input.shape)
    right = [1] * (dims - other.dim()) + list(other.shape)
    spread = input.reshape([size for length in left for size in (length, 1)])
    result = spread * other.reshape([size for length in right for size in (1, length)])
    return result.reshape([one * two for one, two in zip(left, right, strict=True)])
