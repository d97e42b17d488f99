"""Layers that change shapes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


class Flatten(Module):
    """Makes dimensions `start_dim` to `end_dim` one; the batch stays by default: (N, C, H, W) -> (N, C H W).

    >>> torch.nn.Flatten()(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Spreads dimension `dim` over the sizes `unflattened_size`, of which one may be -1.

    >>> torch.nn.Unflatten(1, (3, 4))(torch.zeros(2, 12)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
