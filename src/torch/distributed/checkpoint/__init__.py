"""Checkpoints that several processes write together: `save` and `load`."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON
from torch.distributed.checkpoint.folder import CheckpointException, load, save

__all__ = ["CheckpointException", "load", "save"]
__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
