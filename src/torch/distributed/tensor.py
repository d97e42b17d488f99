"""Tensors spread over processes: there is no backend for them here."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed import _refuse

__all__ = ["DTensor", "distribute_module", "distribute_tensor"]


class DTensor(torch.Tensor):
    """The class of tensors spread over processes, for `isinstance`: there are none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        _refuse("tensor.DTensor")


def distribute_tensor(*args: Any, **kwargs: Any) -> Any:
    """Raises RuntimeError: there is no backend."""
    _refuse("tensor.distribute_tensor")


def distribute_module(*args: Any, **kwargs: Any) -> Any:
    """Raises RuntimeError: there is no backend."""
    _refuse("tensor.distribute_module")


class Placement:
    """How a tensor is spread, for annotations."""


class Shard(Placement):
    """Along a dimension."""

    def __init__(self, dim: int) -> None:
        self.dim = dim


class Replicate(Placement):
    """Whole, in every process."""
