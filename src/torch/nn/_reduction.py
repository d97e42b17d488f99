"""How losses become one number: the words for it, and the two options that came before them."""

from __future__ import annotations

import warnings

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number by which the losses of libtorch know a reduction. ValueError for any other word."""
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3)
        return 1
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _REDUCTIONS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word for the two older options, with a warning."""
    averaged = True if size_average is None else size_average
    reduced = True if reduce is None else reduce
    word = "none" if not reduced else "mean" if averaged else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.", stacklevel=3
        )
    return word


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number for the two older options."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
