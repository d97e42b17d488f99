"""Special functions, against the same in more digits, exact cases and the ends of their domains."""

from __future__ import annotations

import json
import math
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from units import units_off

import torch

SPECIAL = json.loads((Path(__file__).parent / "golden" / "special_functions.json").read_text())
# Units in the last place that the functions may be off, where it is not 20; near a zero of the function it is more.
MOST_UNITS = {
    "gammainc": 600.0,
    "gammaincc": 600.0,
    "digamma": 2.0,
    "erfinv": 2.0,
    "gammaln": 2.0,
    "log_ndtr": 60.0,
    "ndtri": 0.75,
    "spherical_bessel_j0": 0.75,
    "airy_ai": 120.0,
    "modified_bessel_k0": 60.0,
    "modified_bessel_k1": 60.0,
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name: str) -> None:
    """Against mpmath's values (golden/make_special.py): in float64, and in float32 of rounded arguments by it."""
    function = getattr(torch.special, name)
    columns = np.array([arguments for arguments, _ in SPECIAL[name]]).T
    exact = np.array([np.longdouble(value) for _, value in SPECIAL[name]])
    arguments = [torch.from_numpy(column.copy()) for column in columns]
    assert units_off(function(*arguments), exact) < MOST_UNITS.get(name, 20.0)
    rounded = [column.float() for column in arguments]
    assert units_off(function(*rounded), function(*[column.double() for column in rounded]).numpy()) <= 2


def test_polygamma_is_a_zeta_function() -> None:
    x = torch.cat([torch.linspace(0.01, 12, 999), torch.linspace(-4.9, -4.1, 50)]).double()
    for dtype, relative in ((torch.float64, 1e-14), (torch.float32, 1e-6)):
        given = x.to(dtype)
        expected = torch.special.zeta(torch.tensor(2.0, dtype=torch.float64), given.double())
        assert torch.allclose(torch.polygamma(1, given).double(), expected, rtol=relative)


DEGREES = [0, 1, 2, 3, 7, 12, 30]
SERIES = {
    "chebyshev_polynomial_t": np.polynomial.chebyshev.chebval,
    "hermite_polynomial_h": np.polynomial.hermite.hermval,
    "hermite_polynomial_he": np.polynomial.hermite_e.hermeval,
    "laguerre_polynomial_l": np.polynomial.laguerre.lagval,
    "legendre_polynomial_p": np.polynomial.legendre.legval,
}


@pytest.mark.parametrize("name", SERIES)
def test_polynomials(name: str) -> None:
    """Of degrees that differ from number to number, too: some below 0, some beyond what vectors compute."""
    function = getattr(torch.special, name)
    x = np.linspace(-0.98, 0.98, 61)
    columns = {n: SERIES[name](x, np.eye(51)[n]) for n in [*DEGREES, 50]} | {-1: np.zeros(61)}
    for n, column in columns.items():
        assert np.allclose(function(torch.from_numpy(x), n).numpy(), column, rtol=1e-10)
    degrees = np.resize(list(columns), 61)
    expected = np.array([columns[n][place] for place, n in enumerate(degrees)])
    assert np.allclose(function(torch.from_numpy(x), torch.from_numpy(degrees + 0.0)).numpy(), expected, rtol=1e-10)


def test_chebyshev_polynomials_are_sines_of_multiples() -> None:
    angle = torch.linspace(0.1, 3, 77, dtype=torch.float64)
    x = angle.cos()
    for n in DEGREES:
        expected = {
            "t": (n * angle).cos(),
            "u": ((n + 1) * angle).sin() / angle.sin(),
            "v": ((n + 0.5) * angle).cos() / (angle / 2).cos(),
            "w": ((n + 0.5) * angle).sin() / (angle / 2).sin(),
        }
        for kind, values in expected.items():
            plain = getattr(torch.special, f"chebyshev_polynomial_{kind}")(x, n)
            shifted = getattr(torch.special, f"shifted_chebyshev_polynomial_{kind}")(x / 2 + 0.5, n)
            for actual in (plain, shifted):
                assert torch.allclose(actual, values, rtol=1e-8, atol=1e-11)


ENDS = [0.0, -0.0, 1.0, -1.0, -2.5, -3.0, 1e-40, 5e-324, 9.0, 40.0, -40.0, 1e5, 1e300, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", [*SPECIAL, "polygamma"])
def test_special_functions_give_the_same_bits_wherever_a_number_lies(name: str, dtype: torch.dtype) -> None:
    """Among others that have other polynomials, alone, and in rows that are longer than what is computed at a time."""
    torch.manual_seed(0)
    x = torch.cat([torch.rand(300) * 3, torch.tensor(ENDS), torch.randn(200) * 20]).to(dtype)
    others = [torch.linspace(0.5, 9, x.numel(), dtype=dtype)] * (len(SPECIAL.get(name, [([0],)])[0][0]) - 1)

    def function(*arguments: torch.Tensor) -> torch.Tensor:
        return torch.polygamma(1, *arguments) if name == "polygamma" else getattr(torch.special, name)(*arguments)

    columns = torch.stack([x, *others])
    expected = function(*columns).nan_to_num(7.5)
    for start in (1, 5, 17, 255):
        assert torch.equal(function(*columns[:, start:]).nan_to_num(7.5), expected[start:])
    assert torch.equal(function(*columns.repeat_interleave(3, 1)[:, ::3]).nan_to_num(7.5), expected)
    alone = torch.stack([function(*numbers) for numbers in columns[:, 295:330].unbind(1)])
    assert torch.equal(alone.nan_to_num(7.5), expected[295:330])


def test_lgamma_near_its_zeros_and_at_its_ends() -> None:
    near = np.concatenate([zero + np.exp2(np.arange(-23.0, -2)) for zero in (1, 2)]).astype(np.float32)
    x = np.concatenate([near, 2 - near, [1e-38, 2.9999998, 3, 7.9999995, 8, 1e10, 4e36]]).astype(np.float32)
    x = x[x > 0]
    assert units_off(torch.lgamma(torch.from_numpy(x)), np.vectorize(math.lgamma)(x.astype(np.float64))) <= 0.51
    edges = [1.0, 2.0, 0.0, -0.0, -1.0, math.inf, -math.inf, math.nan]
    others = [-0.5, 2.0**-149]
    expected = [0, 0, *[math.inf] * 5, math.nan, *map(math.lgamma, others)]
    assert torch.lgamma(torch.tensor(edges + others)).tolist() == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_sinc_far_from_zero() -> None:
    for dtype in (torch.float32, torch.float64):
        whole = torch.tensor([1.0, -2.0, 12345.0, 2.0**30, 1e30], dtype=dtype)
        assert not torch.sinc(whole).any()
        half = torch.tensor([0.5, 1.5, -100000.5], dtype=dtype)
        torch.testing.assert_close(torch.sinc(half) * half * math.pi, torch.tensor([1.0, -1.0, -1.0], dtype=dtype))


def test_incomplete_gamma_functions_in_all_digits() -> None:
    generator = torch.Generator().manual_seed(0)
    order = torch.randint(1, 15, (1000,), generator=generator).double()
    x = torch.rand(1000, generator=generator, dtype=torch.float64) * 40
    # Of a whole order: exp(-x) times the first terms of its series.
    term = torch.exp(-x)
    upper = torch.zeros_like(x)
    for k in range(14):
        upper += torch.where(order > k, term, 0.0)
        term = term * x / (k + 1)
    torch.testing.assert_close(torch.special.gammaincc(order, x), upper, rtol=1e-13, atol=0)
    both = torch.special.gammainc(order, x) + torch.special.gammaincc(order, x)
    torch.testing.assert_close(both, torch.ones_like(both), rtol=1e-15, atol=0)
    small = torch.tensor([0.5, 0.5, 0.5], dtype=torch.float64)
    points = torch.tensor([1e-8, 0.25, 1.0], dtype=torch.float64)
    torch.testing.assert_close(torch.special.gammaincc(small, points), torch.erfc(points.sqrt()), rtol=1e-14, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_incomplete_gamma_functions_of_large_orders(dtype: torch.dtype) -> None:
    tolerance = 2e-7 if dtype == torch.float32 else 2e-13
    with localcontext() as context:
        context.prec = 350
        for order in (15, 20, 21, 60, 199, 200, 201, 1000, 5000):
            for share in (0.5, 0.69, 0.71, 0.97, 1.0, 1.001, 1.05, 1.29, 1.31, 2.0):
                x = torch.full((17,), order * share, dtype=dtype)
                point = Decimal(x[0].item())
                term = total = Decimal(1)  # of exp(x), its series' first terms
                for k in range(1, order):
                    term *= point / k
                    total += term
                upper = total * (-point).exp()
                a = torch.full_like(x, order)
                for mine, exact in ((torch.special.gammaincc(a, x), upper), (torch.special.gammainc(a, x), 1 - upper)):
                    if exact > torch.finfo(dtype).tiny:
                        expected = torch.full((17,), float(exact), dtype=torch.float64)
                        torch.testing.assert_close(mine.double(), expected, rtol=tolerance, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_incomplete_gamma_functions_depend_on_their_numbers_only(name: str, dtype: torch.dtype) -> None:
    work = getattr(torch.special, name)
    generator = torch.Generator().manual_seed(0)
    order = torch.randn(700, generator=generator, dtype=dtype) * 8 + 4
    x = torch.randn(700, generator=generator, dtype=dtype) * 10 + 4
    order[3], x[9], order[11], x[20] = math.inf, math.inf, 0, math.nan
    order[300:310], x[305:320] = 400, 390
    alone = torch.stack([work(a, b) for a, b in zip(order, x, strict=True)])
    for start, end in ((0, 700), (0, 1), (5, 12), (100, 356), (101, 358), (299, 330)):
        part = work(order[start:end], x[start:end])
        torch.testing.assert_close(part, alone[start:end], rtol=0, atol=0, equal_nan=True)
    order[11] = 1
    assert work(-order.abs(), x).isnan().all()


def test_zeta_outside_of_its_domain() -> None:
    s = torch.tensor([0.5, math.nan, 1.0, 2.0, 2.0, 3.0, 2.5, -1.0, 2.0])
    q = torch.tensor([1.0, 1.0, 1.0, math.nan, 1.0, -2.0, -0.5, 1.0, 0.0])
    result = torch.special.zeta(s, q)
    assert result.isnan().tolist() == [True, True, False, True, False, False, True, True, False]
    assert result[[2, 5, 8]].tolist() == [math.inf] * 3
    assert result[4].item() == pytest.approx(math.pi**2 / 6)
