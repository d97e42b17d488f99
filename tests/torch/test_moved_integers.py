"""Integers at the borders of vectors and of their ranges: conversions, shifts, flips, extremes; rows in order."""

from __future__ import annotations

import bisect
import math

import pytest

import torch

SMALL = (torch.int8, torch.uint8, torch.int16)


@pytest.mark.parametrize("dtype", SMALL, ids=str)
@pytest.mark.parametrize("floating", [torch.float32, torch.float64], ids=str)
def test_numbers_beyond_int32_wrap_through_int64(dtype: torch.dtype, floating: torch.dtype) -> None:
    beyond = [2.0**31, -(2.0**31), -(2.0**31) - 512, 2.0**40 + 2.0**20, -(2.0**35), 2147483520.0, -1.5, 300.25]
    for length in (1, 8, 37, 256, 300, 1000):
        for place, number in enumerate(beyond):
            x = torch.linspace(-400, 400, length, dtype=floating)
            x[place * 7 % length] = number
            assert torch.equal(x.to(dtype), x.to(torch.int64).to(dtype))
            assert x.to(torch.int64).tolist() == [int(each) for each in x.tolist()]


def test_bytes_are_shifted_by_any_number() -> None:
    for dtype, low in ((torch.int8, -128), (torch.uint8, 0)):
        numbers = torch.arange(low, low + 256).to(dtype)
        a, b = numbers[:, None].expand(256, 256).contiguous(), numbers.expand(256, 256).contiguous()
        inside = (b >= 0) & (b < 8)
        wide = b.long().clamp(0, 7)
        left = torch.where(inside, a.long() << wide, 0).to(dtype)
        right = torch.where(inside, a.long() >> wide, torch.where(a < 0, -1, 0)).to(dtype)
        assert torch.equal(a << b, left)
        assert torch.equal(a >> b, right)
        assert torch.equal((a << 3)[:, 0], numbers << 3)
        assert torch.equal((a >> 9)[:, 0], torch.where(numbers < 0, -1, 0).to(dtype))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64, torch.complex128], ids=str)
def test_rows_backwards(dtype: torch.dtype) -> None:
    for length in (*range(1, 70), 127, 128, 129, 255, 257):
        x = torch.arange(3 * length).to(dtype).view(3, length)
        assert x.flip(1).tolist() == [row[::-1] for row in x.tolist()]


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_both_extremes(dtype: torch.dtype) -> None:
    for length in (1, 2, 31, 33, 1000, 100_000):
        x = torch.randint(-100, 100, (length,)).to(dtype)
        least, greatest = torch.aminmax(x)
        assert (least.item(), greatest.item()) == (min(x.tolist()), max(x.tolist()))
        assert least.dtype == greatest.dtype == dtype
    kept = torch.aminmax(x.view(10, -1)[:, ::2], keepdim=True)
    assert [tuple(part.shape) for part in kept] == [(1, 1), (1, 1)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_both_extremes_of_floats(dtype: torch.dtype) -> None:
    for length in (1, 2, 15, 33, 1000, 100_000):
        x = torch.randn(length).to(dtype)
        least, greatest = torch.aminmax(x)
        assert (least.item(), greatest.item()) == (min(x.tolist()), max(x.tolist()))
        assert least.dtype == greatest.dtype == dtype
        for place in {0, length // 2, length - 1}:
            x[place] = -math.inf
            assert [part.item() for part in torch.aminmax(x)] == [-math.inf, max(x.tolist())]
            changed = x.clone()
            changed[place] = math.nan
            assert all(part.isnan() for part in torch.aminmax(changed))
    x = torch.tensor([1.0, -2.0, 5.0], dtype=dtype, requires_grad=True)
    least, greatest = torch.aminmax(x)
    (least + 2 * greatest).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64], ids=str)
def test_ranges_of_many_parts(dtype: torch.dtype) -> None:
    for count in (1, 2, 7, 255, 256, 257, 1000, 40_000, 70_001):
        assert torch.arange(count, dtype=dtype).tolist() == list(range(count))
        assert torch.arange(5, 5 - 3 * count, -3, dtype=dtype).tolist() == list(range(5, 5 - 3 * count, -3))
        even = torch.linspace(0, 2 * (count - 1), count, dtype=dtype)
        assert even.tolist() == list(range(0, 2 * count, 2))
    far = torch.arange(2**24 - 3, 2**24 + 5, dtype=torch.float64)
    assert far.tolist() == list(range(2**24 - 3, 2**24 + 5))


def test_nothing_to_reduce() -> None:
    x = torch.randn(3, 1, 70, 5)
    x[0, 0, 0, 0], x[0, 0, 1, 1], x[1, 0, 0, 2] = math.nan, math.inf, -0.0
    for y in (x, x.transpose(2, 3), x[:, :, ::2], x.double(), x.bfloat16(), (x.nan_to_num(0, 9) * 9).long()):
        plain = y.squeeze(1)
        for reduced in (y.sum(1), y.amax(1), y.amin(1), y.prod(1), y.max(1).values):
            assert torch.equal(reduced.nan_to_num(7), plain.nan_to_num(7))
        assert torch.equal(y.sum(1, keepdim=True).nan_to_num(7), y.nan_to_num(7))
    assert torch.equal((x > 0).any(1), (x > 0).squeeze(1))
    assert torch.equal(x.mean(1).nan_to_num(7), x.squeeze(1).nan_to_num(7))


def test_powers_of_two_are_exact() -> None:
    for dtype, low, high in ((torch.float64, -1074, 1023), (torch.float32, -149, 127)):
        exponents = torch.arange(low, high + 1, dtype=dtype)
        expected = torch.tensor([math.ldexp(1.0, int(n)) for n in exponents.tolist()], dtype=torch.float64)
        assert torch.equal((2**exponents).double(), expected)
        assert torch.equal(torch.ldexp(torch.ones(1, dtype=dtype), exponents).double(), expected)
    special = 2 ** torch.tensor([math.inf, -math.inf, math.nan])
    assert special[:2].tolist() == [math.inf, 0.0]
    assert special[2].isnan()


@pytest.mark.parametrize("descending", [False, True])
def test_wide_numbers_that_differ_in_some_bits(descending: bool) -> None:
    torch.manual_seed(0)
    below = torch.randint(0, 50, (700,))
    rows = [
        below,
        below + (1 << 62),
        torch.where(below < 25, below, below - (1 << 62)),
        below * (1 << 31) + torch.randint(0, 9, (700,)),
        torch.cat([below, torch.tensor([torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max])]),
        (below.double() / 7 + 1e9).view(torch.int64),
        torch.full((700,), 3),
        below[:1],
        below[:0],
    ]
    for row in rows:
        for x in (row, row.double() * 0.1 + 1):
            values, places = x.sort(descending=descending, stable=True)
            numbers = [-number if descending else number for number in x.tolist()]
            assert places.tolist() == sorted(range(len(x)), key=numbers.__getitem__)
            assert torch.equal(values, x[places])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8, torch.bfloat16], ids=str)
def test_searches_of_any_length(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    for size in (0, 1, 2, 3, 7, 8, 9, 64, 100):
        row = torch.randint(0, 40, (size,)).to(dtype).sort().values
        wanted = torch.randint(0, 42, (21,)).to(dtype)
        for right, search in ((False, bisect.bisect_left), (True, bisect.bisect_right)):
            expected = [search(row.tolist(), value) for value in wanted.tolist()]
            assert torch.searchsorted(row, wanted, right=right).tolist() == expected
            rows = torch.stack([row, row + 1])
            both = torch.searchsorted(rows, torch.stack([wanted, wanted]), right=right).tolist()
            assert both == [expected, [search((row + 1).tolist(), value) for value in wanted.tolist()]]
            shuffled = torch.randperm(size)
            sorter = shuffled.argsort()
            assert torch.searchsorted(row[shuffled], wanted, right=right, sorter=sorter).tolist() == expected


def test_searches_for_nan_and_among_them() -> None:
    row = torch.tensor([1.0, 2.0, math.inf, math.nan, math.nan])
    wanted = torch.tensor([0.0, 1.0, math.nan, math.inf, 2.5, 3.0, 1.0, 2.0, 2.0, math.nan])
    assert torch.searchsorted(row, wanted).tolist() == [0, 0, 3, 2, 2, 2, 0, 1, 1, 3]
    assert torch.searchsorted(row, wanted, right=True).tolist() == [0, 1, 5, 3, 2, 2, 1, 2, 2, 5]
    assert torch.searchsorted(row, wanted[3:9].repeat(2)).tolist() == [2, 2, 2, 0, 1, 1] * 2
    assert torch.searchsorted(row, wanted[3:9].repeat(2), right=True).tolist() == [3, 2, 2, 1, 2, 2] * 2


def test_columns_of_powers() -> None:
    x = torch.tensor([2.0, -3.0, 0.0])
    assert torch.vander(x, 4, increasing=True).tolist() == [[1, 2, 4, 8], [1, -3, 9, -27], [1, 0, 0, 0]]
    assert torch.vander(x, 1).tolist() == [[1.0]] * 3
    assert torch.vander(x, 0).shape == (3, 0)
    assert torch.vander(torch.tensor([True, False]), 3).tolist() == [[1, 1, 1], [0, 0, 1]]
    assert torch.linalg.vander(x.view(1, 3), N=3).tolist() == [[[1, 2, 4], [1, -3, 9], [1, 0, 0]]]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool], ids=str)
def test_steps_of_integers(dtype: torch.dtype) -> None:
    given = torch.arange(-40, 41).to(dtype)
    values = torch.arange(81).flip(0).to(dtype)
    pairs = zip(given.tolist(), values.tolist(), strict=True)
    expected = [value if number == 0 else number > 0 for number, value in pairs]
    assert torch.heaviside(given, values).tolist() == expected
    assert given.heaviside(values[40]).tolist() == [values[40].item() if n == 0 else n > 0 for n in given.tolist()]
    out = torch.empty(0, dtype=dtype)
    assert torch.heaviside(given, values, out=out) is out
    assert out.tolist() == expected
    assert given.clone().heaviside_(values).tolist() == expected
    assert torch.heaviside(given[::2], values[::2]).tolist() == expected[::2]
    assert torch.heaviside(given[:0], values[:0]).shape == (0,)
