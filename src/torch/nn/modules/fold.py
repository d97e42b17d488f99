"""Images as matrices of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


class Fold(Module):
    """Adds windows up to images: (N, C * elements, windows) -> (N, C, *output_size), the transpose of `Unfold`.

    Elements that lie in several windows are sums. RuntimeError where rows or windows do not belong to these sizes.

    >>> torch.nn.Fold((2, 3), kernel_size=2)(torch.ones(1, 4, 2))
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """

    def __init__(
        self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The images."""
        return functional.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """All windows of images as columns: (N, C, H, W) -> (N, C * elements, windows).

    Sizes are one number for both dimensions or a pair. Rows are the channels and, within each, the places of a window.

    >>> torch.nn.Unfold(kernel_size=2)(torch.zeros(1, 3, 4, 4)).shape
    torch.Size([1, 12, 9])
    """

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The windows."""
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
