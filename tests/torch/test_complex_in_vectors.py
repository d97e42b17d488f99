"""Functions of complex64 and complex numbers by their angle, in vectors, against NumPy's in more digits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import torch

FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": lambda z: np.log(z) / np.log(2),
    "log10": np.log10,
    "log1p": lambda z: np.log1p(z.real * (2 + z.real) + z.imag**2) / 2 + 1j * np.arctan2(z.imag, 1 + z.real),
    "sqrt": np.sqrt,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "silu": lambda z: z / (1 + np.exp(-z)),
    "sinc": lambda z: np.sin(np.pi * z) / (np.pi * z),
}


def function(name: str) -> object:
    return torch.nn.functional.silu if name == "silu" else getattr(torch, name)


def numbers(count: int) -> torch.Tensor:
    """Of several sizes, around the origin and around 1."""
    generator = torch.Generator().manual_seed(1)
    z = torch.randn(count, generator=generator, dtype=torch.complex64)
    sizes = torch.tensor([1.0, 1e-3, 8.0, 1e-10])[torch.arange(count) % 4]
    return z * sizes + (torch.arange(count) % 3 == 2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_part_is_rounded_once(name: str) -> None:
    z = numbers(3000)
    exact = FUNCTIONS[name](z.to(torch.complex128).numpy())
    result = function(name)(z).numpy()  # type: ignore[operator]
    for actual, true in ((result.real, exact.real), (result.imag, exact.imag)):
        spacing = np.spacing(np.abs(true).astype(np.float32)).astype(np.float64)
        error = np.abs(actual.astype(np.float64) - true)
        # Where a part cancels, the ten digits of what it is made of end.
        assert np.all(error <= 0.51 * spacing + 3e-10 * np.abs(exact)), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_result_depends_on_its_number_only(name: str) -> None:
    work = function(name)
    z = numbers(600)
    z[5], z[77], z[300] = complex(math.nan, 1), complex(3, math.inf), complex(1, 1e6)
    whole = torch.view_as_real(work(z))  # type: ignore[operator]
    for count in (1, 2, 3, 7, 8, 9, 255, 256, 257, 513):
        part = torch.view_as_real(work(z[:count].clone()))  # type: ignore[operator]
        assert torch.equal(part.nan_to_num(7), whole[:count].nan_to_num(7)), count
    apart = torch.view_as_real(work(z[1::3]))  # type: ignore[operator]
    assert torch.equal(apart.nan_to_num(7), whole[1::3].nan_to_num(7))
    crosswise = torch.view_as_real(work(z.view(20, 30).t()).t().contiguous())  # type: ignore[operator]
    assert torch.equal(crosswise.view(600, 2).nan_to_num(7), whole.nan_to_num(7))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "sigmoid"])
def test_in_place_and_out(name: str) -> None:
    work, z = getattr(torch, name), numbers(300)
    z[3] = complex(math.nan, 1)
    expected = torch.view_as_real(work(z)).nan_to_num(7)
    written = torch.empty(300, dtype=torch.complex64)
    work(z, out=written)
    assert torch.equal(torch.view_as_real(written).nan_to_num(7), expected)
    assert torch.equal(torch.view_as_real(getattr(z, f"{name}_")()).nan_to_num(7), expected)


def test_edges() -> None:
    inf, nan = math.inf, math.nan
    assert torch.exp(torch.tensor(complex(-inf, 1))).item() == 0
    assert torch.exp(torch.tensor(complex(200, 0))).item() == complex(inf, 0)
    assert torch.log(torch.tensor(0j)).item() == complex(-inf, 0)
    assert torch.log(torch.tensor(complex(-0.0, 0))).item() == complex(-inf, np.float32(np.pi))
    assert torch.log1p(torch.tensor(-1 + 0j)).item() == complex(-inf, 0)
    assert torch.sqrt(torch.tensor([0j, -4 + 0j, complex(-4, -0.0)])).tolist() == [0j, 2j, -2j]
    assert torch.sigmoid(torch.tensor(complex(-3e38, 1))).item() == 0
    assert torch.sinc(torch.tensor(0j)).item() == 1
    both = torch.sqrt(torch.tensor(complex(nan, nan))).item()
    assert math.isnan(both.real)
    assert math.isnan(both.imag)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_polar(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    for count in (1, 7, 256, 1000):
        size = torch.randn(count, generator=generator, dtype=dtype)
        angle = torch.randn(count, generator=generator, dtype=dtype) * 1000
        expected = size.double().numpy() * np.exp(1j * angle.double().numpy())
        result = torch.polar(size, angle)
        tolerance = 1e-6 if dtype is torch.float32 else 1e-15
        np.testing.assert_allclose(result.numpy(), expected, atol=tolerance * 4, rtol=0)
        apart = torch.polar(size[::2], angle[::2])
        assert torch.equal(apart, result[::2])
    assert math.isnan(torch.polar(torch.ones((), dtype=dtype), torch.tensor(math.inf, dtype=dtype)).item().real)


@pytest.mark.parametrize(("dtype", "most"), [(torch.complex64, 0.51), (torch.complex128, 2.0)])
def test_quotients_in_whole_numbers(dtype: torch.dtype, most: float) -> None:
    """Against fractions, which lose nothing: numbers of all sizes, of which parts of products cancel."""
    generator = torch.Generator().manual_seed(0)
    reach = 30 if dtype == torch.complex64 else 250
    parts = torch.randn(4, 300, generator=generator, dtype=torch.float64)
    sizes = torch.randint(-reach, reach, (2, 300), generator=generator).double().repeat_interleave(2, 0)
    a, b, c, d = (parts * torch.exp2(sizes)).to(dtype.to_real())
    c[:100], d[:100] = (a[:100] * 1.25).to(c.dtype), (b[:100] * 1.25).to(c.dtype)  # so that the second part cancels
    numerator, divisor = torch.complex(a, b), torch.complex(c, d)
    for top, found in ((numerator, numerator / divisor), (torch.ones_like(divisor), divisor.reciprocal())):
        for z, w, mine in zip(top.tolist(), divisor.tolist(), found.tolist(), strict=True):
            p, q, x, y = (Fraction(part) for part in (z.real, z.imag, w.real, w.imag))
            size = x * x + y * y
            for exact, part in (((p * x + q * y) / size, mine.real), ((q * x - p * y) / size, mine.imag)):
                spacing = Fraction(float(np.spacing(np.abs(np.array(float(exact), found.real.numpy().dtype)))))
                assert abs(Fraction(part) - exact) <= Fraction(most) * spacing, (z, w)


def test_quotients_at_the_ends_of_their_range() -> None:
    large, small = 1.7e308, 5e-324
    diagonal = complex(large, large)
    b = torch.tensor([diagonal, diagonal, 1, complex(math.inf, 1), 1], dtype=torch.complex128)
    a = torch.tensor([diagonal, complex(0, large), small, complex(1, 1), complex(math.inf, 1)], dtype=b.dtype)
    assert (a / b)[:4].tolist() == [1, complex(0.5, 0.5), small, 0]
    assert (a / b)[4].real == math.inf
    assert b[0].reciprocal().item() == complex(0.5 / large, -0.5 / large)
    assert torch.isnan(torch.view_as_real(b[:1] / complex(math.nan, math.inf))).all()
