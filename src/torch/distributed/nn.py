"""Communication that gradients flow through: there is no backend for several processes here."""

from __future__ import annotations

from typing import Any, NoReturn

from torch.distributed import _refuse

__all__ = ["all_gather", "all_reduce", "broadcast"]


def all_reduce(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("nn.all_reduce")


def all_gather(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("nn.all_gather")


def broadcast(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("nn.broadcast")
