"""Sizes that may be given as one number or as one for each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    Sizes = int | Sequence[int]


def per_dimension(value: Sizes, dimensions: int) -> tuple[int, ...]:
    """One number for all dimensions, or one for each, as a tuple: what PyTorch's modules keep, too."""
    return (value,) * dimensions if isinstance(value, int) else tuple(value)


def as_tuple(value: Any) -> Any:
    """A list as a tuple; a number or None as it is."""
    return tuple(value) if isinstance(value, list) else value
