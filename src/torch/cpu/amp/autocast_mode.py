"""`autocast` for the CPU."""

from __future__ import annotations

import torch
from torch import amp

__all__ = ["autocast"]


class autocast(amp.autocast):
    """`torch.amp.autocast("cpu", ...)`."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.bfloat16, cache_enabled: bool = True) -> None:
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)
