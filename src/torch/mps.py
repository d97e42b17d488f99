"""MPS devices: there are none here. Their functions can be mentioned, and raise RuntimeError when they are called."""

from __future__ import annotations

from torch import _unavailable

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def device_count() -> int:
    """How many such devices there are: 0."""
    return 0


__getattr__ = _unavailable.define(__name__, "there are no MPS devices here", RuntimeError)
