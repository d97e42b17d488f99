"""NNPACK: this torch is built without it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_available() -> bool:
    """Whether this torch was built with NNPACK: no."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Switches what is not there; how it was before."""
    return (False,)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """A block in which nothing changes."""
    yield
