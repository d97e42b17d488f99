"""Inputs that lie crosswise to each other, which are turned round in tiles, held against copies that lie alike."""

from __future__ import annotations

import itertools

import pytest

import torch

TYPES = (
    torch.bool,
    torch.uint8,
    torch.int16,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex128,
)
SIDES = (7, 8, 9, 33, 127, 128, 129, 300)


def numbers(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return (torch.rand(shape, dtype=torch.float64) * 9 - 4).to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("rows", "columns"), list(itertools.product(SIDES, (8, 13, 64, 128, 131))))
def test_transposed_beside_plain(rows: int, columns: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x, y = numbers(rows, columns, dtype=dtype), numbers(columns, rows, dtype=dtype).t()
    plain = y.contiguous()
    assert torch.equal(x + y, x + plain)
    assert torch.equal(y * x, plain * x)
    assert torch.equal(x == y, x == plain)
    assert torch.equal(torch.where(y == x, y, x), torch.where(plain == x, plain, x))
    assert torch.equal(x.add_(y), x)
    mask = numbers(columns, rows, dtype=torch.bool).t()
    assert torch.equal(x.masked_fill(mask, 1), x.masked_fill(mask.contiguous(), 1))
    assert torch.equal(y.to(torch.complex64) + x, plain.to(torch.complex64) + x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int16], ids=str)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_order_of_three_dimensions(order: tuple[int, int, int], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    shape = (12, 40, 150)
    x, z = numbers(*shape, dtype=dtype), numbers(*shape, dtype=torch.float64)
    there = sorted(range(3), key=order.__getitem__)
    y = numbers(*(shape[dim] for dim in order), dtype=dtype).permute(there)
    plain = y.contiguous()
    assert torch.equal(x - y, x - plain)
    assert torch.equal(torch.addcmul(x, y, x[0]), torch.addcmul(x, plain, x[0]))
    assert torch.equal(y * x[:, :1], plain * x[:, :1])
    assert torch.equal(z + y, z + plain)
    assert torch.equal(y[:, :, 1:] + x[:, :, :-1], plain[:, :, 1:] + x[:, :, :-1])
    out = torch.empty(shape, dtype=dtype).permute(order).contiguous().permute(there)
    torch.add(x, y, out=out)
    assert torch.equal(out, x + plain)


def test_two_that_lie_crosswise_and_a_number() -> None:
    torch.manual_seed(0)
    x = torch.randn(200, 300)
    y, z = torch.randn(300, 200).t(), torch.randn(300, 200).double().t()
    mask = x > 0
    for threads in (1, 2):
        torch.set_num_threads(threads)
        assert torch.equal(torch.where(mask, y, z), torch.where(mask, y.contiguous(), z.contiguous()))
        assert torch.equal(torch.clamp(x, y, y + 1), torch.clamp(x, y.contiguous(), y.contiguous() + 1))
        assert torch.equal(torch.lerp(x, y, 0.3), torch.lerp(x, y.contiguous(), 0.3))
        big = torch.randn(700, 900)
        assert torch.equal(
            big + torch.arange(630_000.0).view(900, 700).t(),
            big + torch.arange(630_000.0).view(900, 700).t().contiguous(),
        )
