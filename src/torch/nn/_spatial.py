"""Convolutions, pooling, padding and batch normalisation: the part of `torch.nn.functional` for images and signals."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn._windows import Windows, fold, per_dimension, unfold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


# ---------------------------------------------------------------------------------------------------- padding


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Adds elements before and after the last dimensions: (last before, last after, second last before, ...).

    `mode`: "constant" (`value`, default 0; negative counts cut off), "reflect", "replicate" or "circular".
    """
    if len(pad) % 2 or len(pad) // 2 > input.dim():
        raise RuntimeError(
            "Padding length must be divisible by 2 and at most twice the number of dimensions of the input: "
            f"got {len(pad)} for {input.dim()} dimensions"
        )
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode != "constant":
        if value not in (None, 0):
            raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
        return _pad_by_index(input, pad, mode)
    before, after = list(pad[::2]), list(pad[1::2])
    if not any(pad):
        return input.clone()
    inner = [slice(None)] * input.dim()
    outer = list(inner)
    shape = list(input.shape)
    for number, (start, end) in enumerate(zip(before, after, strict=True)):
        dim = input.dim() - 1 - number
        shape[dim] += start + end
        if shape[dim] < 0:
            raise RuntimeError(f"The padding ({start}, {end}) leaves less than nothing of dimension {dim}")
        outer[dim] = slice(max(start, 0), max(start, 0) + max(input.size(dim) + min(start, 0) + min(end, 0), 0))
        inner[dim] = slice(max(-start, 0), input.size(dim) - max(-end, 0))
    result = torch.full(shape, 0 if value is None else value, dtype=input.dtype, device=input.device)
    result[tuple(outer)] = input[tuple(inner)]
    return result


def _pad_by_index(input: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    for number, (start, end) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        dim = input.dim() - 1 - number
        size = input.size(dim)
        limit = size - 1 if mode == "reflect" else size
        if mode != "replicate" and max(start, end) > limit:
            raise RuntimeError(
                f"Padding size should be at most {limit} for {mode} padding of {size} elements, got {pad}"
            )
        places = torch.arange(-start, size + end)
        if mode == "replicate":
            places = places.clamp(0, size - 1)
        elif mode == "circular":
            places = places.remainder(size)
        else:
            places = (size - 1) - ((size - 1) - places.abs()).abs()
        input = input.index_select(dim, places.to(input.device))
    return input


# ---------------------------------------------------------------------------------------------------- convolution


def _batched(input: Tensor, dimensions: int, name: str) -> tuple[Tensor, bool]:
    """The input as (N, C, ...), and whether a batch dimension was added."""
    if input.dim() not in (dimensions + 1, dimensions + 2):
        raise RuntimeError(
            f"Expected {dimensions + 1}D (unbatched) or {dimensions + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    single = input.dim() == dimensions + 1
    return (input.unsqueeze(0) if single else input), single


def _padded(input: Tensor, amounts: Sequence[tuple[int, int]], value: float = 0.0) -> Tensor:
    flat = [amount for pair in reversed(amounts) for amount in pair]
    return pad(input, flat, value=value) if any(flat) else input


def _conv(
    dimensions: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes | str,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    name = f"conv{dimensions}d"
    input, single = _batched(input, dimensions, name)
    strides, dilations = per_dimension(stride, dimensions, "stride"), per_dimension(dilation, dimensions, "dilation")
    kernel = tuple(weight.shape[2:])
    out_channels, in_channels = weight.size(0), weight.size(1) * groups
    if input.size(1) != in_channels:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{in_channels} channels, but got {input.size(1)} channels instead"
        )
    amounts: list[tuple[int, int]]
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        if padding == "same" and any(step != 1 for step in strides):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        totals = [d * (k - 1) if padding == "same" else 0 for k, d in zip(kernel, dilations, strict=True)]
        amounts = [(total // 2, total - total // 2) for total in totals]
    else:
        amounts = [(amount, amount) for amount in per_dimension(padding, dimensions, "padding")]
    image = _padded(input, amounts)
    windows = Windows(tuple(image.shape[2:]), kernel, strides, dilations)
    windows.check(name)
    # (N, groups, in/groups * kernel, windows) by (groups, out/groups, in/groups * kernel)
    columns = unfold(image, windows).reshape(image.size(0), groups, -1, math.prod(windows.counts))
    result = torch.matmul(weight.reshape(groups, out_channels // groups, -1), columns)
    result = result.reshape(image.size(0), out_channels, *windows.counts)
    if bias is not None:
        result = result + bias.reshape(-1, *[1] * dimensions)
    return result[0] if single else result


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation: (N, C, L), (out, C / groups, K), (out) -> (N, out, L'); `padding` may be "same" or "valid"."""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation: (N, C, H, W), (out, C / groups, KH, KW), (out) -> (N, out, H', W')."""
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation: (N, C, D, H, W), (out, C / groups, KD, KH, KW), (out) -> (N, out, D', H', W')."""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The transpose of conv2d: (N, C, H, W), (C, out / groups, KH, KW) -> (N, out, H', W')."""
    input, single = _batched(input, 2, "conv_transpose2d")
    strides, dilations = per_dimension(stride, 2, "stride"), per_dimension(dilation, 2, "dilation")
    amounts, extra = per_dimension(padding, 2, "padding"), per_dimension(output_padding, 2, "output_padding")
    kernel = tuple(weight.shape[2:])
    if input.size(1) != weight.size(0):
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.size(0)} channels, but got {input.size(1)} channels instead"
        )
    if any(more >= max(step, gap) for more, step, gap in zip(extra, strides, dilations, strict=True)):
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {extra}")
    whole = tuple(
        (count - 1) * step + gap * (length - 1) + 1 + more
        for count, step, gap, length, more in zip(input.shape[2:], strides, dilations, kernel, extra, strict=True)
    )
    size, batch = tuple(input.shape[2:]), input.size(0)
    grouped = input.reshape(batch, groups, -1, math.prod(size))
    columns = torch.matmul(weight.reshape(groups, weight.size(0) // groups, -1).transpose(1, 2), grouped)
    columns = columns.reshape(batch, groups * weight.size(1), math.prod(kernel), *size)
    image = fold(columns, Windows(whole, kernel, strides, dilations))
    ends = [length - amount for length, amount in zip(whole, amounts, strict=True)]
    image = image[:, :, amounts[0] : ends[0], amounts[1] : ends[1]]
    if bias is not None:
        image = image + bias.reshape(-1, 1, 1)
    return image[0] if single else image


# ---------------------------------------------------------------------------------------------------- pooling


def _pooled(
    dimensions: int, kind: str, input: Tensor, kernel: Sizes, stride: Sizes | None, padding: Sizes, dilation: Sizes
) -> tuple[Tensor, Windows, list[tuple[int, int]], bool]:
    name = f"{kind}_pool{dimensions}d"
    input, single = _batched(input, dimensions, name)
    kernels = per_dimension(kernel, dimensions, "kernel_size")
    strides = kernels if stride is None else per_dimension(stride, dimensions, "stride")
    amounts = [(amount, amount) for amount in per_dimension(padding, dimensions, "padding")]
    if any(2 * amount > length for (amount, _), length in zip(amounts, kernels, strict=True)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={padding} and kernel_size={kernel}"
        )
    image = _padded(input, amounts, -math.inf if kind == "max" else 0.0)
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
        result = columns.sum(2) / unfold(_padded(ones, amounts), windows).sum(2)
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
    input, single = _batched(input, dimensions, f"adaptive_avg_pool{dimensions}d")
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
    input, single = _batched(input, dimensions, f"dropout{dimensions}d")
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
