"""Convolutions: the part of `torch.nn.functional` that `torch.convolution` does, or, on CUDA, products of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn._conv_windows import convolve_by_windows, transpose_by_windows
from torch.nn._padding import batched, padded
from torch.nn._windows import per_dimension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    Sizes = int | Sequence[int]


def _same_padding(kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> list[tuple[int, int]]:
    if any(step != 1 for step in strides):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [gap * (length - 1) for length, gap in zip(kernel, dilations, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


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
    input, single = batched(input, dimensions, name)
    strides, dilations = per_dimension(stride, dimensions, "stride"), per_dimension(dilation, dimensions, "dilation")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        amounts = _same_padding(weight.shape[2:], strides, dilations) if padding == "same" else [(0, 0)] * dimensions
        common = tuple(min(pair) for pair in amounts)
        rest = [(before - less, after - less) for (before, after), less in zip(amounts, common, strict=True)]
        input = padded(input, rest)
    else:
        common = per_dimension(padding, dimensions, "padding")
    if input.device.type == "cuda":
        result = convolve_by_windows(input, weight, bias, strides, common, dilations, groups)
    else:
        nothing = (0,) * dimensions
        result = torch.convolution(input, weight, bias, strides, common, dilations, False, nothing, groups)
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


def _conv_transpose(
    dimensions: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    output_padding: Sizes,
    groups: int,
    dilation: Sizes,
) -> Tensor:
    input, single = batched(input, dimensions, f"conv_transpose{dimensions}d")
    strides, dilations = per_dimension(stride, dimensions, "stride"), per_dimension(dilation, dimensions, "dilation")
    amounts = per_dimension(padding, dimensions, "padding")
    extra = per_dimension(output_padding, dimensions, "output_padding")
    if input.device.type == "cuda":
        result = transpose_by_windows(input, weight, bias, strides, amounts, dilations, extra, groups)
    else:
        result = torch.convolution(input, weight, bias, strides, amounts, dilations, True, extra, groups)
    return result[0] if single else result


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The transpose of conv1d: (N, C, L), (C, out / groups, K) -> (N, out, L')."""
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


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
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The transpose of conv3d: (N, C, D, H, W), (C, out / groups, KD, KH, KW) -> (N, out, D', H', W')."""
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)
