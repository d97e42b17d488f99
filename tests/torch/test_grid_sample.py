"""grid_sample in every layout and at every count of places: the numbers of one place at a time."""

from __future__ import annotations

import itertools

import pytest

import torch
from torch.nn import functional

CASES = list(itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("mode", "padding"), CASES)
def test_layouts_and_places(mode: str, padding: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    images = torch.randn(2, 5, 6, 7).to(dtype)
    grid = (torch.rand(2, 9, 15, 2) * 3 - 1.5).to(dtype)  # 135 places: two whole parts of 64, and a rest
    grid[0, 0, 0, 0] = float("nan")
    dense = functional.grid_sample(images, grid, mode, padding, align_corners=False)
    last = images.contiguous(memory_format=torch.channels_last)
    assert torch.equal(
        functional.grid_sample(last, grid, mode, padding, align_corners=False).nan_to_num(99), dense.nan_to_num(99)
    )
    for row in range(9):
        alone = functional.grid_sample(images, grid[:, row : row + 1], mode, padding, align_corners=False)
        assert torch.equal(alone.nan_to_num(99), dense[:, :, row : row + 1].nan_to_num(99))


@pytest.mark.parametrize(("mode", "padding"), CASES)
def test_gradients_in_both_layouts(mode: str, padding: str) -> None:
    torch.manual_seed(1)
    images = torch.randn(2, 3, 4, 5, dtype=torch.float64)
    grid = (torch.rand(2, 3, 23, 2, dtype=torch.float64) * 2.6 - 1.3).requires_grad_()
    gradients = []
    for layout in (torch.contiguous_format, torch.channels_last):
        given = images.contiguous(memory_format=layout).requires_grad_()
        result = functional.grid_sample(given, grid, mode, padding, align_corners=True)
        gradients.append(torch.autograd.grad((result * result.detach().sin()).sum(), (given, grid)))
    for dense, last in zip(*gradients, strict=True):
        torch.testing.assert_close(dense, last)
    if mode == "bilinear":
        assert torch.autograd.gradcheck(
            lambda x, g: functional.grid_sample(x, g, mode, padding, align_corners=True),
            (images.requires_grad_(), grid),
        )


def test_volumes() -> None:
    torch.manual_seed(2)
    volumes = torch.randn(1, 3, 3, 4, 5)
    grid = torch.rand(1, 2, 5, 7, 3) * 2.4 - 1.2
    dense = functional.grid_sample(volumes, grid, align_corners=False)
    last = volumes.contiguous(memory_format=torch.channels_last_3d)
    assert torch.equal(functional.grid_sample(last, grid, align_corners=False), dense)
    wide = functional.grid_sample(volumes.double(), grid.double(), align_corners=False)
    torch.testing.assert_close(dense, wide.float())
