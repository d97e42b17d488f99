"""Pooling that returns indices on demand, or keeps dimensions whose size is None."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.nn.functional._options import has_readable_values

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
    if isinstance(output_size, (tuple, list)) and isinstance(input, _C.TensorBase) and input.dim() <= len(wanted):
        raise ValueError(f"Input dimension should be at least {len(wanted) + 1}")
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


def _lp_pool(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None, ceil_mode: bool, dimensions: int
) -> Tensor:
    sizes = (kernel_size,) * dimensions if isinstance(kernel_size, int) else tuple(kernel_size)
    pool: Any = (_torch.avg_pool1d, _nn.avg_pool2d, _nn.avg_pool3d)[dimensions - 1]
    means = pool(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (means.sign() * means.abs().relu()).mul(math.prod(sizes)).pow(1.0 / norm_type)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The norm of order `norm_type` of each window of a signal: (N, C, L) -> (N, C, L').

    >>> lp_pool1d(torch.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 1)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The norm of order `norm_type` of each window of an image: (N, C, H, W) -> (N, C, H', W').

    >>> lp_pool2d(torch.tensor([[[3.0, 4.0]]]), 2, (1, 2))
    tensor([[[5.]]])
    """
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 2)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """The norm of order `norm_type` of each window of a volume: (N, C, D, H, W) -> (N, C, D', H', W').

    >>> lp_pool3d(torch.tensor([[[[3.0, 4.0]]]]), 2, (1, 1, 2))
    tensor([[[[5.]]]])
    """
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, 3)


def _spread(size: Sizes, dimensions: int) -> list[int]:
    return [size] * dimensions if isinstance(size, int) else list(size)


def _unpool(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    output_size: Sequence[int] | None,
    dimensions: int,
) -> Tensor:
    kernels = _spread(kernel_size, dimensions)
    strides = kernels if stride is None else _spread(stride, dimensions)
    paddings = _spread(padding, dimensions)
    if indices.dtype != torch.int64:
        raise RuntimeError("elements in indices should be type int64 but got: " + str(indices.dtype))
    if input.dim() not in (dimensions + 1, dimensions + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dimensions}d should be a {dimensions + 1}d or {dimensions + 2}d Tensor, but got: "
            f"{input.dim()}"
        )
    if input.shape != indices.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(input.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )
    spatial = input.shape[-dimensions:]
    natural = [
        (size - 1) * step + kernel - 2 * pad
        for size, step, kernel, pad in zip(spatial, strides, kernels, paddings, strict=True)
    ]
    sizes = natural
    if output_size is not None:
        sizes = list(output_size)
        if len(sizes) == dimensions + 2:
            sizes = sizes[2:]
        if len(sizes) != dimensions:
            raise ValueError(
                f"output_size should be a sequence containing {dimensions} or {dimensions + 2} elements, "
                f"but it has a length of '{len(output_size)}'"
            )
        for number, (size, middle, step) in enumerate(zip(sizes, natural, strides, strict=True)):
            if not middle - step < size < middle + step:
                raise ValueError(
                    f"invalid output_size {list(output_size)} (dim {number} must be between {middle - step} and "
                    f"{middle + step})"
                )
    total = math.prod(sizes)
    outer = input.shape[: input.dim() - dimensions]
    if has_readable_values(indices) and (int(indices.min()) < 0 or int(indices.max()) >= total):
        wrong = indices[(indices < 0) | (indices >= total)]
        volume = "x".join(str(size) for size in sizes)
        raise RuntimeError(f"Found an invalid max index: {int(wrong[0])} (output volumes are of size {volume}")
    flat = input.new_zeros((*outer, total))
    result = flat.scatter(-1, indices.flatten(-dimensions), input.flatten(-dimensions)).reshape(*outer, *sizes)
    return result.contiguous(memory_format=_C._suggest_memory_format(input)) if dimensions == 2 else result


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Undoes `max_pool1d`: values at the places of `indices`, 0 elsewhere. `output_size`: where several sizes fit.

    >>> max_unpool1d(torch.tensor([[3.0, 2.0]]), torch.tensor([[1, 2]]), 2)
    tensor([[0., 3., 2., 0.]])
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Undoes `max_pool2d`: values at the places of `indices`, 0 elsewhere. `output_size`: where several sizes fit.

    >>> max_unpool2d(torch.tensor([[[4.0]]]), torch.tensor([[[2]]]), 2)
    tensor([[[0., 0.],
             [4., 0.]]])
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Undoes `max_pool3d`: values at the places of `indices`, 0 elsewhere. `output_size`: where several sizes fit.

    >>> max_unpool3d(torch.tensor([[[[4.0]]]]), torch.tensor([[[[1]]]]), (1, 1, 2))
    tensor([[[[0., 4.]]]])
    """
    return _unpool(input, indices, kernel_size, stride, padding, output_size, 3)


def _fractional(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None,
    output_ratio: Any,
    samples: Tensor | None,
    dimensions: int,
) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{dimensions}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = [output_ratio] * dimensions if isinstance(output_ratio, (int, float)) else list(output_ratio)
        if len(ratios) > dimensions:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        wanted = [int(size * ratio) for size, ratio in zip(input.shape[-dimensions:], ratios, strict=True)]
    else:
        wanted = _spread(output_size, dimensions)
    if samples is None:
        batch = 1 if input.dim() == dimensions + 1 else input.size(0)
        samples = torch.rand(batch, input.size(-dimensions - 1), dimensions, dtype=input.dtype, device=input.device)
    return getattr(_nn, name)(input, kernel_size, wanted, samples)  # type: ignore[no-any-return]


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest values of windows at random, as many as wanted: (N, C, H, W) -> (N, C, *output_size).

    `output_ratio` gives the size as a share of the input's. With `return_indices`: the values and where each one stood.

    >>> fractional_max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2, output_size=2).shape
    torch.Size([1, 2, 2])
    """
    result = _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 2)
    return result if return_indices else result[0]


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The largest values of windows at random, as many as wanted: (N, C, D, H, W) -> (N, C, *output_size).

    `output_ratio` gives the size as a share of the input's. With `return_indices`: the values and where each one stood.

    >>> fractional_max_pool3d(torch.arange(64.0).reshape(1, 4, 4, 4), 2, output_size=2).shape
    torch.Size([1, 2, 2, 2])
    """
    result = _fractional(input, kernel_size, output_size, output_ratio, _random_samples, 3)
    return result if return_indices else result[0]
