"""How far results are from exact ones, in units of the last place, and numbers to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
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
