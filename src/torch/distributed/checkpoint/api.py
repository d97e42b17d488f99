"""The error of checkpoints."""

from __future__ import annotations

from torch import _unavailable
from torch.distributed import REASON

__all__ = ["CheckpointException"]


class CheckpointException(RuntimeError):
    """A checkpoint cannot be written or read: which entry, and why."""


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
