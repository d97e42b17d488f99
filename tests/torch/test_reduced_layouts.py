"""Reductions of what lies with gaps, in steps, twice or turned round, held against the same elements side by side."""

from __future__ import annotations

import itertools
import math

import pytest

import torch

TYPES = (torch.bool, torch.uint8, torch.int32, torch.int64, torch.bfloat16, torch.float32, torch.float64)
SHAPES = ((130, 5, 2), (2, 130, 5), (129, 1, 3), (5, 17, 65), (20, 30, 4))


def numbers(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    """So small that their sums are exact, in whatever order."""
    return torch.randint(-1, 3, shape).to(dtype)


def views(shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    a, b, c = shape
    wide = numbers(a, b, 2 * c + 1, dtype=dtype)
    turned = numbers(c, a, b, dtype=dtype)
    return [
        wide[..., 1 : c + 1],
        wide[..., : 2 * c : 2],
        wide[..., 1 : 2 * c : 2],
        turned.permute(1, 2, 0),
        turned.permute(1, 0, 2).transpose(1, 2),
        wide.unfold(2, 2, 1)[..., 1 : c + 1, :].flatten(1, 2),
        wide[:, :1, :c].expand(a, b, c),
        numbers(a, b + 2, c, dtype=dtype).unfold(1, 3, 1).transpose(2, 3),
    ]


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_over_every_choice_of_dimensions(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    sums_to = torch.float64 if dtype.is_floating_point else torch.int64
    for view in views(shape, dtype):
        dense = view.contiguous().clone()
        for count in range(1, view.dim() + 1):
            for dims in itertools.combinations(range(view.dim()), count):
                kept = [dim for dim in range(view.dim()) if dim not in dims]
                rows = dense.permute(*kept, *dims).reshape(*[dense.size(dim) for dim in kept], -1).contiguous()
                assert torch.equal(view.sum(dims, dtype=sums_to), rows.to(sums_to).cumsum(-1)[..., -1])
                assert torch.equal(view.amax(dims), rows.cummax(-1).values[..., -1])
                assert torch.equal(view.amin(dims), rows.cummin(-1).values[..., -1])
                assert torch.equal(view.any(dims), rows.bool().cumsum(-1)[..., -1] > 0)
                assert torch.equal(view.count_nonzero(dims), rows.bool().cumsum(-1)[..., -1])
                if dtype == torch.float32:
                    total = rows.to(sums_to).cumsum(-1)[..., -1]
                    assert torch.equal(view.sum(dims), total.to(dtype))
                    assert torch.equal(view.mean(dims), (total / rows.size(-1)).to(dtype))
                    norms = (rows.to(sums_to) ** 2).cumsum(-1)[..., -1].sqrt().to(dtype)
                    assert torch.allclose(torch.linalg.vector_norm(view, dim=dims), norms, rtol=1e-6, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64, torch.complex64], ids=str)
def test_what_lies_between_rows_is_not_seen(dtype: torch.dtype) -> None:
    """Numbers between rows are added up, too, and belong to no result."""
    for rows, columns, width in ((200, 3, 7), (128, 2, 64), (131, 40, 41), (20, 100, 130), (17, 5, 9)):
        for start in (0, width - columns):
            memory = torch.full((rows, width), math.nan, dtype=dtype)
            memory[:, start : start + columns] = 1
            kept = memory[:, start : start + columns]
            both = torch.stack([memory, memory])[:, :, start : start + columns]

            def is_full(found: torch.Tensor, number: int) -> bool:
                return torch.equal(found, torch.full_like(found, number))

            assert is_full(kept.sum(0), rows)
            assert is_full(kept.sum(1), columns)
            assert is_full(kept.sum(), rows * columns)
            assert is_full(kept.mean(0), 1)
            assert is_full(both.sum(1), rows)
            assert is_full(both.sum((0, 1)), 2 * rows)
            assert is_full(both.sum((0, 2)), 2 * columns)
    # A tensor that ends where its memory does.
    memory = torch.ones(200 * 8 - 5, dtype=dtype)
    assert memory.as_strided((200, 3), (8, 1)).sum(0).tolist() == [200] * 3


def test_empty_and_single() -> None:
    for shape, dims in (((0, 5, 2), (0, 2)), ((200, 0, 2), (0, 2)), ((200, 3, 0), (0,)), ((0, 3), (1,))):
        x = torch.zeros(shape)
        kept = [size for dim, size in enumerate(shape) if dim not in dims]
        assert torch.equal(x.sum(dims), torch.zeros(kept))
        assert torch.equal(x.mean(dims).isnan().all(), torch.tensor(True))
    assert torch.ones(200, 1, 1)[:, :, 0].sum((0, 1)).item() == 200
    assert torch.ones(1, 40)[:, ::2].sum(1).tolist() == [20]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 50, 7), (2, 300, 3), (4, 9, 8), (129, 1, 2), (700, 2, 3), (5, 1, 2100)], ids=str)
def test_running_results_of_few_columns(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randint(3, shape).to(dtype)
    ones = (x != 0).to(dtype)
    for dim in range(3):
        total = torch.zeros_like(x.select(dim, 0), dtype=torch.float64 if dtype.is_floating_point else torch.int64)
        found, product = x.cumsum(dim), ones.cumprod(dim)
        factor = torch.ones_like(total)
        for i, row in enumerate(x.unbind(dim)):
            total = total + row
            factor = factor * ones.select(dim, i)
            assert torch.equal(found.select(dim, i), total.to(found.dtype))
            assert torch.equal(product.select(dim, i), factor.to(product.dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_softmax_of_few_columns(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    tolerance = 1e-2 if dtype == torch.bfloat16 else 1e-6
    for shape in ((20, 100, 2), (300, 7, 7), (5, 300, 3), (2, 600, 1), (10, 40, 4, 2), (3, 5, 2)):
        x = torch.randn(shape).to(dtype).requires_grad_()
        grad = torch.randn(shape).to(dtype)
        for function in (torch.softmax, torch.log_softmax):
            found = function(x, 1)
            rows = function(x.detach().double().movedim(1, -1), -1).movedim(-1, 1)
            assert found.is_contiguous()
            assert torch.allclose(found.double(), rows, rtol=tolerance, atol=tolerance)
            (slope,) = torch.autograd.grad(found, x, grad)
            wide = x.detach().double().requires_grad_()
            (expected,) = torch.autograd.grad(function(wide, 1), wide, grad.double())
            assert torch.allclose(slope.double(), expected, rtol=5 * tolerance, atol=5 * tolerance)


@pytest.mark.parametrize("dtype", [*TYPES, torch.complex128], ids=str)
def test_fills_and_copies_of_rows_with_gaps(dtype: torch.dtype) -> None:
    few = ((3, 2), (4, 3), (6, 4), (5, 7), (3, 8), (7, 9), (5, 17), (5, 31), (40, 33))
    for rows, columns in (*few, (9, 64), (7, 65), (4, 128), (4, 129), (3, 511), (2, 600)):
        for step in (1, 2, 3):
            memory = torch.zeros(rows, columns * step + 2, dtype=dtype)
            part = memory[:, 1 : 1 + columns * step : step]
            part.fill_(1)
            assert (part == 1).sum().item() == rows * columns == (memory != 0).sum().item()
            values = numbers(rows, columns, dtype=dtype)
            part.copy_(values)
            assert part.tolist() == values.tolist()
            assert memory[:, 0].tolist() == memory[:, -1].tolist() == [0] * rows
            assert torch.equal(part.clone(), values)
            part.copy_(values[:, :1].expand(rows, columns))
            assert part.tolist() == [[row[0]] * columns for row in values.tolist()]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_orders_around_few_items(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    for size in (15, 16, 17, 31, 32, 33, 40, 199, 201):
        row = torch.randint(-100, 100, (size,)).to(dtype)
        for descending in (False, True):
            order = sorted(range(size), key=row.tolist().__getitem__, reverse=descending)
            if descending:  # of equals the first comes first
                order = sorted(range(size), key=lambda i: -float(row[i]))
            values, indices = row.sort(stable=True, descending=descending)
            assert indices.tolist() == order
            assert values.tolist() == [row.tolist()[i] for i in order]


def test_equal_of_what_differs_early_or_late() -> None:
    for dtype in (*TYPES, torch.float16, torch.complex64):
        x = torch.ones(1000, dtype=dtype)
        assert torch.equal(x, x.clone())
        for place in (0, 15, 16, 999):
            y = x.clone()
            y[place] = 0
            assert not torch.equal(x, y)
    assert torch.equal(torch.tensor([0.0, -0.0]), torch.tensor([-0.0, 0.0]))
    nan = torch.tensor([math.nan])
    assert not torch.equal(nan, nan)
