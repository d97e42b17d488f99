"""Images and volumes sampled at places of a grid, and the grids of affine maps."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch

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
    if any(each <= 0 for each in size):
        raise ValueError(f"Expected non-zero, positive output size. Got {list(size)}")
    spatial = list(size[2:])
    base = torch.ones((*spatial, dimensions + 1), dtype=theta.dtype, device=theta.device)
    for position, steps in enumerate(spatial):
        shape = [1] * dimensions
        shape[position] = steps
        base[..., dimensions - 1 - position] = _line(steps, theta, align_corners).view(shape)
    points = base.view(1, -1, dimensions + 1).expand(size[0], -1, -1)
    return points.bmm(theta.transpose(1, 2)).view(size[0], *spatial, dimensions)


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
    modes = GRID_SAMPLE_INTERPOLATION_MODES[mode], GRID_SAMPLE_PADDING_MODES[padding_mode]
    return torch.grid_sampler(input, grid, *modes, align_corners)
