"""A module in several processes, each with its share of the data."""

from __future__ import annotations

from typing import Any

from torch.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Refuses: this build has no backend for processes, as `torch.distributed.is_available()` says."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        raise RuntimeError(
            "DistributedDataParallel needs torch.distributed, which this build was made without: train in one process"
        )
