"""Pooling, batch normalisation and the rest: the part of `torch.nn.functional` for images and signals."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn._padding import batched, padded
from torch.nn._windows import Windows, per_dimension, unfold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


# ---------------------------------------------------------------------------------------------------- pooling


def _pooled(
    dimensions: int, kind: str, input: Tensor, kernel: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes
) -> tuple[Tensor, Windows, list[tuple[int, int]], bool]:
    name = f"{kind}_pool{dimensions}d"
    input, single = batched(input, dimensions, name)
    kernels = per_dimension(kernel, dimensions, "kernel_size")
    strides = kernels if stride is None else per_dimension(stride, dimensions, "stride")
    amounts = [(amount, amount) for amount in per_dimension(padding, dimensions, "padding")]
    if any(2 * amount > length for (amount, _), length in zip(amounts, kernels, strict=True)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={padding} and kernel_size={kernel}"
        )
    image = padded(input, amounts, -math.inf if kind == "max" else 0.0)
    windows = Windows(tuple(image.shape[2:]), kernels, strides, per_dimension(dilation, dimensions, "dilation"))
    windows.check(name)
    return unfold(image, windows), windows, amounts, single


def _max_pool(
    dimensions: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
    return_indices: bool,
) -> Tensor:
    if ceil_mode or return_indices:
        raise NotImplementedError(
            f"max_pool{dimensions}d: ceil_mode and return_indices are not supported: leave them out"
        )
    columns, _, _, single = _pooled(dimensions, "max", input, kernel_size, stride, padding, dilation)
    result = columns.max(2).values
    return result[0] if single else result


def max_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """The largest value of each window: (N, C, L) -> (N, C, L'); `stride` defaults to `kernel_size`."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """The largest value of each window: (N, C, H, W) -> (N, C, H', W'); `stride` defaults to `kernel_size`."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _avg_pool(
    dimensions: int,
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Tensor:
    if ceil_mode:
        raise NotImplementedError(f"avg_pool{dimensions}d(ceil_mode=True) is not supported: leave it out")
    columns, windows, amounts, single = _pooled(dimensions, "avg", input, kernel_size, stride, padding, 1)
    if divisor is not None or count_include_pad or not any(amount for amount, _ in amounts):
        result = columns.sum(2) / (math.prod(windows.kernel) if divisor is None else divisor)
    else:
        ones = torch.ones((1, 1, *input.shape[input.dim() - dimensions :]), dtype=columns.dtype, device=columns.device)
        result = columns.sum(2) / unfold(padded(ones, amounts), windows).sum(2)
    return result[0] if single else result


def avg_pool1d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window: (N, C, L) -> (N, C, L')."""
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window: (N, C, H, W) -> (N, C, H', W')."""
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _adaptive_avg_pool(dimensions: int, input: Tensor, output_size: Any) -> Tensor:
    input, single = batched(input, dimensions, f"adaptive_avg_pool{dimensions}d")
    wanted = (output_size,) * dimensions if output_size is None or isinstance(output_size, int) else tuple(output_size)
    sizes = tuple(input.shape[2:])
    counts = [size if count is None else count for size, count in zip(sizes, wanted, strict=True)]
    bounds = [
        [(n * size // count, -(-(n + 1) * size // count)) for n in range(count)]
        for size, count in zip(sizes, counts, strict=True)
    ]
    dims = list(range(2, 2 + dimensions))
    cells = [
        input[(slice(None), slice(None), *(slice(start, end) for start, end in cell))].mean(dims)
        for cell in itertools.product(*bounds)
    ]
    result = torch.stack(cells, 2).reshape(*input.shape[:2], *counts)
    return result[0] if single else result


def adaptive_avg_pool1d(input: Tensor, output_size: int) -> Tensor:
    """Means over as many windows as wanted: (N, C, L) -> (N, C, output_size)."""
    return _adaptive_avg_pool(1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over as many windows as wanted: (N, C, H, W) -> (N, C, *output_size); None keeps a dimension."""
    return _adaptive_avg_pool(2, input, output_size)


# ---------------------------------------------------------------------------------------------------- the rest


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises each channel (dimension 1), by the batch if `training`, else by the running mean and variance."""
    shape = [1, -1, *[1] * (input.dim() - 2)]
    if training:
        if input.numel() // input.size(1) <= 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
        dims = [dim for dim in range(input.dim()) if dim != 1]
        mean, variance = input.mean(dims), input.var(dims, correction=0)
        with torch.no_grad():
            count = input.numel() // input.size(1)
            if running_mean is not None:
                running_mean.lerp_(mean.detach(), momentum)
            if running_var is not None:
                running_var.lerp_(variance.detach() * (count / (count - 1)), momentum)
    else:
        if running_mean is None or running_var is None:
            raise ValueError("Expected running_mean and running_var to be defined when training=False")
        mean, variance = running_mean, running_var
    scale = torch.rsqrt(variance + eps)
    scale = scale if weight is None else scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return input * scale.reshape(shape) + shift.reshape(shape)


def dropout_channels(input: Tensor, p: float, training: bool, dimensions: int) -> Tensor:
    """Zeroes whole channels with probability `p` and divides the others by 1 - p, if `training`."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    input, single = batched(input, dimensions, f"dropout{dimensions}d")
    if training and p > 0:
        noise = input.new_empty((*input.shape[:2], *[1] * dimensions)).bernoulli_(1 - p)
        input = input * (noise / (1 - p) if p < 1 else noise)
    return input[0] if single else input


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drops channels of (N, C, L)."""
    result = dropout_channels(input, p, training, 1)
    return input.copy_(result) if inplace else result


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drops channels of (N, C, H, W)."""
    result = dropout_channels(input, p, training, 2)
    return input.copy_(result) if inplace else result


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value: (..., L, E), (..., S, E), (..., S, V) -> (..., L, V).

    `attn_mask`: bool (True takes part) or added to the scores. `scale` defaults to 1 / sqrt(E).
    """
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.matmul(query * factor, key.transpose(-2, -1))
    if is_causal:
        if attn_mask is not None:
            raise RuntimeError("Explicit attn_mask should not be set when is_causal=True")
        attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    weights = torch.nn.functional.dropout(scores.softmax(-1), dropout_p, True) if dropout_p else scores.softmax(-1)
    return torch.matmul(weights, value)
