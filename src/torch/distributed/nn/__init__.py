"""Collectives with gradients (`functional`)."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.nn.functional import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
)

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]
__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
