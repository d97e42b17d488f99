"""Causal masks for `scaled_dot_product_attention` when queries and keys differ in number."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["causal_lower_right", "causal_upper_left"]


def causal_upper_left(*size: int) -> Tensor:
    """The mask (queries, keys) that lets query i see the keys up to i.

    >>> from torch.nn.attention.bias import causal_upper_left
    >>> causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return torch.tril(torch.ones(_size(size), dtype=torch.bool))


def causal_lower_right(*size: int) -> Tensor:
    """The mask (queries, keys) that lets the last query see all keys, and each one before one less.

    >>> from torch.nn.attention.bias import causal_lower_right
    >>> causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    queries, keys = _size(size)
    return torch.tril(torch.ones(queries, keys, dtype=torch.bool), diagonal=keys - queries)


def _size(size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError("a causal mask takes two sizes")
    return size[0], size[1]
