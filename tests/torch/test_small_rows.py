"""Kernels that treat short rows, few columns or small matrices in a way of their own, held against plain indexing."""

from __future__ import annotations

import itertools

import pytest

import torch

TYPES = (torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.complex128)
WORDS = (torch.uint8, torch.int16, torch.int32, torch.float64, torch.complex128)
NUMBERS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16)


def numbers(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return (torch.rand(shape, dtype=torch.float64) * 200).to(dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("length", [2, 5, 8, 9, 16, 17, 33, 64, 65])
def test_rows_that_follow_each_other_in_the_result_alone(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    rows = numbers(700, length, dtype=dtype)
    column = numbers(700, 1, dtype=dtype)
    part = numbers(700, 2 * length + 3, dtype=dtype)[:, 1 : length + 1]
    apart = numbers(700, 2 * length, dtype=dtype)[:, ::2]
    for other in (column, part, apart):
        expected = rows + other.expand(rows.shape).contiguous()
        assert torch.equal(rows + other, expected)
        assert torch.equal(other + rows, expected)
        wide = other.to(torch.complex128)
        assert torch.equal(rows + wide, rows.to(torch.complex128) + wide.expand(rows.shape).contiguous())
    stacked = torch.stack((rows, rows.flip(0)))
    assert torch.equal(stacked * column, torch.stack((rows * column, rows.flip(0) * column)))


@pytest.mark.parametrize("dtype", WORDS, ids=str)
@pytest.mark.parametrize(("rows", "columns"), list(itertools.product((3, 8, 31, 32, 70), (2, 7, 16, 45, 64))))
def test_transposed_copies(rows: int, columns: int, dtype: torch.dtype) -> None:
    matrix = torch.arange(rows * columns).reshape(rows, columns).to(dtype)
    assert matrix.t().contiguous().tolist() == [list(row) for row in zip(*matrix.tolist(), strict=True)]
    batch = torch.stack((matrix, matrix + 1)).transpose(1, 2).contiguous()
    assert torch.equal(batch[1], (matrix + 1).t())


@pytest.mark.parametrize("dtype", WORDS, ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 5, 9, 16, 31])
def test_copies_of_short_rows(length: int, dtype: torch.dtype) -> None:
    line = torch.arange(200).to(dtype)
    assert line.unfold(0, length, 3).contiguous().tolist() == [
        line.tolist()[start : start + length] for start in range(0, 200 - length + 1, 3)
    ]
    column = line[:, None].expand(200, length).contiguous()
    assert all(row == [number] * length for row, number in zip(column.tolist(), line.tolist(), strict=True))


@pytest.mark.parametrize("source", NUMBERS, ids=str)
@pytest.mark.parametrize("target", [*NUMBERS, torch.float32, torch.float64], ids=str)
def test_conversions(source: torch.dtype, target: torch.dtype) -> None:
    torch.manual_seed(0)
    given = numbers(1000, dtype=source) if source == torch.bool else numbers(1000, dtype=source) // 2
    expected = torch.tensor(given.tolist(), dtype=torch.float64).to(target)
    assert torch.equal(given.to(target), expected)
    assert torch.equal(given[::3].to(target), expected[::3])
    assert torch.equal(torch.empty(2000, dtype=target)[::2].copy_(given), expected)


@pytest.mark.parametrize("source", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("target", [torch.uint8, torch.int8, torch.int16], ids=str)
def test_numbers_beyond_int32_wrap(source: torch.dtype, target: torch.dtype) -> None:
    given = torch.arange(-500, 500).to(source) * 1.5
    given[700] = 3 * 2.0**32 + 1024
    given[10] = -(2.0**31)
    assert torch.equal(given.to(target), given.to(torch.int64).to(target))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("shape", [(7,), (300, 5), (4, 200, 3), (2, 3, 130), (64, 64)])
def test_sums_of_complex_numbers(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    given = torch.randn(shape, dtype=dtype)
    for layout in (given, given.transpose(0, -1), given[..., ::2]):
        for dim in (None, *range(layout.dim())):
            for function in (torch.sum, torch.mean):
                both = torch.complex(function(layout.real, dim), function(layout.imag, dim))
                torch.testing.assert_close(function(layout, dim), both)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8, torch.bool], ids=str)
@pytest.mark.parametrize("shape", [(3, 5000), (5000, 3), (700, 15), (700, 16), (700, 40), (5, 300, 7), (2, 600, 60)])
def test_reductions_of_few(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    given = (torch.rand(shape) * 3).to(dtype)
    for layout in (given, given.transpose(0, -1)):
        for dim in range(layout.dim()):
            columns = layout.movedim(dim, 0).double()
            total, largest, every = columns[0].clone(), columns[0].clone(), columns[0] != 0
            for row in columns[1:]:
                total, largest, every = total + row, torch.maximum(largest, row), every & (row != 0)
            torch.testing.assert_close(layout.sum(dim).double(), total, rtol=1e-6, atol=0)
            assert torch.equal(layout.amax(dim).double(), largest)
            assert torch.equal(layout.all(dim).double(), every.double())
            if dtype != torch.bool:
                found = layout.max(dim)
                assert torch.equal(found.values.double(), largest)
                assert torch.equal(layout.gather(dim, found.indices.unsqueeze(dim)).squeeze(dim), found.values)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 9), (5, 3, 70), (6, 1, 40), (9, 20, 66), (3, 600, 5), (4, 9, 1)])
def test_products_of_integers(m: int, n: int, k: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    low = 0 if dtype == torch.uint8 else -9
    a, b = torch.randint(low, 100, (m, k)).to(dtype), torch.randint(low, 100, (k, n)).to(dtype)
    expected = (a.long().unsqueeze(2) * b.long().unsqueeze(0)).sum(1).to(dtype)
    for left, right in itertools.product((a, a.t().contiguous().t()), (b, b.t().contiguous().t())):
        assert torch.equal(left @ right, expected)
        assert torch.equal(torch.addmm(expected, left, right, beta=3, alpha=2), expected * 5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64], ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 16), (2, 2, 2), (4, 4, 4), (3, 5, 4), (1, 8, 8)])
def test_products_of_many_tiny_matrices(m: int, n: int, k: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b = torch.randn(50, m, k, dtype=dtype), torch.randn(50, k, n, dtype=dtype)
    expected = (a.unsqueeze(3) * b.unsqueeze(1)).sum(2)
    for left, right in itertools.product((a, a.mT.contiguous().mT), (b, b.mT.contiguous().mT)):
        torch.testing.assert_close(left @ right, expected)
