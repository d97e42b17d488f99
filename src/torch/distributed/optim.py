"""Optimizers over several processes: there is no backend for them here."""

from __future__ import annotations

from typing import Any

from torch.distributed import _refuse
from torch.optim import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """Refuses: RuntimeError."""

    def __init__(self, params: Any, optimizer_class: Any = None, **options: Any) -> None:
        _refuse("optim.ZeroRedundancyOptimizer")
