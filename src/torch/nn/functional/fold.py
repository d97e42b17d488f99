"""Images as matrices of windows, and padding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]

_nn = _C._nn


def unfold(input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """All windows of images as columns: (N, C, H, W) or (C, H, W) -> (N, C * elements, windows).

    Rows are the channels and, within each, the places of the kernel. RuntimeError where no window fits.

    >>> unfold(torch.arange(6.0).reshape(1, 2, 3), 2)
    tensor([[0., 1.],
            [1., 2.],
            [3., 4.],
            [4., 5.]])
    """
    return _nn.im2col(input, kernel_size, dilation, padding, stride)


def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Columns added up to images: (N, C * elements, windows) -> (N, C, *output_size); elements of several windows
    are sums.

    RuntimeError where the number of rows or of windows does not belong to these sizes.

    >>> fold(torch.ones(4, 2), (2, 3), 2)
    tensor([[[1., 2., 1.],
             [1., 2., 1.]]])
    """
    return _nn.col2im(input, output_size, kernel_size, dilation, padding, stride)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """`input` with elements before and after its last dimensions: (last before, last after, second last before, ...).

    `mode`: "constant" (`value`, default 0; negative counts cut off), "reflect" (mirrored at the border, without it),
    "replicate" (the border again) or "circular" (from the other end). ValueError for a `value` in another mode.

    >>> pad(torch.tensor([1.0, 2.0]), (1, 2), value=9.0)
    tensor([9., 1., 2., 9., 9.])
    >>> pad(torch.tensor([[1.0, 2.0, 3.0]]), (1, 1), mode="reflect")
    tensor([[2., 1., 2., 3., 2.]])
    """
    if mode != "constant" and value not in (None, 0):
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    return _nn.pad(input, pad, mode, value)
