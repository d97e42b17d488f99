"""How PyTorch saves memory in `linear_cross_entropy`: taken here, where the numbers are the same without."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["LinearCrossEntropyOptions"]


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """PyTorch's options of `linear_cross_entropy`, which change no number: they are kept, and nothing else.

    >>> torch.nn.LinearCrossEntropyOptions().acc_policy
    'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str = "auto"
    acc_policy: str = "auto"
    acc_dtype: torch.dtype | None = None
