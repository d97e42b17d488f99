"""Random tensors for tests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

_INTEGER_RANGE = (-9, 10)
_FLOAT_RANGE = (-9.0, 9.0)


def make_tensor(
    *shape: int | tuple[int, ...] | list[int],
    dtype: torch.dtype,
    device: torch.device | str = "cpu",
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
) -> Tensor:
    """Random values in [low, high) (default: -9 to 9, bytes from 0, bools both).

    `noncontiguous`: every second element of a wider tensor. `exclude_zero`: zeros become the smallest positive value.
    """
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    size = [int(length) for length in sizes]  # type: ignore[arg-type]
    drawn = [*size[:-1], size[-1] * 2] if noncontiguous and size else size
    if dtype == torch.bool:
        result = torch.randint(0, 2, drawn, device=device).to(torch.bool)
    elif dtype.is_complex:
        part = dtype.to_real()
        parts = [make_tensor(drawn, dtype=part, device=device, low=low, high=high) for _ in range(2)]
        result = torch.complex(*parts)
    elif dtype.is_floating_point:
        lowest, highest = _bounds(_FLOAT_RANGE, low, high)
        result = torch.empty(drawn, device=device, dtype=torch.float64).uniform_(lowest, highest).to(dtype)
    else:
        lowest, highest = _bounds((_INTEGER_RANGE if dtype.is_signed else (0, 10)), low, high)
        result = torch.randint(math.floor(lowest), math.ceil(highest), drawn, device=device, dtype=dtype)
    if noncontiguous and size:
        result = result[..., ::2]
    if exclude_zero:
        result[result == 0] = 1 if not (dtype.is_floating_point or dtype.is_complex) else torch.finfo(dtype).tiny
    return result.requires_grad_(requires_grad)


def _bounds(default: tuple[float, float], low: float | None, high: float | None) -> tuple[float, float]:
    lowest = default[0] if low is None else low
    highest = default[1] if high is None else high
    if lowest > highest or (lowest == highest and isinstance(lowest, int)):
        raise ValueError(f"make_tensor: `low` must be less than `high`, but got {lowest} >= {highest}")
    return lowest, highest
