"""The functions of `torch.masked`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]

Dims = int | tuple[int, ...] | None


def _is_whole(dtype: torch.dtype) -> bool:
    return not (dtype.is_floating_point or dtype.is_complex)


def _dims(input: Tensor, dim: Dims) -> tuple[int, ...]:
    """The dimensions that are meant, each once: all of them for None and for ()."""
    if dim is None or dim == ():
        return tuple(range(input.dim()))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    wrapped = tuple(each % max(input.dim(), 1) for each in dims)
    if len(set(wrapped)) < len(wrapped):
        raise RuntimeError(f"dim appears multiple times in the list of dims: {dims}")
    return wrapped if input.dim() else ()


def _filled(input: Tensor, mask: Tensor | None, value: float, dtype: torch.dtype | None = None) -> Tensor:
    """`input` in `dtype`, with `value` where the mask drops it."""
    if dtype is not None:
        input = input.to(dtype)
    if mask is None:
        return input
    return torch.where(_kept(input, mask), input, torch.tensor(value, dtype=input.dtype, device=input.device))


def _kept(input: Tensor, mask: Tensor | None) -> Tensor:
    """The mask in the shape of `input`."""
    if mask is None:
        return torch.ones(input.shape, dtype=torch.bool, device=input.device)
    if mask.dim() > input.dim():
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return (mask if mask.dtype is torch.bool else mask != 0).expand(input.shape)


def _wide(input: Tensor, dtype: torch.dtype | None) -> torch.dtype:
    """What whole numbers are added up in."""
    if dtype is None:
        return torch.int64 if _is_whole(input.dtype) else input.dtype
    return dtype


def _lowest(dtype: torch.dtype) -> float:
    if dtype is torch.bool:
        return 0
    return torch.iinfo(dtype).min if _is_whole(dtype) else -math.inf


def _highest(dtype: torch.dtype) -> float:
    if dtype is torch.bool:
        return 1
    return torch.iinfo(dtype).max if _is_whole(dtype) else math.inf


def _over(reduce: Any, values: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """`reduce` of one dimension after another, from the last."""
    for dim in sorted(dims, reverse=True):
        values = reduce(values, dim, keepdim)
    return values


def sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The sums of the elements that the mask keeps.

    >>> torch.masked.sum(torch.tensor([1, 2, 3]), mask=torch.tensor([True, False, True]))
    tensor(4)
    """
    values = _filled(input, mask, 0, _wide(input, dtype))
    dims = _dims(input, dim)
    return values.sum(dims, keepdim) if dims else values.clone()


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The products of the elements that the mask keeps."""
    values = _filled(input, mask, 1, _wide(input, dtype))
    return _over(torch.prod, values, _dims(input, dim), keepdim)


def cumsum(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The sums up to each element along `dim`, of those that the mask keeps."""
    return _filled(input, mask, 0, dtype).cumsum(dim).to(dtype or input.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The products up to each element along `dim`, of those that the mask keeps."""
    return _filled(input, mask, 1, dtype).cumprod(dim).to(dtype or input.dtype)


def amax(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The greatest of the elements that the mask keeps."""
    values = _filled(input, mask, _lowest(dtype or input.dtype), dtype)
    dims = _dims(input, dim)
    return values.amax(dims, keepdim) if dims else values.clone()


def amin(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The least of the elements that the mask keeps."""
    values = _filled(input, mask, _highest(dtype or input.dtype), dtype)
    dims = _dims(input, dim)
    return values.amin(dims, keepdim) if dims else values.clone()


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the greatest of the elements stands that the mask keeps, in the dtype of `input`."""
    places = torch.argmax(_filled(input, mask, _lowest(dtype or input.dtype), dtype), dim, keepdim)
    return places.to(dtype or input.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the least of the elements stands that the mask keeps, in the dtype of `input`."""
    places = torch.argmin(_filled(input, mask, _highest(dtype or input.dtype), dtype), dim, keepdim)
    return places.to(dtype or input.dtype)


def _count(input: Tensor, mask: Tensor | None, dim: Dims, keepdim: bool) -> Tensor:
    kept = _kept(input, mask).to(torch.int64)
    dims = _dims(input, dim)
    return kept.sum(dims, keepdim) if dims else kept


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The means of the elements that the mask keeps; NaN where it keeps none.

    ValueError for whole numbers without `dtype`.
    """
    if _is_whole(dtype or input.dtype):
        source = "input" if dtype is None else "optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex"
        )
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, mask, dim, keepdim)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The lower medians along `dim` of the elements that the mask keeps; NaN where it keeps none."""
    if _is_whole(dtype or input.dtype):
        raise ValueError(f"input must be a floating point tensor, got {dtype or input.dtype}")
    if mask is None:
        values = input if dtype is None else input.to(dtype)
        return values.median(dim, keepdim).values
    return _filled(input, mask, math.nan, dtype).nanmedian(dim, keepdim).values


def logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The logarithms of the sums of exponentials of the elements that the mask keeps."""
    whole = dtype is None and _is_whole(input.dtype)
    values = _filled(input, mask, -math.inf, torch.get_default_dtype() if whole else dtype)
    return torch.logsumexp(values, _dims(input, dim) or (0,), keepdim).to(dtype or input.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: torch.dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(exp(input) + exp(other)); an element that its mask drops adds nothing."""
    return torch.logaddexp(_filled(input, input_mask, -math.inf, dtype), _filled(other, other_mask, -math.inf, dtype))


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The vector norms of the elements that the mask keeps."""
    order = 2.0 if ord is None else float(ord)
    values = _filled(input, mask, math.inf if order < 0 else 0.0, dtype)
    return torch.norm(values, order, _dims(input, dim) or None, keepdim)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The elements over the norm of their row, of what the mask keeps; the rest is 0."""
    values = _filled(input, mask, 0.0, dtype)
    return values / norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask).clamp(min=eps)


def softmax(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Shares of exponentials among the elements that the mask keeps; 0 for the others.

    >>> torch.masked.softmax(torch.zeros(3), 0, mask=torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    return torch.softmax(_filled(input, mask, -math.inf, dtype), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of `softmax`."""
    return torch.log_softmax(_filled(input, mask, -math.inf, dtype), dim)


def softmin(input: Tensor, dim: int, *, dtype: torch.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative elements."""
    return torch.nn.functional.softmin(_filled(input, mask, math.inf, dtype), dim)


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variances of the elements that the mask keeps; `correction` (1) is what their number is lowered by."""
    if unbiased is not None and correction is not None:
        raise RuntimeError("Only one of unbiased and correction may be given")
    less = correction if correction is not None else 0 if unbiased is False else 1
    chosen = dtype if dtype is not None else torch.float32 if _is_whole(input.dtype) else None
    values = input if chosen is None else input.to(chosen)
    center = mean(values, dim, keepdim=True, mask=mask) if input.dim() else mean(values, mask=mask)
    distance = (values - center) * (values - center).conj()
    squares = sum(distance.real if distance.is_complex() else distance, dim, keepdim=keepdim, mask=mask)
    return (squares / (_count(input, mask, dim, keepdim) - less).clamp(min=0)).to(values.dtype)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The square roots of `var`."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()
