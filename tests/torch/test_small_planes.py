"""Planes that are read side by side: each has the numbers that it has alone, to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import torch
from torch.nn import functional

Function = Callable[[torch.Tensor], torch.Tensor]
TYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
IMAGES: dict[str, Function] = {
    "maxima": lambda x: functional.max_pool2d(x, 2, 1, 1),
    "maxima, dilated": lambda x: functional.max_pool2d(x, (3, 2), (2, 1), 1, (1, 2)),
    "maxima, adaptive": lambda x: functional.adaptive_max_pool2d(x, (3, 2)),
    "averages": lambda x: functional.avg_pool2d(x, 3, 1, 1),
    "averages, five apart": lambda x: functional.avg_pool2d(x, 3, 5, 1, count_include_pad=False),
    "averages, adaptive": lambda x: functional.adaptive_avg_pool2d(x, (4, 3)),
    "linear": lambda x: functional.interpolate(x, scale_factor=2.0, mode="bilinear"),
    "linear, smaller": lambda x: functional.interpolate(x, scale_factor=0.5, mode="bilinear"),
    "cubic": lambda x: functional.interpolate(x, (9, 5), mode="bicubic", align_corners=True),
    "nearest": lambda x: functional.interpolate(x, scale_factor=3.0),
}
VOLUMES: dict[str, Function] = {
    "maxima": lambda x: functional.max_pool3d(x, 2, 1, 1),
    "maxima, adaptive": lambda x: functional.adaptive_max_pool3d(x, (3, 2, 2)),
    "averages": lambda x: functional.avg_pool3d(x, 2, 1, 1),
    "averages, adaptive": lambda x: functional.adaptive_avg_pool3d(x, (2, 3, 2)),
    "linear": lambda x: functional.interpolate(x, scale_factor=2.0, mode="trilinear"),
}


def check_against_planes_alone(function: Function, image: torch.Tensor) -> None:
    """With the gradient; two planes are too few to lie side by side."""
    together = image.clone().requires_grad_()
    found = function(together)
    slopes = torch.rand(found.shape).to(image.dtype)
    (gradient,) = torch.autograd.grad(found, together, slopes)
    with torch.no_grad():
        assert torch.equal(function(image), found)
    for channel in range(image.size(1)):
        part = slice(channel, channel + 1)
        alone = image[:, part].clone().requires_grad_()
        expected = function(alone)
        assert torch.equal(found[:, part], expected)
        assert torch.equal(gradient[:, part], torch.autograd.grad(expected, alone, slopes[:, part])[0])


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", IMAGES)
@pytest.mark.parametrize("size", [(2, 4, 7, 7), (1, 17, 5, 6), (1, 65, 3, 4), (1, 8, 70, 50), (2, 9, 14, 40)])
def test_images(name: str, size: tuple[int, ...], dtype: torch.dtype) -> None:
    check_against_planes_alone(IMAGES[name], torch.randn(size).to(dtype))


@pytest.mark.parametrize("name", VOLUMES)
@pytest.mark.parametrize("size", [(1, 9, 1, 5, 6), (1, 17, 4, 5, 3), (1, 8, 9, 30, 33)])
def test_volumes(name: str, size: tuple[int, ...]) -> None:
    check_against_planes_alone(VOLUMES[name], torch.randn(size))


@pytest.mark.parametrize("name", ["maxima", "averages"])
@pytest.mark.parametrize("length", [1, 2, 31, 40, 41, 100])
def test_signals(name: str, length: int) -> None:
    pool = functional.max_pool1d if name == "maxima" else functional.avg_pool1d
    check_against_planes_alone(lambda x: pool(x, 3, 1, 1), torch.randn(1, 19, length))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", [name for name in IMAGES if "es" in name or "maxima" in name])
@pytest.mark.parametrize("channels", [3, 16, 19, 70])
def test_halves_with_channels_last_are_rounded_once(name: str, channels: int, dtype: torch.dtype) -> None:
    image = torch.randn(2, channels, 9, 8).to(dtype)
    image[0, 0, 0, 0] = float("nan")
    image[1, channels - 1] = -float("inf")
    expected = IMAGES[name](image.float()).to(dtype)
    image = image.to(memory_format=torch.channels_last)
    assert torch.equal(IMAGES[name](image).nan_to_num(9.0), expected.nan_to_num(9.0))
    found = IMAGES[name](image.requires_grad_())
    assert torch.equal(found.nan_to_num(9.0), expected.nan_to_num(9.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("with_weight", [False, True])
@pytest.mark.parametrize(
    ("size", "groups"),
    [((3, 6), 3), ((5, 40), 2), ((70, 34), 1), ((2, 30, 5), 10), ((2, 32, 4, 4), 8), ((9, 64, 1), 32)],
)
def test_groups_of_few(size: tuple[int, ...], groups: int, with_weight: bool, dtype: torch.dtype) -> None:
    image = torch.randn(size).to(dtype)
    numbers = [torch.randn(size[1]).to(dtype) for _ in range(2)] if with_weight else []
    wide = [tensor.double().requires_grad_() for tensor in (image, *numbers)]
    leaves = [tensor.clone().requires_grad_() for tensor in (image, *numbers)]
    rows = wide[0].reshape(size[0], groups, -1)
    rows = (rows - rows.mean(2, keepdim=True)) / (rows.var(2, correction=0, keepdim=True) + 1e-5).sqrt()
    expected = rows.reshape(size)
    if with_weight:
        shape = (-1, *[1] * (len(size) - 2))
        expected = expected * wide[1].reshape(shape) + wide[2].reshape(shape)
    found = functional.group_norm(leaves[0], groups, *leaves[1:])
    slopes = torch.randn(size).to(dtype)
    gradients = torch.autograd.grad(found, leaves, slopes)
    tolerance = {torch.float32: 2e-4, torch.float64: 1e-10, torch.bfloat16: 6e-2}[dtype]
    wanted = torch.autograd.grad(expected, wide, slopes.double())
    pairs = list(zip((found, *gradients), (expected, *wanted), strict=True))
    for result, reference in pairs[: 1 if dtype is torch.bfloat16 else None]:  # means are kept in its few digits
        torch.testing.assert_close(result.double(), reference, rtol=tolerance, atol=tolerance)
