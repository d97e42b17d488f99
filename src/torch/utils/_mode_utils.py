"""Tools for modes of `__torch_dispatch__`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["all_same_mode", "no_dispatch"]


@contextmanager
def no_dispatch() -> Iterator[None]:
    """Inside, neither modes nor classes of tensors answer for operators."""
    with torch._C._DisableTorchDispatch():
        yield


def all_same_mode(modes: Sequence[Any]) -> bool:
    """Whether all of them are the same mode."""
    return all(mode is modes[0] for mode in modes)
