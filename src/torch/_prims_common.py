"""Questions about shapes that libraries ask PyTorch's reference operators."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["make_contiguous_strides_for", "suggest_memory_format"]


def suggest_memory_format(x: torch.Tensor) -> torch.memory_format:
    """The memory format of results that are laid out as `x` is."""
    return torch._C._suggest_memory_format(x)  # type: ignore[no-any-return]


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """The strides of a contiguous tensor; not `row_major`: of matrices that lie column by column."""
    strides = [prod(max(size, 1) for size in shape[place + 1 :]) for place in range(len(shape))]
    if not row_major and len(shape) > 1:
        strides[-2:] = [1, max(shape[-2], 1)]
    return tuple(strides)
