"""Switches of how operators compute, for the whole process."""

from __future__ import annotations

import warnings

_MATMUL_PRECISIONS = ("highest", "high", "medium")
_matmul_precision = "highest"
_deterministic, _warn_only = False, False


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` set; "highest" at first."""
    return _matmul_precision


def set_float32_matmul_precision(precision: str) -> None:
    """How exact products of float32 matrices must be: "highest", "high" or "medium". They are always exact here."""
    global _matmul_precision
    if precision not in _MATMUL_PRECISIONS:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setting of precision stays",
            stacklevel=2,
        )
        return
    _matmul_precision = precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Whether operators must give the same result each time. On the CPU all of them do, with or without."""
    global _deterministic, _warn_only
    if not isinstance(mode, bool):
        raise TypeError(f"use_deterministic_algorithms(): argument 'mode' must be bool, not {type(mode).__name__}")
    _deterministic, _warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` set."""
    return _deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether operators that are not deterministic would only warn."""
    return _deterministic and _warn_only


def get_deterministic_debug_mode() -> int:
    """0: off, 1: warn, 2: raise."""
    return (1 if _warn_only else 2) if _deterministic else 0


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by number or name: 0 or "default", 1 or "warn", 2 or "error"."""
    names = {"default": 0, "warn": 1, "error": 2}
    mode = names.get(debug_mode, -1) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected one of 0, 1, 2, {', '.join(names)}: {debug_mode!r}")
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)
