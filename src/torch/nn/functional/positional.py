"""`torch.embedding_bag` and its like: what torch.nn.functional computes, by PyTorch's schemas.

Options are numbers there rather than words (a bag's mode is 0: sum, 1: mean, 2: max), and none has a default that
depends on others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch._overridable import overridable
from torch.nn.functional import sparse as bag, vision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_BAGS = ("sum", "mean", "max")


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
    if not 0 <= mode < len(_BAGS):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    word = _BAGS[mode]
    bags = bag.embedding_bag(
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=word,
        sparse=sparse,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    count = bags.size(0)
    if word == "sum":
        sizes = indices.new_zeros(count)
        return bags, indices.new_empty(0), sizes, sizes.clone()
    numbers = torch.arange(indices.numel(), device=indices.device)
    owners = torch.searchsorted(offsets[:count].contiguous(), numbers, right=True) - 1
    counted = torch.ones_like(indices, dtype=torch.bool) if padding_idx is None else indices != padding_idx
    sizes = torch.bincount(owners[counted], minlength=count).to(indices.dtype)
    if word == "mean":
        return bags, owners.to(indices.dtype), sizes, sizes.clone()
    # The first index of a bag whose row has the maximum, column by column.
    found = weight.detach()[indices]
    matches = (found == bags.detach()[owners]) & counted.unsqueeze(1)
    firsts = torch.where(matches, numbers.unsqueeze(1), indices.numel())
    firsts = torch.full(bags.shape, indices.numel(), device=indices.device).index_reduce(0, owners, firsts, "amin")
    rows = torch.cat((indices, indices.new_zeros(1)))[firsts]
    return bags, owners.to(indices.dtype), sizes, rows
