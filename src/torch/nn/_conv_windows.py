"""Convolutions as matrix products of windows, of other operators alone: for backends without kernels of their own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn._padding import padded
from torch.nn._windows import Windows, fold, unfold

if TYPE_CHECKING:
    from torch import Tensor

    Numbers = tuple[int, ...]


def convolve_by_windows(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    strides: Numbers,
    padding: Numbers,
    dilations: Numbers,
    groups: int,
) -> Tensor:
    """What torch.convolution gives: (N, C, *size), (out, C / groups, *kernel), (out) -> (N, out, *windows)."""
    dimensions, out_channels, in_channels = weight.dim() - 2, weight.size(0), weight.size(1) * groups
    if input.size(1) != in_channels:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{in_channels} channels, but got {input.size(1)} channels instead"
        )
    image = padded(input, [(amount, amount) for amount in padding])
    windows = Windows(tuple(image.shape[2:]), tuple(weight.shape[2:]), strides, dilations)
    windows.check(f"conv{dimensions}d")
    # (N, groups, in/groups * kernel, windows) by (groups, out/groups, in/groups * kernel)
    rows = weight.size(1) * math.prod(windows.kernel)
    columns = unfold(image, windows).reshape(image.size(0), groups, rows, math.prod(windows.counts))
    result = torch.matmul(weight.reshape(groups, out_channels // groups, -1), columns)
    result = result.reshape(image.size(0), out_channels, *windows.counts)
    return result if bias is None else result + bias.reshape(-1, *[1] * dimensions)


def transpose_by_windows(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    strides: Numbers,
    padding: Numbers,
    dilations: Numbers,
    output_padding: Numbers,
    groups: int,
) -> Tensor:
    """What torch.convolution(transposed=True) gives: (N, C, *size), (C, out / groups, *kernel) -> (N, out, *image)."""
    if input.size(1) != weight.size(0):
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.size(0)} channels, but got {input.size(1)} channels instead"
        )
    facts = zip(output_padding, strides, dilations, strict=True)
    if any(more >= max(step, gap) for more, step, gap in facts):
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {output_padding}")
    size, kernel = tuple(input.shape[2:]), tuple(weight.shape[2:])
    whole = tuple(
        (count - 1) * step + gap * (length - 1) + 1 + more
        for count, step, gap, length, more in zip(size, strides, dilations, kernel, output_padding, strict=True)
    )
    grouped = input.reshape(input.size(0), groups, input.size(1) // groups, math.prod(size))
    columns = torch.matmul(weight.reshape(groups, weight.size(0) // groups, -1).transpose(1, 2), grouped)
    columns = columns.reshape(input.size(0), groups * weight.size(1), math.prod(kernel), *size)
    image = fold(columns, Windows(whole, kernel, strides, dilations))
    inner = [slice(amount, length - amount) for amount, length in zip(padding, whole, strict=True)]
    image = image[(slice(None), slice(None), *inner)]
    return image if bias is None else image + bias.reshape(-1, *[1] * len(size))
