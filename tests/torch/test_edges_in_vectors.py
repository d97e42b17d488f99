"""Functions in vectors at the edges of their domains, where others ask the C library number by number."""

from __future__ import annotations

import itertools
import math
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

FLOATING = [torch.float32, torch.float64]
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5, math.inf, -math.inf, math.nan)


def _same(found: float, expected: float, tolerance: float = 0) -> bool:
    """Whether both are NaN, or the same number with the same sign."""
    if math.isnan(expected):
        return math.isnan(found)
    is_close = math.isclose(found, expected, rel_tol=tolerance)
    return is_close and math.copysign(1, found) == math.copysign(1, expected)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except ValueError:  # of 0 to a negative number, or of a negative one to a fraction
        if base != 0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2 == 1 else math.inf


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_powers(dtype: torch.dtype) -> None:
    pairs = list(itertools.product(EDGES, EDGES))
    bases, exponents = torch.tensor(pairs, dtype=dtype).unbind(1)
    tolerance = 2 * torch.finfo(dtype).eps
    for (base, exponent), found in zip(pairs, torch.pow(bases, exponents).tolist(), strict=True):
        assert _same(found, _power(base, exponent), tolerance), (base, exponent, found)
    for exponent in EDGES:
        many = torch.tensor(EDGES, dtype=dtype).repeat(3) ** torch.full((), exponent, dtype=dtype)
        for base, found in zip(EDGES * 3, many.tolist(), strict=True):
            assert _same(found, _power(base, exponent), tolerance), (base, exponent, found)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_remainders_of_large_quotients(dtype: torch.dtype) -> None:
    """Exactly what the C library has, whatever the quotient; those of subnormal divisors, too."""
    generator = torch.Generator().manual_seed(0)
    smallest, largest = (-149, 127) if dtype == torch.float32 else (-1074, 1023)
    mantissas = torch.rand(2, 4000, generator=generator, dtype=torch.float64) + 1
    exponents = torch.randint(smallest, largest, (2, 4000), generator=generator).double()
    signs = torch.randint(2, (2, 4000), generator=generator) * 2 - 1
    whole = exponents.div(2).floor()
    a, b = (mantissas * 2**whole * 2 ** (exponents - whole) * signs).to(dtype).unbind(0)
    b[b == 0] = 1
    edges = torch.tensor(list(itertools.product(EDGES, EDGES)), dtype=dtype)
    a, b = torch.cat([a, edges[:, 0]]), torch.cat([b, edges[:, 1]])

    def rest(x: float, y: float) -> float:
        return math.nan if math.isinf(x) or y == 0 else math.fmod(x, y)

    for x, y, found, positive in zip(a.tolist(), b.tolist(), a.fmod(b).tolist(), a.remainder(b).tolist(), strict=True):
        expected = rest(x, y)
        assert _same(found, expected), (x, y, found, expected)
        if expected != 0 and (expected < 0) != (y < 0):
            expected = torch.tensor(expected, dtype=dtype).add(torch.tensor(y, dtype=dtype)).item()
        assert positive == expected or math.isnan(expected), (x, y, positive, expected)
    alone = torch.cat([a[i : i + 1].fmod(b[i : i + 1]) for i in range(99)])
    torch.testing.assert_close(a[:99].fmod(b[:99]), alone, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [*FLOATING, torch.bfloat16], ids=str)
def test_log1p(dtype: torch.dtype) -> None:
    info = torch.finfo(dtype)
    numbers = [0.0, -0.0, -1.0, -1 + info.eps, -1 + info.eps / 2, -1.5, math.inf, -math.inf, math.nan, info.max, 1e30]
    x = torch.tensor(numbers, dtype=dtype)
    for length in (1, 5, 64):
        found = x.repeat(length).log1p()
        for number, result in zip(x.repeat(length).tolist(), found.tolist(), strict=True):
            if math.isnan(number) or number < -1:
                assert math.isnan(result)
            elif number == -1:
                assert result == -math.inf
            else:
                expected = torch.tensor(math.log1p(number), dtype=dtype)
                torch.testing.assert_close(torch.tensor(result, dtype=dtype), expected)


@pytest.mark.parametrize("function", ["elu", "selu", "celu"])
def test_elu_of_zeros(function: str) -> None:
    call: Callable[[torch.Tensor], torch.Tensor] = getattr(torch.nn.functional, function)
    x = torch.tensor([0.0, -0.0, 1.0, math.nan, -1.0] * 20)
    assert call(x[:2]).tolist() == [0.0, 0.0]
    assert torch.equal(call(x)[:5].isnan(), x[:5].isnan())
    assert call(x)[4::5].lt(0).all()


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int32, torch.bool], ids=str)
def test_reductions_of_single_elements(dim: int, dtype: torch.dtype) -> None:
    """Along a dimension of size 1 every result is an element."""
    x = (torch.arange(77 * 33) % 5 - 1).view(77, 33).to(dtype).unsqueeze(dim)
    flat = x.squeeze(dim)
    for laid_out in (x, x.transpose(0, 2).contiguous().transpose(0, 2)):
        assert torch.equal(laid_out.sum(dim), flat.long() if not dtype.is_floating_point else flat)
        assert torch.equal(laid_out.amax(dim), flat)
        assert torch.equal(laid_out.any(dim), flat != 0)
        if dtype == torch.bool:
            continue
        assert torch.equal(laid_out.prod(dim, keepdim=True), x.long() if not dtype.is_floating_point else x)
        for values, indices in (laid_out.max(dim), laid_out.sort(dim), laid_out.topk(1, dim), laid_out.median(dim)):
            assert torch.equal(values.reshape(flat.shape), flat)
            assert not indices.any()
        assert not laid_out.argmin(dim).any()
        if dtype.is_floating_point:
            assert torch.equal(laid_out.mean(dim), flat)
            assert torch.equal(laid_out.norm(dim=dim), flat.abs())
            assert torch.equal(laid_out.logsumexp(dim), flat)
            assert laid_out.var(dim).isnan().all()
            assert not laid_out.var(dim, correction=0).any()


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_incomplete_gamma_functions(dtype: torch.dtype) -> None:
    """At the ends of both arguments, alone and among others; where one is far from the other, they are 0 and 1."""
    nan, inf = math.nan, math.inf
    lower = {
        (0.0, 0.0): nan, (0.0, 2.0): 1, (0.0, inf): 1, (2.0, 0.0): 0, (2.0, inf): 1, (inf, 2.0): 0, (inf, inf): nan,
        (-1.0, 2.0): nan, (2.0, -1.0): nan, (nan, 2.0): nan, (2.0, nan): nan, (2.0, 1e6): 1, (2.0, 1e20): 1,
        (0.5, 1e38): 1, (1e6, 2.0): 0, (1e30, 2.0): 0, (2e7, 1e7): 0, (1e7, 2e7): 1, (1e-30, 2.0): 1,
        (1.0, 1.0): 1 - 1 / math.e, (1.0, 0.25): -math.expm1(-0.25), (100.0, 100.0): 0.5132987982791487,
    }  # fmt: skip
    a, x = torch.tensor(list(lower), dtype=dtype).unbind(1)
    expected = torch.tensor(list(lower.values()), dtype=dtype)
    for times in (1, 7):
        found = torch.special.gammainc(a.repeat(times), x.repeat(times))
        torch.testing.assert_close(found, expected.repeat(times), equal_nan=True)
        rest = torch.special.gammaincc(a.repeat(times), x.repeat(times))
        torch.testing.assert_close(rest, 1 - expected.repeat(times), equal_nan=True)
    for i in range(len(lower)):
        alone = torch.special.gammainc(a[i].repeat(9), x[i].repeat(9))
        torch.testing.assert_close(alone, expected[i].repeat(9), equal_nan=True)


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_special_functions_of_edges_alone(dtype: torch.dtype) -> None:
    """A vector of one edge gives what it gives among others."""
    special = torch.special
    for function in (
        special.ndtri, special.erfcx, special.entr, special.digamma, special.log_ndtr, special.bessel_y0, torch.angle,
        special.bessel_y1, special.modified_bessel_k0, special.scaled_modified_bessel_k1, torch.erfinv, special.airy_ai,
    ):  # fmt: skip
        mixed = function(torch.tensor(EDGES, dtype=dtype))
        for edge, expected in zip(EDGES, mixed.tolist(), strict=True):
            for found in function(torch.full((19,), edge, dtype=dtype)).tolist():
                assert _same(found, expected), (function, edge, found, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux what is in memory")
def test_constants_are_in_memory_from_the_start() -> None:
    """Loads that leave out all lanes do not bring in their page, and take hundreds of cycles until it is there."""
    program = "import torch; print(open('/proc/self/smaps').read())"
    maps = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    found = re.search(r"-\w+ r--p (?!0+ )(\w+) [^/\n]*(/.*libtorch_cpu\.so)\n(?:.*\n)*?Rss: +(\d+) kB", maps)
    assert found is not None
    start, size = int(found[1], 16), int(found[3]) * 1024
    content = Path(found[2]).read_bytes()
    (headers,) = struct.unpack_from("<Q", content, 32)
    (count,) = struct.unpack_from("<H", content, 56)
    kinds = {struct.unpack_from("<I", content, headers + 56 * i)[0]: headers + 56 * i for i in range(count)}
    exception_tables = 0x6474E550  # PT_GNU_EH_FRAME: where constants end
    (end,) = struct.unpack_from("<Q", content, kinds[exception_tables] + 8)
    assert size >= end - start > 100_000


@pytest.mark.parametrize("name", ["sin", "cos"])
@pytest.mark.parametrize(("dtype", "digits"), [(torch.bfloat16, 8), (torch.float16, 11)], ids=str)
def test_sines_of_every_half(dtype: torch.dtype, digits: int, name: str) -> None:
    function = getattr(torch, name)
    numbers = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    x = numbers[numbers.isfinite()]
    for given in (x, x[1:], x.repeat_interleave(2)[::2]):
        exact = function(given.double())
        spacing = torch.ldexp(torch.tensor(1.0).double(), torch.frexp(exact)[1] - digits)
        spacing = spacing.clamp(min=torch.finfo(dtype).smallest_normal * 2.0 ** (1 - digits))
        result = function(given)
        assert ((result.double() - exact).abs() / spacing).max() < 0.51
        assert torch.equal(result.signbit(), exact.signbit())
    assert function(numbers[~numbers.isfinite()]).isnan().all()


@pytest.mark.parametrize("dtype", FLOATING, ids=str)
def test_the_normal_distribution_without_a_gradient(dtype: torch.dtype) -> None:
    x = torch.cat([torch.linspace(-12, 12, 1001, dtype=dtype), torch.tensor([math.inf, -math.inf, math.nan])])
    for given in (x, x[1::3]):
        expected = torch.special.ndtr(given.clone().requires_grad_()).detach()
        torch.testing.assert_close(torch.special.ndtr(given), expected, rtol=1e-6, atol=0, equal_nan=True)
        torch.testing.assert_close(expected, (torch.erfc(given / -math.sqrt(2)) / 2).to(dtype), equal_nan=True)


def test_scaled_error_functions_of_float32() -> None:
    x = torch.cat([torch.linspace(-9.3, 40, 5003), torch.logspace(-30, 37, 400), -torch.logspace(-30, -1, 100)])
    expected = torch.special.erfcx(x.double())
    assert ((torch.special.erfcx(x).double() - expected) / expected).abs().max() < 6.1e-8
    edges = torch.special.erfcx(torch.tensor([math.inf, -math.inf, math.nan, -30.0, 0.0]))
    assert edges[0] == 0
    assert edges[1] == edges[3] == math.inf
    assert edges[2].isnan()
    assert edges[4] == 1


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_narrow_rows_of_any_size(width: int) -> None:
    sizes = torch.tensor([0.0, 1e-30, 1e-19, 1e-12, 1e-3, 1.0, 7.0, 1e12, 1e18])
    rows = sizes[:, None] * torch.linspace(0.5, 1.5, width)
    for eps in (0.0, 1e-40, 1e-5):
        kept = rows[1 if eps == 0 else 0 :]
        kept = kept[(kept.double() ** 2).float().min(1)[0] > 0] if eps == 0 else kept
        expected = torch.nn.functional.rms_norm(kept.double(), (width,), eps=eps).float()
        torch.testing.assert_close(torch.nn.functional.rms_norm(kept, (width,), eps=eps), expected, rtol=3e-7, atol=0)


@pytest.mark.parametrize("name", ["sign", "sgn"])
def test_signs(name: str) -> None:
    for dtype in (*FLOATING, torch.float16, torch.bfloat16):
        x = torch.tensor([*EDGES, 1e-40, -1e-40] * 5, dtype=dtype)
        expected = [0.0 if math.isnan(value) else float((value > 0) - (value < 0)) for value in x.tolist()]
        assert getattr(torch, name)(x).tolist() == expected
