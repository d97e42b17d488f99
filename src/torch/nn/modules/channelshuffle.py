"""Channels in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """The channels (dimension 1) of `groups` groups dealt out in turn.

    >>> torch.nn.ChannelShuffle(2)(torch.arange(4.0).view(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
