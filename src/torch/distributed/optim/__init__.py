"""Optimizers over several processes."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["ZeroRedundancyOptimizer"]
__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
