"""Says to NVIDIA's profilers where what they are to look at begins and ends."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from torch.cuda._runtime import check_error, cudart

if TYPE_CHECKING:
    from collections.abc import Iterator


def start() -> None:
    """Lets the profiler begin."""
    check_error(cudart().cudaProfilerStart())


def stop() -> None:
    """Lets the profiler end."""
    check_error(cudart().cudaProfilerStop())


@contextmanager
def profile() -> Iterator[None]:
    """A block that the profiler looks at."""
    start()
    try:
        yield
    finally:
        stop()
