"""Signals, images and volumes in other sizes."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_NEAREST = ("nearest", "nearest-exact")
_WITHOUT_CORNERS = (*_NEAREST, "area")
_BY_DIMENSIONS = {3: "linear", 4: "bilinear", 5: "trilinear"}
# What computes a mode for inputs of so many dimensions.
_FILTERS = {
    **{(mode, rank): mode for mode in _WITHOUT_CORNERS for rank in _BY_DIMENSIONS},
    **{(mode, rank): "linear" for rank, mode in _BY_DIMENSIONS.items()},
    ("bicubic", 4): "cubic",
}


def _output_sizes(
    input: Tensor, size: Any, scale_factor: Any, dimensions: int
) -> tuple[list[int] | None, list[float] | None]:
    """The new sizes, or the factors, one for each dimension. ValueError for both, neither, or another number."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if type(size) is int:
        return [size] * dimensions, None
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
        return [one if isinstance(one, int) else int(one) for one in sizes], None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if isinstance(scale_factor, (int, float)):
        return None, [float(scale_factor)] * dimensions
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
    if mode in _WITHOUT_CORNERS:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: "
                "linear | bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    shape = input.shape
    dimensions = len(shape) - 2
    sizes, factors = _output_sizes(input, size, scale_factor, dimensions)
    if recompute_scale_factor and sizes is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "area" and sizes is None:
        recompute_scale_factor = True
    if sizes is None and factors is not None:
        sizes = [math.floor(shape[axis + 2] * factor) for axis, factor in enumerate(factors)]
        if recompute_scale_factor:
            factors = None
    assert sizes is not None
    if antialias and not (mode in ("bilinear", "bicubic") and len(shape) == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    filtered = _FILTERS.get((mode, len(shape)))
    if filtered is None:
        if len(shape) in _BY_DIMENSIONS and mode in _BY_DIMENSIONS.values():
            raise NotImplementedError(f"Got {len(shape)}D input, but {mode} mode needs another number of dimensions")
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported"
            f" (got {len(shape)}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | "
            f"nearest-exact (got {mode})"
        )
    if mode == "area":
        pools = {1: _C._VariableFunctions.adaptive_avg_pool1d, 2: _C._nn.adaptive_avg_pool2d}
        return pools.get(dimensions, _C._nn.adaptive_avg_pool3d)(input, sizes)
    steps: list[float | None] = [None, None, None]
    if factors:
        steps[3 - dimensions :] = factors
    return _C._nn._interpolate(input, sizes, *steps, filtered, bool(align_corners), antialias)


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
