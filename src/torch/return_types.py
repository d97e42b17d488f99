"""`torch.return_types`: the named tuples that `max`, `min`, `sort` and `topk` return."""

from __future__ import annotations

from torch import _C

globals().update(_C._return_types)
__all__ = sorted(_C._return_types)
