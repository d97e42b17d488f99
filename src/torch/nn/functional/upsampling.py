"""Signals, images and volumes in other sizes."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_NEAREST = ("nearest", "nearest-exact")
_BY_DIMENSIONS = {3: "linear", 4: "bilinear", 5: "trilinear"}


class _Axis:
    """One dimension's old and new size, and how far apart the places of the new elements are."""

    __slots__ = ("aligned", "factor", "new", "old")

    def __init__(self, old: int, new: int, factor: float | None, aligned: bool) -> None:
        self.old, self.new, self.aligned, self.factor = old, new, aligned, factor

    def spacing(self) -> float:
        """How many old elements one new element stands for."""
        if self.aligned:
            return (self.old - 1) / (self.new - 1) if self.new > 1 else 0.0
        return 1.0 / self.factor if self.factor is not None and self.factor > 0 else self.old / self.new

    def places(self, like: Tensor, *, clamped: bool = True) -> Tensor:
        """Where new elements lie among the old ones, in the numbers that PyTorch computes in."""
        dtype = torch.float64 if like.dtype == torch.float64 else torch.float32
        numbers = torch.arange(self.new, dtype=dtype, device=like.device)
        spacing = torch.tensor(self.spacing(), dtype=dtype, device=like.device)
        if self.aligned:
            return numbers * spacing
        found = spacing * (numbers + 0.5) - 0.5
        return found.clamp_min(0) if clamped else found


def _take_nearest(input: Tensor, dimension: int, axis: _Axis, exact: bool) -> Tensor:
    spacing = torch.tensor(axis.spacing(), dtype=torch.float32, device=input.device)
    numbers = torch.arange(axis.new, dtype=torch.float32, device=input.device)
    places = ((numbers + 0.5 if exact else numbers) * spacing).floor().to(torch.int64)
    return input.index_select(dimension, places.clamp(max=axis.old - 1))


def _weigh(input: Tensor, dimension: int, weights: Tensor) -> Tensor:
    shape = [1] * input.dim()
    shape[dimension] = weights.numel()
    return input * weights.to(input.dtype).view(shape)


def _take_linear(input: Tensor, dimension: int, axis: _Axis) -> Tensor:
    if axis.old == axis.new and (axis.factor is None or axis.factor == 1):
        return input
    places = axis.places(input)
    lower = places.to(torch.int64).clamp(max=axis.old - 1)
    share = (places - lower.to(places.dtype)).clamp(0, 1)
    upper = (lower + 1).clamp(max=axis.old - 1)
    low, high = input.index_select(dimension, lower), input.index_select(dimension, upper)
    return _weigh(low, dimension, 1 - share) + _weigh(high, dimension, share)


def cubic_weights(share: Tensor, a: float = -0.75) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The weights of the four neighbours of a place that is `share` (0 to 1) after the second one."""

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return far(share + 1), near(share), near(1 - share), far(2 - share)


def _take_cubic(input: Tensor, dimension: int, axis: _Axis) -> Tensor:
    places = axis.places(input, clamped=False)
    lower = places.floor()
    weights = cubic_weights(places - lower)
    first = lower.to(torch.int64) - 1
    parts = [
        _weigh(input.index_select(dimension, (first + number).clamp(0, axis.old - 1)), dimension, weight)
        for number, weight in enumerate(weights)
    ]
    return parts[0] + parts[1] + parts[2] + parts[3]


def _filter(x: Tensor, cubic: bool) -> Tensor:
    x = x.abs()
    if not cubic:
        return (1 - x).clamp_min(0)
    a = -0.5
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return torch.where(x < 1, near, torch.where(x < 2, far, torch.zeros_like(x)))


def _take_antialiased(input: Tensor, dimension: int, axis: _Axis, cubic: bool) -> Tensor:
    """A product with a matrix (new, old): each new element is a mean of those under a filter of its own width."""
    dtype = torch.float64 if input.dtype == torch.float64 else torch.float32
    spacing = axis.spacing()
    support = (2.0 if cubic else 1.0) * max(spacing, 1.0)
    centre = spacing * (torch.arange(axis.new, dtype=dtype, device=input.device) + 0.5)
    first = (centre - support + 0.5).to(torch.int64).clamp(min=0).unsqueeze(1)
    last = (centre + support + 0.5).to(torch.int64).clamp(max=axis.old).unsqueeze(1)
    numbers = torch.arange(axis.old, device=input.device).unsqueeze(0)
    distances = (numbers.to(dtype) - centre.unsqueeze(1) + 0.5) / max(spacing, 1.0)
    weights = _filter(distances, cubic).masked_fill((numbers < first) | (numbers >= last), 0)
    total = weights.sum(1, keepdim=True)
    weights = torch.where(total != 0, weights / total, weights).to(input.dtype)
    return torch.matmul(input.transpose(dimension, -1), weights.t()).transpose(dimension, -1)


def _resize(input: Tensor, axes: list[_Axis], mode: str, antialias: bool) -> Tensor:
    result = input
    narrow = input.dtype in (torch.float16, torch.bfloat16)
    integral = not input.is_floating_point()
    if mode not in _NEAREST and (narrow or integral):
        result = result.to(torch.float32)
    for position in range(len(axes) - 1, -1, -1):
        axis, dimension = axes[position], position + 2
        if mode in _NEAREST:
            result = _take_nearest(result, dimension, axis, mode == "nearest-exact")
        elif antialias:
            result = _take_antialiased(result, dimension, axis, mode == "bicubic")
        elif mode == "bicubic":
            result = _take_cubic(result, dimension, axis)
        else:
            result = _take_linear(result, dimension, axis)
        if integral and result.dtype != input.dtype:  # after each dimension, as PyTorch does
            result = (result + 0.5).floor().clamp(0, 255)
    return result.to(input.dtype)


def _output_sizes(
    input: Tensor, size: Any, scale_factor: Any, dimensions: int
) -> tuple[list[int] | None, list[float] | None]:
    """The new sizes, or the factors, one for each dimension. ValueError for both, neither, or another number."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = list(size) if isinstance(size, (list, tuple)) else [size] * dimensions
        if len(sizes) != dimensions:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and output size of {size}. Please provide input tensor in "
                "(N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format."
            )
        for one in sizes:
            if isinstance(one, float):
                kinds = [type(each) for each in sizes]
                raise TypeError(f"expected size to be one of int or Tuple[int] but got size with types {kinds}")
        return [int(one) for one in sizes], None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    factors = list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * dimensions
    if len(factors) != dimensions:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please provide input "
            "tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    return None, [float(factor) for factor in factors]


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """(N, C, L), (N, C, H, W) or (N, C, D, H, W) in another `size`, or its size times `scale_factor`.

    mode: "nearest", "nearest-exact", "linear" (signals), "bilinear" and "bicubic" (images), "trilinear" (volumes), or
    "area". align_corners: whether the first and last elements keep their places. recompute_scale_factor: compute with
    the factor between the sizes rather than `scale_factor`. antialias: smooth what gets smaller ("bilinear",
    "bicubic"). ValueError for options that do not go together, NotImplementedError for other dimensions.

    >>> interpolate(torch.tensor([[[1.0, 3.0]]]), scale_factor=2, mode="linear", align_corners=False)
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    if mode in (*_NEAREST, "area"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: "
                "linear | bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    dimensions = input.dim() - 2
    sizes, factors = _output_sizes(input, size, scale_factor, dimensions)
    if recompute_scale_factor and sizes is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "area" and sizes is None:
        recompute_scale_factor = True
    if sizes is None and factors is not None:
        sizes = [math.floor(old * factor) for old, factor in zip(input.shape[2:], factors, strict=True)]
        if recompute_scale_factor:
            factors = None
    assert sizes is not None
    if antialias and not (mode in ("bilinear", "bicubic") and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    known = mode in _NEAREST or mode == "area" or (mode == "bicubic" and input.dim() == 4)
    if input.dim() not in _BY_DIMENSIONS or not (known or mode == _BY_DIMENSIONS[input.dim()]):
        if input.dim() in _BY_DIMENSIONS and mode in _BY_DIMENSIONS.values():
            raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs another number of dimensions")
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported"
            f" (got {input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | "
            f"nearest-exact (got {mode})"
        )
    if mode == "area":
        pools = {1: _C._VariableFunctions.adaptive_avg_pool1d, 2: _C._nn.adaptive_avg_pool2d}
        return pools.get(dimensions, _C._nn.adaptive_avg_pool3d)(input, sizes)
    if any(new <= 0 for new in sizes) or any(old <= 0 for old in input.shape[2:]):
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input (sizes: {list(input.shape[2:])}) "
            f"output (sizes: {sizes})"
        )
    steps: Sequence[float | None] = [None] * dimensions if factors is None else factors
    axes = [
        _Axis(old, new, factor, bool(align_corners))
        for old, new, factor in zip(input.shape[2:], sizes, steps, strict=True)
    ]
    return _resize(input, axes, mode, antialias).contiguous(memory_format=_C._suggest_memory_format(input))


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate`, by an older name, with a warning.

    >>> upsample(torch.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """`interpolate(mode="nearest")`, by an older name, with a warning.

    >>> upsample_nearest(torch.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """`interpolate(mode="bilinear", align_corners=True)`, by an older name, with a warning.

    >>> upsample_bilinear(torch.tensor([[[[1.0, 3.0]]]]), size=(1, 3))
    tensor([[[[1., 2., 3.]]]])
    """
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
