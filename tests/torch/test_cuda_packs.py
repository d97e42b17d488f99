"""Neighbours that a kernel reads together: what lies beside them, where they begin, and how many there are.

Each tensor is memory of its own under the emulation, so that a read or a write beyond its elements is an error.
"""

from __future__ import annotations

import pytest

import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason=str(torch.cuda.unavailable_reason()))

REAL = [torch.bool, torch.uint8, torch.int16, torch.float16, torch.float32, torch.int64]
DTYPES = [*REAL, torch.complex64, torch.complex128]
# Elements: fewer than a pack, packs alone, packs and a rest.
COUNTS = [1, 3, 4, 19, 261]


def _numbers(count: int, dtype: torch.dtype) -> torch.Tensor:
    return ((torch.arange(count) * 7 % 11) - 3).to(dtype)


def _places(count: int, dtype: torch.dtype, skipped: int) -> torch.Tensor:
    """Numbers on the device that end where their memory does, `skipped` elements behind its start."""
    return _numbers(count + skipped, dtype).cuda()[skipped:]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_element_wise(dtype: torch.dtype) -> None:
    for count in COUNTS:
        for skipped in (0, 1):
            a, b = _places(count, dtype, skipped), _places(count, dtype, 0)
            mask = _places(count, torch.bool, skipped)
            for x, y, chosen in ((a, b, mask), (b, a, mask)):
                told = f"{count} elements, {skipped} left out"
                p, q, m = x.cpu(), y.cpu(), chosen.cpu()
                assert torch.equal((x + y).cpu(), p + q), told
                assert torch.equal((x * 2).cpu(), p * 2), told
                assert torch.equal((x == y).cpu(), p == q), told
                assert torch.equal(torch.where(chosen, x, y).cpu(), torch.where(m, p, q)), told
                assert torch.equal(torch.masked_fill(x, chosen, 1).cpu(), torch.masked_fill(p, m, 1)), told


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_results_leave_their_neighbours_alone(dtype: torch.dtype) -> None:
    whole = torch.zeros(40, dtype=dtype).cuda()
    ones = torch.ones(40, dtype=dtype).cuda()
    for first, last in ((0, 5), (4, 11), (3, 4), (8, 40)):
        whole.zero_()
        torch.mul(ones[first:last], ones[first:last], out=whole[first:last])
        expected = torch.zeros(40, dtype=dtype)
        expected[first:last] = 1
        assert torch.equal(whole.cpu(), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_of_rows(dtype: torch.dtype) -> None:
    for columns in (1, 3, 33, 300):
        table = _places(3 * columns, dtype, 1).view(3, columns)
        there = table.cpu()
        for rows in (slice(None), slice(1, None)):
            for inside in (slice(None), slice(1, None), slice(None, None, 2)):
                x, y = table[rows, inside], there[rows, inside]
                assert torch.equal(x.any(1).cpu(), y.any(1)), columns
                assert torch.equal(x.all(1).cpu(), y.all(1)), columns
                assert torch.equal(x.sum(1).cpu(), y.sum(1)), columns  # of small whole numbers: exact in any order
                if y.shape[1] and not dtype.is_complex:
                    assert torch.equal(x.amax(1).cpu(), y.amax(1)), columns


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_reductions_of_columns(dtype: torch.dtype) -> None:
    pack = 16 // dtype.itemsize
    for shape in ((3, 5 * pack), (41, pack), (2, 3, 2 * pack), (70, 33 * pack // 2)):
        table = _places(2 * torch.Size(shape).numel(), dtype, 0).view(2, *shape)
        there = table.cpu()
        for x, y in ((table[1], there[1]), (table[1, ..., 1:], there[1, ..., 1:]), (table[..., 0], there[..., 0])):
            told = f"{shape}, {tuple(y.stride())}"
            assert torch.equal(x.any(0).cpu(), y.any(0)), told
            assert torch.equal(x.sum(0).cpu(), y.sum(0)), told
            assert torch.equal(x.sum(-2).cpu(), y.sum(-2)), told
            if y.numel() and not dtype.is_complex:
                assert torch.equal(x.amax(0).cpu(), y.amax(0)), told


def test_tall_columns_are_cut() -> None:
    for columns in (1, 4, 7):
        table = _places(2500 * columns, torch.float32, 0).view(2500, columns)
        assert torch.equal(table.sum(0).cpu(), table.cpu().sum(0))
        assert torch.equal(table.amax(0).cpu(), table.cpu().amax(0))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32], ids=str)
def test_long_rows_are_cut_within_packs(dtype: torch.dtype) -> None:
    row = _places(4999, dtype, 1)
    assert torch.equal(row.sum().cpu(), row.cpu().sum())
    row.zero_()
    assert not row.any().item()
    row[-1] = 1
    assert row.any().item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128], ids=str)
def test_truth_of_zeros_and_nan(dtype: torch.dtype) -> None:
    numbers = [0.0, -0.0, float("nan"), float("inf"), 5e-324 if dtype == torch.float64 else 1e-45]
    if dtype.is_complex:
        numbers = [complex(a, b) for a in numbers for b in numbers]
    for number in numbers:
        row = torch.tensor([number] * 9, dtype=dtype)
        assert row.cuda().any().item() == row.any().item(), number
        assert row.cuda().all().item() == row.all().item(), number
