"""Trying out several ways of a matrix product: cuBLAS chooses here, and there is nothing to tune."""

from __future__ import annotations

from torch import _unavailable

_REASON = "cuBLAS chooses among its ways of a product, and there are no others here"

__all__ = ["enable", "get_results", "is_enabled", "record_untuned_enable", "tuning_enable", "tuning_is_enabled"]


def is_enabled() -> bool:
    """Whether products are tuned: no."""
    return False


tuning_is_enabled = record_untuned_is_enabled = is_enabled


def enable(val: bool = True) -> None:
    """Forbids tuning, as it is; NotImplementedError where it is to be allowed."""
    if val:
        raise NotImplementedError(f"torch.cuda.tunable: {_REASON}")


tuning_enable = record_untuned_enable = enable


def get_results() -> tuple[()]:
    """What was found: nothing."""
    return ()


__getattr__ = _unavailable.define(__name__, _REASON)
