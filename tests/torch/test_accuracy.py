"""Functions that are computed in vectors, against the same in more digits: units in the last place, and exact cases."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import torch


def units_off(actual: torch.Tensor, exact: np.ndarray[tuple[int, ...], np.dtype[np.floating]]) -> float:
    """The largest distance of float32 or float64 values from exact ones in more digits, in units of the last place."""
    numbers = actual.numpy()
    with np.errstate(over="ignore"):
        rounded = exact.astype(numbers.dtype)
    finite = np.isfinite(rounded)
    assert np.array_equal(numbers[~finite], rounded[~finite], equal_nan=True)
    spacing = np.spacing(np.abs(exact[finite]).astype(numbers.dtype)).astype(exact.dtype)
    return float(np.max(np.abs(numbers[finite].astype(exact.dtype) - exact[finite]) / spacing, initial=0))


def spread(dtype: type[np.floating], low: float, high: float) -> np.ndarray[tuple[int, ...], np.dtype[np.floating]]:
    """Numbers of all sizes in [2^low, 2^high], and many near 1."""
    generator = np.random.default_rng(0)
    sizes = np.exp2(generator.uniform(low, high, 200_000))
    near_one = 1 + generator.uniform(-1, 1, 100_000) * np.exp2(generator.uniform(-20, -1, 100_000))
    return np.concatenate([sizes, near_one]).astype(dtype)


@pytest.mark.parametrize("name", ["log2", "log10"])
def test_logarithms(name: str) -> None:
    for dtype, wide, low, high in ((np.float32, np.float64, -125, 127), (np.float64, np.longdouble, -1000, 1000)):
        if wide is np.longdouble and np.finfo(np.longdouble).nmant <= 52:
            continue  # no more digits to compare with on this machine
        x = spread(dtype, low, high)
        assert units_off(getattr(torch, name)(torch.from_numpy(x)), getattr(np, name)(x.astype(wide))) < 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logarithms_of_whole_powers_are_whole(dtype: torch.dtype) -> None:
    smallest = -126 if dtype == torch.float32 else -1022
    exponents = torch.arange(smallest, -smallest + 1, dtype=dtype)
    powers = torch.from_numpy(np.ldexp(np.ones(exponents.numel(), exponents.numpy().dtype), exponents.int().numpy()))
    assert torch.equal(torch.log2(powers), exponents)
    count = 11 if dtype == torch.float32 else 23
    tens = torch.tensor([float(10**n) for n in range(count)], dtype=dtype)
    assert torch.equal(torch.log10(tens), torch.arange(count, dtype=dtype))


@pytest.mark.parametrize("name", ["log2", "log10"])
def test_edges_of_logarithms(name: str) -> None:
    x = torch.tensor([0.0, -0.0, -1.0, math.inf, -math.inf, math.nan, 1.0, 2.0**-149])
    result = getattr(torch, name)(x).tolist()
    assert result[:2] == [-math.inf, -math.inf]
    assert all(map(math.isnan, (result[2], result[4], result[5])))
    assert result[3] == math.inf
    assert result[6] == 0
    assert result[7] == pytest.approx(getattr(math, name)(2.0**-149), rel=1e-6)


@pytest.mark.parametrize("exponent", [2.7, -1.3, 7.0, -6.0, 1 / 3, 100.0, 1e-3])
def test_powers(exponent: float) -> None:
    x = spread(np.float32, -20, 20)
    x[::3] *= -1
    power = np.float32(exponent)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), float(power))
        exact = np.where(np.abs(exact) < np.finfo(np.float32).tiny, np.float64(0), exact)
    ours = torch.from_numpy(x) ** float(power)
    ours = torch.where(ours.abs() < torch.finfo(torch.float32).tiny, 0.0, ours)
    assert units_off(ours, exact) <= 1
    by_tensor = torch.from_numpy(x) ** torch.full((x.size,), float(power))
    assert np.array_equal(by_tensor.numpy(), (torch.from_numpy(x) ** float(power)).numpy(), equal_nan=True)


def test_edges_of_powers() -> None:
    """All pairs of the numbers for which IEEE 754 has rules, as Python's C library answers them in float64."""
    edges = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e30, -1e30, math.inf, -math.inf, math.nan]
    bases, exponents = np.meshgrid(np.array(edges, np.float32), np.array(edges, np.float32))
    with np.errstate(all="ignore"):
        expected = np.power(bases.astype(np.float64), exponents.astype(np.float64)).astype(np.float32)
    actual = (torch.from_numpy(bases) ** torch.from_numpy(exponents)).numpy()
    assert np.array_equal(actual, expected, equal_nan=True)
    assert np.array_equal(np.signbit(actual[~np.isnan(actual)]), np.signbit(expected[~np.isnan(expected)]))


SPECIAL = json.loads((Path(__file__).parent / "golden" / "special_functions.json").read_text())
# Units in the last place that the functions may be off, where it is not 20; near a zero of the function it is more.
MOST_UNITS = {
    "gammainc": 600.0,
    "gammaincc": 600.0,
    "log_ndtr": 60.0,
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
