"""Channels as pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from torch import Tensor


class PixelShuffle(Module):
    """Makes images larger by a factor r and takes r * r channels for each that it leaves: (*, C r r, H, W) -> (*, C,
    H r, W r).

    >>> torch.nn.PixelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1, 1))
    tensor([[[[0., 1.],
              [2., 3.]]]])
    """

    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The larger images."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """The inverse of `PixelShuffle`: (*, C, H r, W r) -> (*, C r r, H, W).

    >>> torch.nn.PixelUnshuffle(2)(torch.zeros(1, 1, 4, 4)).shape
    torch.Size([1, 4, 2, 2])
    """

    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The smaller images."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"downscale_factor={self.downscale_factor}"
