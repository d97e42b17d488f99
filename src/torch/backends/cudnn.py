"""cuDNN: not used here. Its switches are kept and change nothing, as in PyTorch without CUDA."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True


def version() -> int | None:
    """The version of cuDNN; None without it."""
    return None


def is_available() -> bool:
    """Whether there is cuDNN: no."""
    return False


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN takes a tensor: no."""
    return False


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """Sets the switches for a block."""
    own = globals()
    new = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
        "allow_tf32": allow_tf32,
    }
    before = {name: own[name] for name in new}
    own.update(new)
    try:
        yield
    finally:
        own.update(before)
