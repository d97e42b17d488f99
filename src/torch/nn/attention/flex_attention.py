"""Attention whose scores a function changes, and whose mask is a function of positions.

The functions are called once with all positions, as tensors that broadcast to (batch, heads, queries, keys), not for
each: they must be made of element-wise operators and indexing, as PyTorch's `vmap` of them needs, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]


_DEFAULT_SPARSE_BLOCK_SIZE = 128


class AuxRequest(NamedTuple):
    """What `flex_attention(return_aux=...)` gives beside the result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """That: the logarithm of each query's sum, and its largest score; None for what was not asked for."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Every query sees every key."""
    return token_q.new_ones((), dtype=torch.bool)


def and_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What all masks let through."""

    def mask(*positions: Any) -> Tensor:
        result = positions[0].new_ones((), dtype=torch.bool)
        for each in mask_mods:
            result = result & each(*positions)
        return result

    return mask


def or_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What one of the masks lets through."""

    def mask(*positions: Any) -> Tensor:
        result = positions[0].new_zeros((), dtype=torch.bool)
        for each in mask_mods:
            result = result | each(*positions)
        return result

    return mask


def _positions(*sizes: int, device: Any = None) -> list[Tensor]:
    """An index tensor for each dimension, which broadcast against one another."""
    return [
        torch.arange(size, device=device).view([-1 if place == other else 1 for other in range(len(sizes))])
        for place, size in enumerate(sizes)
    ]


def create_mask(
    mod_fn: Callable[..., Tensor], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = "cpu"
) -> Tensor:
    """The mask of a function of (batch, head, query, key), a bool tensor (B, H, Q_LEN, KV_LEN)."""
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_positions(*sizes, device=device)).expand(sizes)


class BlockMask:
    """A mask by its function, with the sizes that it is for."""

    def __init__(
        self,
        mask_mod: Callable[..., Tensor],
        shape: tuple[int, int, int, int],
        block_size: tuple[int, int],
        device: Any,
    ) -> None:
        self.mask_mod, self.shape, self.BLOCK_SIZE, self.device = mask_mod, shape, block_size, device
        self.seq_lengths = shape[2:]

    def to_dense(self) -> Tensor:
        """1 for each block of queries and keys in which something is let through."""
        mask = create_mask(self.mask_mod, *self.shape, device=self.device)
        rows, columns = self.BLOCK_SIZE
        padded = torch.nn.functional.pad(mask.int(), (0, -mask.size(3) % columns, 0, -mask.size(2) % rows))
        parts = padded.view(*self.shape[:2], padded.size(2) // rows, rows, padded.size(3) // columns, columns)
        return parts.sum((3, 5)).gt(0).int()

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, BLOCK_SIZE={self.BLOCK_SIZE})"


def create_block_mask(
    mask_mod: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = "cpu",
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    **options: Any,
) -> BlockMask:
    """The mask of a function of (batch, head, query, key); None stands for all batches or heads."""
    block = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else tuple(BLOCK_SIZE)
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), (block[0], block[1]), device)


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention of (B, H, L, E) queries over (B, H, S, E) keys: softmax(score_mod(scores, b, h, q, kv)) times values.

    `enable_gqa` lets several heads of queries share one of keys; `return_lse` gives the logarithm of the sums, too.
    """
    if enable_gqa and key.size(1) != query.size(1):
        repeats = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)) * factor
    positions = _positions(*scores.shape, device=query.device)
    if score_mod is not None:
        scores = score_mod(scores, *positions)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*positions), -math.inf)
    total = scores.logsumexp(-1, keepdim=True)
    weights = (scores - total).exp().masked_fill(total == -math.inf, 0.0)
    result = weights.to(value.dtype) @ value
    if return_aux is not None:
        lse = total.squeeze(-1) if return_aux.lse else None
        return result, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)
    return (result, total.squeeze(-1)) if return_lse else result
