"""Kernels that treat short rows, few columns or small matrices in a way of their own, held against plain indexing."""

from __future__ import annotations

import itertools
import math

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


@pytest.mark.parametrize("dtype", TYPES[:4], ids=str)
@pytest.mark.parametrize("length", [2, 8, 9, 16, 17, 33, 65, 100, 130])
def test_three_operands_some_of_which_are_columns(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    table = numbers(6, 200, length + 3, dtype=dtype)
    a, b, column, line = table[..., :length], table[..., 2 : length + 2], table[..., :1], table[:, :1, 1 : length + 1]
    for operands in ((a, b, column), (column, a, b), (a, column, table[..., 1:2]), (line, a, column), (a, line, b)):
        dense = [operand.expand(a.shape).contiguous() for operand in operands]
        assert torch.equal(torch.addcmul(*operands), torch.addcmul(*dense))
        assert torch.equal(torch.where(operands[0] > 90, *operands[1:]), torch.where(dense[0] > 90, *dense[1:]))
        assert torch.equal(operands[0] * operands[1], dense[0] * dense[1])
        if dtype.is_floating_point:
            assert torch.equal(torch.lerp(*operands), torch.lerp(*dense))
    inside = table.clone()
    inside[..., :length].addcmul_(b, column)
    assert torch.equal(inside[..., :length], torch.addcmul(a.contiguous(), b.contiguous(), column.expand(a.shape)))
    assert torch.equal(inside[..., length:], table[..., length:])
    inside = table.clone()
    inside[..., :length].mul_(line)
    assert torch.equal(inside[..., :length], a.contiguous() * line.expand(a.shape).contiguous())
    assert torch.equal(inside[..., length:], table[..., length:])


@pytest.mark.parametrize("dtype", WORDS, ids=str)
@pytest.mark.parametrize(("rows", "columns"), list(itertools.product((3, 8, 31, 32, 70), (2, 7, 16, 45, 64))))
def test_transposed_copies(rows: int, columns: int, dtype: torch.dtype) -> None:
    matrix = torch.arange(rows * columns).reshape(rows, columns).to(dtype)
    assert matrix.t().contiguous().tolist() == [list(row) for row in zip(*matrix.tolist(), strict=True)]
    batch = torch.stack((matrix, matrix + 1)).transpose(1, 2).contiguous()
    assert torch.equal(batch[1], (matrix + 1).t())


@pytest.mark.parametrize("dtype", WORDS, ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 5, 9, 16, 31, 33, 57, 64, 65])
def test_copies_of_short_rows(length: int, dtype: torch.dtype) -> None:
    line = torch.arange(200).to(dtype)
    assert line.unfold(0, length, 3).contiguous().tolist() == [
        line.tolist()[start : start + length] for start in range(0, 200 - length + 1, 3)
    ]
    column = line[:, None].expand(200, length).contiguous()
    assert all(row == [number] * length for row, number in zip(column.tolist(), line.tolist(), strict=True))
    rows = torch.arange(40 * length).view(40, length).to(dtype)
    assert rows.flip(1).tolist() == [row[::-1] for row in rows.tolist()]
    several = rows[:, None].expand(40, 3, length).contiguous()
    assert several.tolist() == [[row] * 3 for row in rows.tolist()]


@pytest.mark.parametrize("dtype", WORDS, ids=str)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17])
def test_short_rows_in_another_order(length: int, dtype: torch.dtype) -> None:
    whole = torch.arange(3 * 37 * (length + 1)).view(3, 37, length + 1).to(dtype)
    for block in (whole[..., :length], whole[..., 1:], whole[..., 1:].clone(), whole[:, :2, :length], whole[:, :1, 1:]):
        planes = block.tolist()
        assert block.flip(1).tolist() == [plane[::-1] for plane in planes]
        assert block.flip(0).tolist() == planes[::-1]
        assert block[:, ::3].clone().tolist() == [plane[::3] for plane in planes]
        assert block.transpose(0, 1).contiguous().tolist() == [list(rows) for rows in zip(*planes, strict=True)]
        assert torch.cat((block, block.flip(1)), 1).tolist() == [plane + plane[::-1] for plane in planes]


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("length", [1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 130, 256, 257, 1025])
def test_reductions_of_rows_that_end_anywhere(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    rows = (torch.randint(-16, 17, (40, length)) / 4).to(dtype)  # whose sums are exact
    exact = rows.double()
    for shape in ((40, length), (20, 2, length)):
        layout, wide = (values.view(shape).transpose(0, -2) for values in (rows, exact))
        total = torch.zeros(wide.shape[:-1], dtype=torch.float64)
        for i in range(length):
            total = total + wide[..., i]
        assert torch.equal(layout.sum(-1), total.to(dtype))
        assert torch.equal(layout.amax(-1).double(), wide.sort(-1).values[..., -1])
        assert torch.equal(layout.amin(-1).double(), wide.sort(-1).values[..., 0])
    columns = rows.t().contiguous()
    assert torch.equal(columns.sum(0), rows.sum(1))
    assert torch.equal(columns.amax(0), rows.amax(1))
    for place in {0, length // 2, length - 1}:  # what is no number is the result, wherever it is
        for number, largest in ((float("nan"), float("nan")), (float("inf"), float("inf"))):
            changed = rows.clone()
            changed[3, place] = number
            for found in (changed.amax(1), changed.t().contiguous().amax(0), changed.sum(1)):
                assert str(found[3].item()) == str(largest)
                assert found.isfinite().sum() == 39


@pytest.mark.parametrize("dtype", [torch.int64, torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("length", [1, 8, 15, 16, 17, 40, 300])
def test_products_of_rows(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    rows = torch.randint(1, 3, (9, length)).to(dtype)
    rows = 1j**rows if dtype.is_complex else 2 * rows - 3
    expected = rows[:, 0].clone()
    for i in range(1, length):
        expected = expected * rows[:, i]
    torch.testing.assert_close(rows.prod(1), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "shape", [(3000, 1), (700, 2), (1025, 3), (70, 16), (70, 17), (9, 33), (5, 19, 17), (2, 8, 1030)]
)
def test_softmax_of_few(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    given = (torch.randn(shape) * 3).to(dtype)
    given[0, 0] = -float("inf")
    given[1, 0] = float("nan")
    given[-1, -1] = float("inf")
    wide = given.double()
    ratio = (wide - wide.amax(1, True)).exp()
    ratio = ratio / ratio.sum(1, True)
    torch.testing.assert_close(given.softmax(1), ratio.to(dtype), equal_nan=True)
    torch.testing.assert_close(given.log_softmax(1), ratio.log().to(dtype), equal_nan=True)


@pytest.mark.parametrize("dtype", WORDS, ids=str)
@pytest.mark.parametrize("dim", [0, 1, 2, 3])
def test_joined_rows(dim: int, dtype: torch.dtype) -> None:
    sizes = [[3, 4, 5, 6] for _ in range(3)]
    for size, length in zip(sizes, (2, 0, 3), strict=True):
        size[dim] = length
    parts = [numbers(*size, dtype=dtype) for size in sizes]
    for layout in (torch.contiguous_format, torch.channels_last):
        given = [part.to(memory_format=layout) for part in parts if part.numel() or layout == torch.contiguous_format]
        joined = torch.cat(given, dim)
        assert joined.is_contiguous(memory_format=layout)
        assert torch.equal(joined.narrow(dim, 0, 2), parts[0])
        assert torch.equal(joined.narrow(dim, 2, 3), parts[2])
    assert torch.equal(torch.cat([parts[0], parts[2].to(memory_format=torch.channels_last)], dim), joined)


def test_elements_of_a_vector_by_index() -> None:
    line = torch.arange(100.0)
    index = torch.tensor([[3, -1], [-100, 99]])
    for vector in (line, torch.arange(200.0)[::2] / 2, torch.arange(100.0).flip(0).flip(0)):
        assert vector[index].tolist() == [[3.0, 99.0], [0.0, 99.0]]
        assert vector.take(index).tolist() == [[3.0, 99.0], [0.0, 99.0]]
        for outside in (100, -101):
            with pytest.raises(IndexError, match=f"index {outside} is out of bounds for dimension 0 with size 100"):
                vector[torch.tensor([0, outside])]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8], ids=str)
def test_index_add_of_a_vector(dtype: torch.dtype) -> None:
    target, places = torch.arange(5).to(dtype), torch.tensor([4, 0, 4, 4])
    expected = torch.tensor([2, 1, 2, 3, 12]).to(dtype)
    assert torch.equal(target.index_add(0, places, torch.tensor([1, 2, 3, 4]).to(dtype)), expected)
    doubled = target.index_add(0, places.int(), torch.tensor([1, 2, 3, 4]).to(dtype), alpha=2)
    assert torch.equal(doubled, expected * 2 - target)
    target[::2].index_add_(0, torch.tensor([2, 1]), torch.tensor([5, 6]).to(dtype))
    assert target.tolist() == [0, 1, 8, 3, 9]


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_magnitudes_angles_and_reciprocals(dtype: torch.dtype) -> None:
    inf, nan = float("inf"), float("nan")
    parts = (0.0, -0.0, 1.0, -3.0, 1e-30, 1e30, inf, -inf, nan)
    given = torch.tensor([complex(a, b) for a in parts for b in parts], dtype=dtype)
    for layout in (given, given.repeat(2)[::2].contiguous(), given.view(9, 9).t()):
        flat = layout.reshape(-1)
        for size, angle, number in zip(
            layout.abs().flatten().tolist(), layout.angle().flatten().tolist(), flat.tolist(), strict=True
        ):
            assert size == pytest.approx(math.hypot(number.real, number.imag), rel=1e-6, nan_ok=True)
            assert angle == pytest.approx(math.atan2(number.imag, number.real), rel=1e-6, nan_ok=True)
        one = torch.ones((), dtype=dtype)
        torch.testing.assert_close(layout.reciprocal(), one / layout, equal_nan=True)


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
