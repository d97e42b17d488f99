"""Sizes that are symbols: there are none here, and every size is a number."""

from __future__ import annotations

from typing import Any


class GuardOnDataDependentSymNode(RuntimeError):
    """That a program asked for the value of a symbol: never raised."""


def free_symbols(val: Any) -> set[Any]:
    """The symbols in a value: none."""
    return set()


free_unbacked_symbols = free_symbols


def guard_or_false(a: Any) -> bool:
    """Whether a condition on sizes holds."""
    return bool(a)


guard_or_true = guard_size_oblivious = statically_known_true = guard_or_false


def has_free_symbols(val: Any) -> bool:
    """Whether there are symbols in a value: no."""
    return False
