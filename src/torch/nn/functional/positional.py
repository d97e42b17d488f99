"""`torch.embedding_bag` and its like: what torch.nn.functional computes, by PyTorch's schemas.

Options are numbers there rather than words (a bag's mode is 0: sum, 1: mean, 2: max), and none has a default that
depends on others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch._overridable import overridable
from torch.nn.functional import vision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def _choose(words: tuple[str, ...], number: int, name: str) -> str:
    if not 0 <= number < len(words):
        raise RuntimeError(f"{name}: expected a number below {len(words)}, but got {number}")
    return words[number]


# ---------------------------------------------------------------- places, sequences, bags


@overridable
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`torch.nn.functional.affine_grid`."""
    if len(size) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    return vision.affine_grid(theta, size, align_corners)


@overridable
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`torch.nn.functional.embedding_bag` (mode 0 sum, 1 mean, 2 max) with what its gradient needs.

    Returns the bags, the bag of each index, how many indices each bag has, and for "max" the row of each maximum. For
    "sum" these are empty and zeros, as in PyTorch.
    """
    rows = weight.size(0)
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise AssertionError("padding_idx must be within the number of embeddings")
    padding = -1 if padding_idx is None else padding_idx % rows
    arguments = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding)
    return torch._embedding_bag(weight, indices, offsets, *arguments)  # type: ignore[no-any-return]
