"""Kernels whose loops are made of vectors: bool, complex numbers, what is infinite; around the length of a vector."""

from __future__ import annotations

import itertools
import math

import pytest

import torch

LENGTHS = (1, 3, 15, 16, 31, 33, 64, 100, 1000)


@pytest.mark.parametrize("length", LENGTHS)
def test_bool(length: int) -> None:
    torch.manual_seed(0)
    a, b = torch.rand(length) > 0.5, torch.rand(length) > 0.5
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    for function, expected in (
        (torch.add, [x or y for x, y in pairs]),
        (torch.mul, [x and y for x, y in pairs]),
        (torch.maximum, [x or y for x, y in pairs]),
        (torch.minimum, [x and y for x, y in pairs]),
        (torch.bitwise_and, [x and y for x, y in pairs]),
        (torch.bitwise_or, [x or y for x, y in pairs]),
        (torch.bitwise_xor, [x != y for x, y in pairs]),
        (torch.logical_and, [x and y for x, y in pairs]),
        (torch.logical_or, [x or y for x, y in pairs]),
        (torch.logical_xor, [x != y for x, y in pairs]),
        (torch.eq, [x == y for x, y in pairs]),
        (torch.lt, [x < y for x, y in pairs]),
        (torch.ge, [x >= y for x, y in pairs]),
    ):
        result = function(a, b)
        assert result.dtype == torch.bool
        assert result.tolist() == expected
        apart = torch.stack((a, b), 1)
        assert function(apart[:, 0], apart[:, 1]).tolist() == expected
    flipped = [not x for x in a.tolist()]
    assert (~a).tolist() == a.logical_not().tolist() == flipped
    assert a.sign().tolist() == (a**1).tolist() == a.tolist()
    assert (a**0).tolist() == [True] * length
    assert a.clone().bitwise_not_().tolist() == flipped
    assert torch.add(a, b, alpha=False).tolist() == a.tolist()


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_complex(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b, w = (torch.randn(length, dtype=torch.complex128) for _ in range(3))
    a[0], b[length // 2] = 0, 1
    a[-1] = b[-1]
    x, y, z = a.to(dtype), b.to(dtype), w.to(dtype)
    a, b, w = x.to(torch.complex128), y.to(torch.complex128), z.to(torch.complex128)
    rows = list(zip(a.tolist(), b.tolist(), w.tolist(), strict=True))
    tolerance = 8 * torch.finfo(dtype).eps

    def check(result: torch.Tensor, expected: list[complex]) -> None:
        wanted = torch.tensor(expected, dtype=torch.complex128)
        assert torch.all((result.to(torch.complex128) - wanted).abs() <= tolerance * (1 + wanted.abs()))

    check(x + y, [p + q for p, q, _ in rows])
    check(x - y, [p - q for p, q, _ in rows])
    check(x * y, [p * q for p, q, _ in rows])
    check(x / y, [p / q for p, q, _ in rows])
    check(y.reciprocal(), [1 / q for _, q, _ in rows])
    check(-x, [-p for p, _, _ in rows])
    check(x.conj_physical(), [p.conjugate() for p, _, _ in rows])
    check(x.sgn(), [p / abs(p) if p else 0 for p, _, _ in rows])
    check(torch.addcmul(x, y, z, value=2), [p + 2 * q * r for p, q, r in rows])
    check(torch.addcdiv(x, y, z, value=2) / 8, [(p + 2 * q / r) / 8 for p, q, r in rows])
    check(torch.lerp(x, y, 0.25 + 0.5j), [p + (0.25 + 0.5j) * (q - p) for p, q, _ in rows])
    check(torch.lerp(x, y, z), [p + r * (q - p) for p, q, r in rows])
    assert (x == y).tolist() == [p == q for p, q, _ in rows]
    assert (x != y).tolist() == [p != q for p, q, _ in rows]
    assert x.logical_not().tolist() == [not p for p, _, _ in rows]
    assert x.logical_xor(y).tolist() == [bool(p) != bool(q) for p, q, _ in rows]
    assert torch.equal(torch.complex(x.real, y.imag).real, x.real)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex_numbers_that_are_not_finite(dtype: torch.dtype) -> None:
    parts = (0.0, -0.0, 1.5, math.inf, -math.inf, math.nan)
    z = torch.tensor([complex(x, y) for x, y in itertools.product(parts, parts)], dtype=dtype)
    one_by_one = torch.stack([torch.ones((), dtype=dtype) / each for each in z])
    many = torch.ones_like(z) / z
    assert torch.equal(torch.view_as_real(many).isnan(), torch.view_as_real(one_by_one).isnan())
    assert (z == z).tolist() == [not (math.isnan(each.real) or math.isnan(each.imag)) for each in z.tolist()]
    assert z.logical_not().tolist() == [each == 0 for each in z.tolist()]
    signs = torch.view_as_real(torch.full((9,), -0.0 + 0j, dtype=dtype).sgn())
    assert not torch.any(signs.signbit())
    assert torch.equal(z.sgn().isnan(), torch.stack([each.sgn() for each in z]).isnan())
    extreme = torch.finfo(dtype).max * torch.tensor([0.375 + 0.5j] * 5, dtype=torch.complex128)
    expected = torch.full((5,), 0.6 + 0.8j, dtype=dtype)
    torch.testing.assert_close(extreme.to(dtype).sgn(), expected)
    tiny = torch.tensor([3 + 4j] * 5, dtype=dtype) * torch.finfo(dtype).tiny
    torch.testing.assert_close(tiny.sgn(), expected)
    by_zero = torch.full((20,), 1 - 2j, dtype=dtype) / torch.zeros(20, dtype=dtype)
    assert by_zero.tolist() == [complex(math.inf, -math.inf)] * 20


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("length", LENGTHS)
def test_nan_to_num(length: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(length).to(dtype)
    specials = torch.tensor([math.nan, math.inf, -math.inf, -0.0, torch.finfo(dtype).max, -torch.finfo(dtype).max])
    x[torch.randint(length, (6,))] = specials.to(dtype)
    largest = torch.finfo(dtype).max

    def replace(number: float, nan: float, above: float, below: float) -> float:
        return nan if math.isnan(number) else above if number == math.inf else below if number == -math.inf else number

    for arguments, (nan, above, below) in (((), (0.0, largest, -largest)), ((2.0, 3.0, -4.0), (2.0, 3.0, -4.0))):
        expected = [replace(number, nan, above, below) for number in x.tolist()]
        assert x.nan_to_num(*arguments).tolist() == expected
        written = x.clone()
        version = written._version
        assert written.nan_to_num_(*arguments) is written
        assert written._version == version + 1
        assert written.tolist() == expected
        apart = torch.stack((x, x), 1)[:, 0].nan_to_num_(*arguments)
        assert apart.tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_columns_of_halves(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = torch.randn(40, 77).to(dtype)
    column = torch.tensor([math.inf, math.nan, 6e-8, -0.0, 1e-4, 3.0, -2.5, 1e4] * 5).to(dtype)[:, None]
    for function in (torch.add, torch.mul, torch.maximum):
        expected = function(x, column.expand(x.shape).contiguous())
        torch.testing.assert_close(function(x, column), expected, rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(function(column, x), expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("width", [65, 128, 255, 256, 512, 1024])
@pytest.mark.parametrize("rows", [1, 2, 7, 24])
def test_a_row_beside_many(rows: int, width: int, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    x = (torch.rand(rows, width) * 90).to(dtype)
    row = (torch.rand(width) * 90).to(dtype)
    expected = x + row.expand(x.shape).contiguous()
    assert torch.equal(x + row, expected)
    assert torch.equal(row + x, expected)
    assert torch.equal(x.clone().add_(row), expected)
    assert torch.equal(x[:, :-1] + row[1:], x[:, :-1].contiguous() + row[1:].expand(rows, -1).contiguous())
    assert torch.equal(x + row.double(), x + row.double().expand(x.shape).contiguous())
