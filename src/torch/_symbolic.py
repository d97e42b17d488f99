"""Numbers that tracers leave open, and functions that take them. Nothing here is traced: such numbers are plain ones.

Libraries ask `isinstance(size, torch.SymInt)`, which is False for every size, and call `torch.sym_max` and its like,
which compute.
"""

from __future__ import annotations

import math
from typing import Any

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


class _Symbol:
    def __init__(self, node: Any) -> None:
        self.node = node


class SymInt(_Symbol):
    """An int that a tracer of PyTorch's does not know yet; sizes here are never of it."""


class SymFloat(_Symbol):
    """A float that a tracer of PyTorch's does not know yet."""


class SymBool(_Symbol):
    """A bool that a tracer of PyTorch's does not know yet."""


def sym_int(a: Any) -> int:
    """`a` without its fraction."""
    return math.trunc(a)


def sym_float(a: Any) -> float:
    """`a` as a float."""
    return float(a)


def sym_not(a: Any) -> bool:
    """Whether `a` is false."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The greater of two numbers; a float if one of them is."""
    greater = max(a, b)
    return float(greater) if isinstance(a, float) or isinstance(b, float) else greater


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is."""
    smaller = min(a, b)
    return float(smaller) if isinstance(a, float) or isinstance(b, float) else smaller


def sym_sum(*args: Any) -> Any:
    """The sum of numbers, given one by one or as one list."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`; both must be of one type."""
    if type(t) is not type(f):
        raise TypeError(f"sym_ite: expected both values to be of one type, but got {type(t)} and {type(f)}")
    return t if b else f


def sym_sqrt(a: float) -> float:
    """The square root of a number."""
    return math.sqrt(a)


def sym_fresh_size(expr: Any) -> Any:
    """`expr`: here no size is left open."""
    return expr


def sym_constrain_range(size: float, *, min: int | None = None, max: int | None = None) -> None:
    """Raises RuntimeError if `size` is not between `min` and `max`."""
    low, high = _LOWEST if min is None else min, _HIGHEST if max is None else max
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


def sym_constrain_range_for_size(size: float, *, min: int | None = None, max: int | None = None) -> None:
    """`sym_constrain_range` for a size, which is not negative."""
    sym_constrain_range(size, min=0 if min is None else min, max=max)
