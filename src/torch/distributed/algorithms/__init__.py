"""What works on process groups: communication hooks of DistributedDataParallel, and `Join`."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.algorithms.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
