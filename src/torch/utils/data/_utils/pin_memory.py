"""Batches in memory that CUDA devices copy from."""

from __future__ import annotations

from typing import Any

import torch


def pin_memory(data: Any, device: Any = None) -> Any:
    """The batch, pinned where there is a CUDA device; as it is elsewhere."""
    if not torch.cuda.is_available():
        return data
    from torch.utils._pytree import tree_map

    return tree_map(lambda value: value.pin_memory() if hasattr(value, "pin_memory") else value, data)
