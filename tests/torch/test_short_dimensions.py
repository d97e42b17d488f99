"""Dimensions of a few elements, whose rows are gone through several at a time, held against one row after the other."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

TYPES = (torch.bool, torch.uint8, torch.int16, torch.int64, torch.bfloat16, torch.float32, torch.float64)
SIZES = (1, 2, 3, 5, 7, 10, 15, 16, 17, 33)


def numbers(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    """Few different ones, so that some are equal."""
    return torch.randint(-4, 5, shape).to(dtype)


def laid_out(x: torch.Tensor) -> list[torch.Tensor]:
    """The same numbers as they may lie."""
    wide = torch.cat([x, x], -1)
    return [x, wide[..., : x.size(-1)], x.movedim(0, -1).contiguous().movedim(-1, 0)]


def same(found: torch.Tensor, expected: torch.Tensor) -> bool:
    return found.dtype == expected.dtype and torch.equal(found.nan_to_num(99), expected.nan_to_num(99))


@pytest.mark.parametrize("dtype", [*TYPES, torch.complex128], ids=str)
@pytest.mark.parametrize(("rows", "columns"), list(itertools.product((1, 2, 129, 300), SIZES)))
def test_indices_along_short_rows(rows: int, columns: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = numbers(rows, columns, dtype=dtype)
    for dim, length in ((0, rows), (1, columns)):
        index = torch.randint(length, (rows, columns))
        places = [index, torch.arange(columns)] if dim == 0 else [torch.arange(rows)[:, None], index]
        for lying, as_lying in itertools.product(laid_out(x), laid_out(index)):
            assert torch.equal(lying.gather(dim, as_lying), x[tuple(places)])
        added, put = x.clone(), x.clone()
        for i, j in itertools.product(range(min(rows, 20)), range(columns)):
            at = (int(index[i, j]), j) if dim == 0 else (i, int(index[i, j]))
            added[at] += x[i, j]
            put[at] = x[i, j]
        some = index[:20]
        for lying in laid_out(x):
            assert torch.equal(x.clone().scatter_add_(dim, some, lying), added)
            assert torch.equal(x.clone().scatter_(dim, some, lying), put)


def test_indices_between_other_dimensions() -> None:
    torch.manual_seed(0)
    for shape in ((70, 7, 5), (3, 2, 200), (2, 1, 3), (40, 3, 2, 6)):
        x = numbers(*shape, dtype=torch.float32)
        for dim in range(len(shape)):
            index = torch.randint(shape[dim], shape)
            expected = torch.stack(
                [row[at] for row, at in zip(x.movedim(dim, -1).reshape(-1, shape[dim]),
                                            index.movedim(dim, -1).reshape(-1, shape[dim]), strict=True)]
            ).view(x.movedim(dim, -1).shape).movedim(-1, dim)  # fmt: skip
            assert torch.equal(x.gather(dim, index), expected)
            one = index.narrow(dim, 0, 1)
            assert torch.equal(x.gather(dim, one), expected.narrow(dim, 0, 1))
            doubled = torch.zeros_like(x).scatter_reduce(dim, index, x, "sum", include_self=False)
            assert torch.equal(doubled, torch.zeros_like(x).scatter_add(dim, index, x))
    with pytest.raises(RuntimeError, match="index 2 is out of bounds for dimension 1 with size 2"):
        torch.zeros(50, 2).gather(1, torch.full((50, 2), 2))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_orders_of_short_rows(size: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = numbers(60, size, dtype=dtype)
    if dtype.is_floating_point:
        x[::7, size // 2] = math.nan
        x[::5, 0] = -0.0
        x[1::5, size - 1] = -math.inf

    def key(row: list[float], descending: bool) -> list[int]:
        def rank(i: int) -> tuple[bool, float]:
            number = 0.0 if math.isnan(row[i]) else float(row[i])
            return (not math.isnan(row[i]), -number) if descending else (math.isnan(row[i]), number)

        return sorted(range(len(row)), key=rank)

    for descending in (False, True):
        order = torch.tensor([key(row, descending) for row in x.tolist()])
        expected = torch.stack([row[at] for row, at in zip(x, order, strict=True)])
        for lying in laid_out(x):
            values, indices = lying.sort(dim=1, descending=descending, stable=True)
            assert torch.equal(indices, order)
            assert same(values, expected)
        values, indices = x.t().contiguous().sort(dim=0, descending=descending, stable=True)
        assert torch.equal(indices, order.t())
        assert same(values, expected.t())
        if dtype == torch.bool:
            continue
        for count in {1, (size + 1) // 2, size}:
            values, indices = x.topk(count, 1, largest=descending)
            assert same(values, expected[:, :count])
            assert same(values, torch.stack([row[at] for row, at in zip(x, indices, strict=True)]))
            if not descending:
                values, indices = x.kthvalue(count, 1)
                assert same(values, expected[:, count - 1])
                assert torch.equal(indices, order[:, count - 1])


def test_orders_of_wide_numbers() -> None:
    """Beyond 32 bits, on both sides of 0 and as far apart as can be."""
    torch.manual_seed(0)
    for numbers_of in (
        lambda n: torch.randint(-50, 50, (n,)),
        lambda n: torch.randint(-(1 << 62), 1 << 62, (n,)),
        lambda n: torch.randint(-50, 50, (n,)) * (1 << 33) + torch.randint(3, (n,)),
        lambda n: torch.where(torch.rand(n) < 0.5, torch.iinfo(torch.int64).max, torch.iinfo(torch.int64).min),
        lambda n: torch.randn(n, dtype=torch.float64),
        lambda n: torch.randint(-3, 3, (n,)).double(),
    ):
        for size in (2, 16, 17, 40, 199, 200, 1500):
            row = numbers_of(size)
            order = sorted(range(size), key=row.tolist().__getitem__)
            assert row.sort(stable=True).indices.tolist() == order
            backwards = sorted(range(size), key=row.tolist().__getitem__, reverse=True)
            assert row.sort(descending=True).values.tolist() == row[backwards].tolist()


def reduce_by_hand(
    x: torch.Tensor, dim: int, step: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    rows = x.unbind(dim)
    result = rows[0].clone()
    for row in rows[1:]:
        result = step(result, row)
    return result


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("count", "columns"), list(itertools.product((1, 2, 7, 16, 17, 40), SIZES)))
def test_reductions_of_few_columns(count: int, columns: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = numbers(9, count, columns, dtype=dtype)
    wide = torch.int64 if dtype in (torch.bool, torch.uint8, torch.int16) else dtype
    for lying in laid_out(x):
        for tensor, dim in ((lying, 1), (lying.transpose(1, 2), 2), (lying.transpose(0, 1), 0)):
            assert torch.equal(tensor.amax(dim), reduce_by_hand(tensor, dim, torch.maximum))
            assert torch.equal(tensor.amin(dim), reduce_by_hand(tensor, dim, torch.minimum))
            assert torch.equal(tensor.any(dim), reduce_by_hand(tensor.bool(), dim, torch.logical_or))
            assert torch.equal(tensor.all(dim), reduce_by_hand(tensor.bool(), dim, torch.logical_and))
            assert torch.equal(tensor.sum(dim), reduce_by_hand(tensor.to(wide), dim, torch.add))
            assert torch.equal(tensor.nansum(dim), tensor.sum(dim))
            least, greatest = torch.aminmax(tensor, dim=dim)
            assert torch.equal(least, tensor.amin(dim))
            assert torch.equal(greatest, tensor.amax(dim))
    if dtype.is_floating_point:
        x[4, count // 2, columns // 2] = math.nan  # and nothing beside it
        rows = x.flatten()[: 9 * count * columns].view(x.shape)
        assert rows.amax(1).isnan().sum() == 1
        assert rows.sum(1).isnan().sum() == 1
        assert rows.nansum(1).isnan().sum() == 0
        assert rows.to(torch.float32).mean(1).isnan().sum() == 1


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.float64], ids=str)
def test_windows_that_overlap(dtype: torch.dtype) -> None:
    x = numbers(5, 70, dtype=dtype)
    for size in (2, 3, 16, 17, 70):
        expected = torch.stack([x[:, i : i + size].contiguous().sum(1) for i in range(70 - size + 1)], 1)
        assert torch.equal(x.unfold(1, size, 1).sum(-1), expected)
        assert torch.equal(x.unfold(1, size, 1).amax(-1), x.unfold(1, size, 1).contiguous().amax(-1))


@pytest.mark.parametrize("dtype", [*TYPES, torch.complex128], ids=str)
@pytest.mark.parametrize("columns", SIZES)
def test_moves_of_short_rows(columns: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = numbers(131, columns, dtype=dtype)
    for lying in laid_out(x):
        assert torch.equal(lying.flip(1), torch.stack(x.unbind(1)[::-1], 1))
        assert torch.equal(lying.flip(0), torch.stack(x.unbind(0)[::-1], 0))
        assert lying.flip(0, 1).tolist() == [row[::-1] for row in x.tolist()[::-1]]
        assert torch.equal(lying.index_select(0, torch.tensor([130, 0, 7])), torch.stack([x[130], x[0], x[7]]))
        assert torch.equal(lying[torch.tensor([130, 0, -1])], torch.stack([x[130], x[0], x[130]]))
        for diagonal in (-140, -131, -130, -3, 0, 1, 20):
            kept = torch.arange(columns) - torch.arange(131)[:, None]
            assert torch.equal(lying.triu(diagonal), torch.where(kept >= diagonal, x, torch.zeros_like(x)))
            assert torch.equal(lying.tril(diagonal), torch.where(kept <= diagonal, x, torch.zeros_like(x)))
    for shape in ((70, columns, 3), (70, 3, columns), (3, 64, columns)):
        y = numbers(*shape, dtype=dtype)
        for order in itertools.permutations(range(3)):
            moved = y.permute(order).contiguous()
            assert moved.flatten().tolist() == y.permute(order).flatten().tolist()
            back = sorted(range(3), key=order.__getitem__)
            assert torch.equal(moved.permute(back), y)
        picked = y.index_select(1, torch.tensor([y.size(1) - 1, 0]))
        assert torch.equal(picked, torch.stack([y[:, -1], y[:, 0]], 1))


@pytest.mark.parametrize("dtype", [*TYPES, torch.complex64, torch.complex128], ids=str)
def test_rows_that_do_not_lie_side_by_side(dtype: torch.dtype) -> None:
    """Every operand of every width, in rows around the parts that are brought side by side."""
    torch.manual_seed(0)
    for length in (1, 2, 255, 256, 257, 600):
        x, y, z = (numbers(length, 3, dtype=dtype)[:, 1] for _ in range(3))
        plain = x.contiguous(), y.contiguous(), z.contiguous()
        out = torch.empty(length, 2, dtype=dtype)[:, 1]
        assert torch.equal(torch.mul(x, y, out=out), plain[0] * plain[1])
        assert torch.equal(torch.where(x == y, z, x), torch.where(plain[0] == plain[1], plain[2], plain[0]))
        assert torch.equal(x.to(torch.complex128) * z, plain[0].to(torch.complex128) * plain[2])
        if dtype != torch.bool:
            assert torch.equal(torch.neg(x, out=out), -plain[0])
            assert torch.equal(torch.addcmul(x, y, z), torch.addcmul(*plain))
