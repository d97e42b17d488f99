"""oneDNN: this torch is built without it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

enabled = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether this torch was built with oneDNN: no."""
    return False


@contextmanager
def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True) -> Iterator[None]:
    """A block in which nothing changes."""
    yield
