"""Ranges and marks for NVIDIA's profilers. The packages of this torch do not hold NVTX: each call says so."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("NVTX functions not installed: this torch is built without NVTX")


mark = range_push = range_pop = range_start = range_end = _refuse


@contextmanager
def range(msg: str, *arguments: Any, **keywords: Any) -> Iterator[None]:
    """A named range around a `with` block."""
    range_push(msg.format(*arguments, **keywords))
    yield
    range_pop()
