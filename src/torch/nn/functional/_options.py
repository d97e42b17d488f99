"""What several functions of this package check about their options."""

from __future__ import annotations

import warnings

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def get_reduction(name: str) -> int:
    """The number by which the losses of libtorch know a reduction. ValueError for any other word."""
    if name not in _REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return _REDUCTIONS[name]


def refuse_size_average(size_average: object, reduce: object) -> None:
    """NotImplementedError for the two options that `reduction` replaced."""
    if size_average is not None or reduce is not None:
        raise NotImplementedError("size_average and reduce were replaced: use reduction='mean', 'sum' or 'none'")


def refuse(name: str, **options: object) -> None:
    """NotImplementedError for options that PyTorch has and this torch has not."""
    for option, value in options.items():
        if value is not None and value is not False:
            raise NotImplementedError(f"{name}({option}={value!r}) is not supported: leave it out")


def choose_softmax_dimension(name: str, dim: int | None, dimensions: int) -> int:
    """`dim`, or PyTorch's choice where none is given, with its warning."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if dimensions in (0, 1, 3) else 1
