"""kthvalue, median and extremes along a dimension against a sorted copy: rows of every length, repeated values, NaN."""

from __future__ import annotations

import pytest

import torch

SIZES = (1, 2, 3, 4, 5, 7, 15, 16, 17, 199, 200, 201, 5000)
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8)


def rows_of(size: int, dtype: torch.dtype, *, distinct: bool) -> torch.Tensor:
    torch.manual_seed(size)
    if distinct and dtype.is_floating_point:
        return (torch.randn(3, size) * 1000).to(dtype)
    if distinct and dtype in (torch.int64, torch.int32):
        return torch.randint(-(2**31), 2**31 - 1, (3, size)).to(dtype)
    return torch.randint(0, 5, (3, size)).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_a_place_in_order(size: int, dtype: torch.dtype, distinct: bool) -> None:
    rows = rows_of(size, dtype, distinct=distinct)
    ordered, places = rows.sort(dim=1, stable=True)
    for k in sorted({1, 2, size // 3, (size + 1) // 2, size - 1, size} & set(range(1, size + 1))):
        for given, dim in ((rows, 1), (rows.t().contiguous(), 0), (rows.repeat_interleave(2, 1)[:, ::2], -1)):
            values, indices = given.kthvalue(k, dim)
            assert torch.equal(values, ordered[:, k - 1])
            assert torch.equal(indices, places[:, k - 1])
    values, indices = rows.median(1)
    assert torch.equal(values, ordered[:, (size - 1) // 2])
    assert torch.equal(rows.gather(1, indices.unsqueeze(1)).squeeze(1), values)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_extremes_are_the_first_of_equals(size: int, dtype: torch.dtype) -> None:
    rows = rows_of(size, dtype, distinct=False)
    for function in (torch.max, torch.min):
        values, indices = function(rows, 1)
        first = (rows == values.unsqueeze(1)).to(torch.int64).cumsum(1).eq(0).sum(1)
        assert torch.equal(indices, first)
        assert torch.equal(values, rows.sort(1)[0][:, -1 if function is torch.max else 0])


@pytest.mark.parametrize("size", [3, 15, 300])
def test_not_a_number(size: int) -> None:
    rows = torch.arange(2.0 * size).reshape(2, size)
    rows[0, 1] = rows[0, 2] = float("nan")
    for function in (torch.max, torch.min, torch.median):
        values, indices = function(rows, 1)
        assert values.isnan().tolist() == [True, False]
        assert indices[0] == 1
    assert rows.kthvalue(size, 1)[0].isnan().tolist() == [True, False]
    assert rows.kthvalue(1, 1)[0].tolist() == [0.0, size]


@pytest.mark.parametrize("size", [2, 3, 7, 15, 16, 40])
def test_products_of_rows(size: int) -> None:
    torch.manual_seed(size)
    rows = torch.rand(50, size, dtype=torch.float64) + 0.5
    expected = torch.ones(50, dtype=torch.float64)
    for column in rows.unbind(1):
        expected = expected * column
    torch.testing.assert_close(rows.prod(1), expected)
    torch.testing.assert_close(rows.float().prod(1), expected.float())
    torch.testing.assert_close(rows.bfloat16().float().prod(1).bfloat16(), rows.bfloat16().prod(1))


def test_gradients_go_to_the_chosen_elements() -> None:
    rows = torch.randn(3, 300, dtype=torch.float64, requires_grad=True)
    for keepdim in (False, True):
        values, indices = rows.kthvalue(7, 1, keepdim)
        (gradient,) = torch.autograd.grad(values.sum(), rows)
        expected = torch.zeros_like(gradient).scatter_(1, indices.reshape(3, 1), 1)
        assert torch.equal(gradient, expected)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_histograms_of_many(dtype: torch.dtype, threads: int) -> None:
    torch.manual_seed(0)
    values = torch.randn(200_000, dtype=dtype)
    values[5], values[6], values[7] = float("nan"), -2.0, 2.0
    edges = torch.linspace(-2, 2, 51, dtype=dtype)
    inside = values[(values >= -2) & (values <= 2)]
    bins = (torch.searchsorted(edges, inside, right=True) - 1).clamp(max=49)
    uneven = edges.sign() * edges.abs().sqrt()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert torch.equal(torch.histc(values, 50, -2, 2).long(), torch.bincount(bins, minlength=50))
        counted = torch.histogram(values, uneven)[0].long()
    finally:
        torch.set_num_threads(before)
    for low, high, count in zip(uneven[:-2], uneven[1:-1], counted, strict=False):
        assert ((values >= low) & (values < high)).sum() == count


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("right", [False, True])
def test_searches_among_nan(dtype: torch.dtype, right: bool) -> None:
    nan = float("nan")
    edges = torch.tensor([-2.0, 0.0, 0.0, 1.0, 3.0, nan, nan], dtype=dtype)
    values = torch.tensor([nan, 0.0, -3.0, 5.0, 1.0, nan, 3.0, float("inf"), 0.5, nan, -2.0], dtype=dtype)
    expected = [7, 3, 0, 5, 4, 7, 5, 5, 3, 7, 1] if right else [5, 1, 0, 5, 3, 5, 4, 5, 3, 5, 0]
    assert torch.searchsorted(edges, values, right=right).tolist() == expected
    rows = torch.searchsorted(edges.expand(3, 7).contiguous(), values.expand(3, 11).contiguous(), right=right)
    assert rows.tolist() == [expected] * 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("descending", [False, True])
def test_few_are_sorted_as_lists_are(size: int, dtype: torch.dtype, descending: bool) -> None:
    """With equal elements in their order, zeros of both signs as equal, and NaN as the greatest."""
    rows = torch.randint(-2, 3, (200, size), generator=torch.Generator().manual_seed(size)).to(dtype)
    if dtype.is_floating_point:
        rows[::3, 0], rows[::7, 1], rows[::5, -1] = float("nan"), -0.0, float("inf")
    for given, dim in ((rows, 1), (rows.t().contiguous(), 0)):
        values, places = given.sort(dim=dim, descending=descending, stable=True)
        if dim == 0:
            values, places = values.t(), places.t()
        for row, value, place in zip(rows, values, places, strict=True):
            numbers = row.tolist()
            keys = [(True, 0.0) if number != number else (False, number) for number in numbers]
            order = sorted(range(size), key=keys.__getitem__, reverse=descending)  # which keeps the order of equals
            assert place.tolist() == order
            torch.testing.assert_close(value, row[order], rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_few_draws_are_the_first_of_many(dtype: torch.dtype) -> None:
    """Without replacement: draws of the same seed stand in one order, however many are asked for."""
    weights = torch.rand(5, 90, dtype=dtype, generator=torch.Generator().manual_seed(0))
    everything = torch.multinomial(weights, 90, generator=torch.Generator().manual_seed(1))
    assert torch.equal(everything.sort(1)[0], torch.arange(90).expand(5, 90))
    for count in (1, 2, 31, 32, 33, 89):
        drawn = torch.multinomial(weights, count, generator=torch.Generator().manual_seed(1))
        assert torch.equal(drawn, everything[:, :count])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16])
@pytest.mark.parametrize("span", [1, 5, 300, 30000])
def test_unique_of_integers(dtype: torch.dtype, span: int) -> None:
    """Of those that are counted as of those that are sorted, up to the ends of the type."""
    ends = torch.iinfo(dtype)
    for least in (0, -span // 2, ends.min, ends.max - span):
        drawn = torch.randint(span + 1, (40, 5), generator=torch.Generator().manual_seed(span)) + least
        given = drawn.to(dtype)
        for numbers in (given, given.t()):
            values, places, counts = torch.unique(numbers, return_inverse=True, return_counts=True)
            assert values.tolist() == sorted(set(drawn.flatten().tolist()))
            assert torch.equal(values[places], numbers)
            assert torch.equal(counts, (numbers.reshape(-1, 1) == values).sum(0))
            assert torch.equal(torch.unique(numbers), values)
