"""Communication hooks of DistributedDataParallel."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON

__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
