"""Images and volumes sampled at places of a grid, and the grids of affine maps."""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional.upsampling import cubic_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def _warn_about_corners() -> None:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details.",
        stacklevel=3,
    )


def _line(steps: int, like: Tensor, align_corners: bool) -> Tensor:
    """The places of `steps` elements between -1 and 1: their centres, or with the outer ones at the ends."""
    if steps <= 1:
        return torch.zeros(steps, dtype=like.dtype, device=like.device)
    places = torch.linspace(-1, 1, steps, dtype=like.dtype, device=like.device)
    return places if align_corners else places * ((steps - 1) / steps)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The places that affine maps give: `theta` (N, 2, 3) and (N, C, H, W) -> (N, H, W, 2), for `grid_sample`.

    Likewise (N, 3, 4) and (N, C, D, H, W) -> (N, D, H, W, 3). Places count from -1 to 1, x first.

    >>> affine_grid(torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    if align_corners is None:
        _warn_about_corners()
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    dimensions = len(size) - 2
    if dimensions not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {list(size)}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dimensions, dimensions + 1):
        raise ValueError(
            f"Expected a batch of {dimensions}D affine matrices of shape Nx{dimensions}x{dimensions + 1} for size "
            f"{list(size)}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    spatial = list(size[2:])
    base = torch.ones((*spatial, dimensions + 1), dtype=theta.dtype, device=theta.device)
    for position, steps in enumerate(spatial):
        shape = [1] * dimensions
        shape[position] = steps
        base[..., dimensions - 1 - position] = _line(steps, theta, align_corners).view(shape)
    points = base.view(1, -1, dimensions + 1).expand(size[0], -1, -1)
    return points.bmm(theta.transpose(1, 2)).view(size[0], *spatial, dimensions)


def _reflect(places: Tensor, low: float, high: float) -> Tensor:
    """Places thrown back at both ends until they lie between them."""
    if low == high:
        return torch.zeros_like(places)
    span = high - low
    away = (places - low).abs()
    flips = (away.detach() / span).floor()
    rest = away - flips * span
    return torch.where(flips % 2 == 0, rest + low, span - rest + low)


def _pad_places(places: Tensor, size: int, padding_mode: str, align_corners: bool) -> Tensor:
    if padding_mode == "reflection":
        places = _reflect(places, 0, size - 1) if align_corners else _reflect(places, -0.5, size - 0.5)
    return places if padding_mode == "zeros" else places.clamp(0, size - 1)


def _gather(input: Tensor, places: list[Tensor]) -> Tensor:
    """The elements (N, C, places) of (N, C, *sizes) at whole places, 0 outside."""
    sizes = input.shape[2:]
    flat, inside = None, None
    for place, size in zip(places, sizes, strict=True):
        within = (place >= 0) & (place <= size - 1)
        inside = within if inside is None else inside & within
        number = torch.where(within, place, torch.zeros_like(place)).to(torch.int64)
        flat = number if flat is None else flat * size + number
    assert flat is not None
    assert inside is not None
    batch, channels = input.shape[:2]
    index = flat.reshape(batch, 1, -1).expand(-1, channels, -1)
    found = input.reshape(batch, channels, -1).gather(2, index)
    return found * inside.reshape(batch, 1, -1).to(input.dtype)


class _WithoutSlope(torch.autograd.Function):
    """Ones in the shape of the input, whose gradient is 0."""

    @staticmethod
    def forward(ctx: Any, input: Tensor) -> Tensor:
        return torch.ones_like(input)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return torch.zeros_like(gradients[0])


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """`input` (N, C, H, W) at the places of `grid` (N, H', W', 2) -> (N, C, H', W'); or with one dimension more.

    Places count from -1 to 1, x first. mode: "bilinear" (trilinear for volumes), "nearest", or "bicubic" (images);
    padding_mode: what lies outside, "zeros", "border" or "reflection"; align_corners: whether -1 and 1 are the centres
    of the outer elements rather than their outer sides. ValueError for another word, RuntimeError for other shapes.

    >>> image, grid = torch.tensor([[[[1.0, 3.0]]]]), torch.tensor([[[[0.0, 0.0]]]])
    >>> grid_sample(image, grid, align_corners=False)
    tensor([[[[2.]]]])
    """
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn_about_corners()
        align_corners = False
    dimensions = input.dim() - 2
    if dimensions not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if input.size(0) != grid.size(0):
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.size(-1) != dimensions:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {dimensions} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    if dimensions == 3 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    sizes = input.shape[2:]
    raw = []
    for position, size in enumerate(sizes):
        place = grid[..., dimensions - 1 - position]
        raw.append((place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2)
    if mode == "bicubic":
        result = _sample_cubic(input, raw, padding_mode, align_corners)
    else:
        places = [_pad_places(place, size, padding_mode, align_corners) for place, size in zip(raw, sizes, strict=True)]
        if mode == "nearest":
            # The grid takes part, with a gradient of 0.
            still: Tensor = _WithoutSlope.apply(places[0])
            result = _gather(input, [place.detach().round() for place in places]) * still.reshape(input.size(0), 1, -1)
        else:
            result = _sample_linear(input, places)
    return result.reshape(*input.shape[:2], *grid.shape[1:-1])


def _sample_linear(input: Tensor, places: list[Tensor]) -> Tensor:
    batch = input.size(0)
    lower = [place.detach().floor() for place in places]
    result: Tensor | None = None
    for corner in product((0, 1), repeat=len(places)):
        weight: Tensor | None = None
        for place, low, upper in zip(places, lower, corner, strict=True):
            share = place - low if upper else low + 1 - place
            weight = share if weight is None else weight * share
        assert weight is not None
        part = _gather(input, [low + step for low, step in zip(lower, corner, strict=True)])
        part = part * weight.reshape(batch, 1, -1)
        result = part if result is None else result + part
    assert result is not None
    return result


def _sample_cubic(input: Tensor, raw: list[Tensor], padding_mode: str, align_corners: bool) -> Tensor:
    batch = input.size(0)
    lower = [place.detach().floor() for place in raw]
    weights = [cubic_weights(place - low) for place, low in zip(raw, lower, strict=True)]
    result: Tensor | None = None
    for row in range(4):
        line: Tensor | None = None
        for column in range(4):
            steps = (row - 1, column - 1)
            places = [
                _pad_places(low + step, size, padding_mode, align_corners)
                for low, step, size in zip(lower, steps, input.shape[2:], strict=True)
            ]
            # Reflected places lie between elements where corners are not aligned: PyTorch cuts them off.
            part = _gather(input, [place.trunc() for place in places]) * weights[1][column].reshape(batch, 1, -1)
            line = part if line is None else line + part
        assert line is not None
        line = line * weights[0][row].reshape(batch, 1, -1)
        result = line if result is None else result + line
    assert result is not None
    return result
