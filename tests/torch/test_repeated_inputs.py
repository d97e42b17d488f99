"""Inputs that repeat under short rows: numbers of channels, or of samples and channels, under pixels."""

from __future__ import annotations

import itertools

import pytest

import torch

SHAPES = ((3, 32, 9, 31), (2, 5, 40, 41), (4, 3, 64, 64), (2, 64, 8, 8))
GATES = ("sample and channel", "channel", "sample", "column")


def gate_of(kind: str, images: torch.Tensor) -> torch.Tensor:
    batch, channels, _, width = images.shape
    shapes = {
        "sample and channel": (batch, channels, 1, 1),
        "channel": (1, channels, 1, 1),
        "sample": (batch, 1, 1, 1),
        "column": (batch, channels, 1, width),
    }
    return torch.randn(shapes[kind]).to(images.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64], ids=str)
@pytest.mark.parametrize(("shape", "kind"), list(itertools.product(SHAPES, GATES)))
def test_every_layout_gives_the_same(shape: tuple[int, ...], kind: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    images = (torch.randn(shape) * 9).to(dtype)
    gate = gate_of(kind, images)
    expected = images * gate.expand(shape).contiguous()
    layouts = (
        images,
        images.contiguous(memory_format=torch.channels_last),
        images.transpose(0, 3).contiguous().transpose(0, 3),
    )
    for layout in layouts:
        assert torch.equal(layout * gate, expected)
        assert torch.equal(gate * layout, expected)
        assert torch.equal(torch.where(gate > 0, layout, gate), torch.where((gate > 0).expand(shape), images, gate))
        written = layout.clone()
        written *= gate
        assert torch.equal(written, expected)
        assert torch.equal(layout.double() * gate, images.double() * gate.expand(shape).contiguous())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64], ids=str)
@pytest.mark.parametrize("width", [1, 3, 17, 65, 129, 700])
def test_columns_beside_three_inputs(width: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    wide = torch.randn(9, 40, width + 2).to(dtype)
    x, y = wide[..., :width], wide[..., 1 : width + 1]
    functions = {
        "lerp": torch.lerp,
        "addcmul": lambda a, b, c: torch.addcmul(a, b, c, value=0.5),
        "addcdiv": lambda a, b, c: torch.addcdiv(a, b, c, value=0.5),
        "where": lambda a, b, c: torch.where(a.real > 0, b, c),
    }
    for function in functions.values():
        for column in (wide[..., -1:], wide[:1, :1, -1:], wide[:, :1, -1:]):
            whole = column.expand_as(x).contiguous()
            expected = function(x.contiguous(), y.contiguous(), whole)
            assert torch.equal(function(x, y, column), expected)
            assert torch.equal(function(x, column, y), function(x.contiguous(), whole, y.contiguous()))
            assert torch.equal(function(x, column, column), function(x.contiguous(), whole, whole))
