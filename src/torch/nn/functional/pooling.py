"""Pooling that returns indices on demand, or keeps dimensions whose size is None."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]
    OutputSizes = int | Sequence[int | None] | None

_nn, _torch = _C._nn, _C._VariableFunctions


def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest value of each window of a signal: (N, C, L) or (C, L) -> (N, C, L') or (C, L').

    `stride` defaults to `kernel_size`; `padding` adds as many places without a value at both ends; the elements of a
    window are `dilation` apart. L' = (L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1, rounded down, or up
    with `ceil_mode`. With `return_indices`: the values and where each one stood (int64).

    >>> max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    pool = _torch.max_pool1d_with_indices if return_indices else _torch.max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest value of each window of an image: (N, C, H, W) or (C, H, W) -> (N, C, H', W') or (C, H', W').

    Options are those of `max_pool1d`, each one number for both dimensions or one for each. Indices count within the
    image, row by row.

    >>> max_pool2d(torch.tensor([[[1.0, 2.0], [4.0, 3.0]]]), 2, return_indices=True)
    (tensor([[[4.]]]), tensor([[[2]]]))
    """
    pool = _nn.max_pool2d_with_indices if return_indices else _torch.max_pool2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest value of each window of a volume: (N, C, D, H, W) or (C, D, H, W) -> the same with D', H', W'.

    Options are those of `max_pool1d`, each one number for all dimensions or one for each.

    >>> max_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    pool = _nn.max_pool3d_with_indices if return_indices else _torch.max_pool3d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def _sizes(input: Tensor, output_size: OutputSizes, dimensions: int) -> Any:
    """`output_size`, where None keeps the input's size; without a None as it is, for the function to judge."""
    wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size,)
    if all(each is not None for each in wanted) or not isinstance(input, _C.TensorBase):
        return output_size
    wanted = (None,) * dimensions if output_size is None else wanted
    kept = input.shape[-dimensions:]
    if len(kept) != dimensions or len(wanted) != dimensions:
        raise ValueError(
            f"expected {dimensions} output sizes for an input of as many, got {output_size}, {input.shape}"
        )
    return [size if each is None else each for each, size in zip(wanted, kept, strict=True)]


def adaptive_max_pool1d(input: Tensor, output_size: Sizes, return_indices: bool = False) -> Any:
    """The largest values of as many windows as wanted, which share the signal evenly: (N, C, L) -> (N, C, output_size).

    With `return_indices`: the values and where each one stood (int64).

    >>> adaptive_max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    result = _torch.adaptive_max_pool1d(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool2d(input: Tensor, output_size: OutputSizes, return_indices: bool = False) -> Any:
    """The largest values of as many windows as wanted: (N, C, H, W) -> (N, C, *output_size); None keeps a size.

    >>> adaptive_max_pool2d(torch.tensor([[[1.0, 2.0], [4.0, 3.0]]]), (1, None))
    tensor([[[4., 3.]]])
    """
    result = _nn.adaptive_max_pool2d(input, _sizes(input, output_size, 2))
    return result if return_indices else result[0]


def adaptive_max_pool3d(input: Tensor, output_size: OutputSizes, return_indices: bool = False) -> Any:
    """The largest values of as many windows as wanted: (N, C, D, H, W) -> (N, C, *output_size); None keeps a size.

    >>> adaptive_max_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 1)
    tensor([[[[7.]]]])
    """
    result = _nn.adaptive_max_pool3d(input, _sizes(input, output_size, 3))
    return result if return_indices else result[0]


def adaptive_avg_pool2d(input: Tensor, output_size: OutputSizes) -> Tensor:
    """The means of as many windows as wanted, which share the image evenly: (N, C, H, W) -> (N, C, *output_size).

    `output_size`: one number for both dimensions or one for each; None keeps a size. Windows overlap by one where the
    image cannot be shared evenly.

    >>> adaptive_avg_pool2d(torch.tensor([[[1.0, 2.0], [4.0, 3.0]]]), 1)
    tensor([[[2.5000]]])
    """
    return _nn.adaptive_avg_pool2d(input, _sizes(input, output_size, 2))


def adaptive_avg_pool3d(input: Tensor, output_size: OutputSizes) -> Tensor:
    """The means of as many windows as wanted: (N, C, D, H, W) -> (N, C, *output_size); None keeps a size.

    >>> adaptive_avg_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 1)
    tensor([[[[3.5000]]]])
    """
    return _nn.adaptive_avg_pool3d(input, _sizes(input, output_size, 3))
