"""Normalizations and dropout."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.shapes import _pad_one
from torch.onnx._operators.table import operator


@operator("BatchNormalization")
def batch_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
    spatial: int = 1,
    is_test: int = 1,
    outputs: int = 1,
) -> Any:
    shape = [1, -1, *([1] * (x.dim() - 2))]
    if not training_mode:
        return F.batch_norm(
            x, mean.to(x.dtype), variance.to(x.dtype), scale.to(x.dtype), bias.to(x.dtype), False, 0.0, epsilon
        )
    axes = [axis for axis in range(x.dim()) if axis != 1]
    now = x.mean(axes)
    spread = ((x - now.reshape(shape)) ** 2).mean(axes)
    y = (x - now.reshape(shape)) / torch.sqrt(spread.reshape(shape) + epsilon) * scale.reshape(shape) + bias.reshape(
        shape
    )
    return (
        (y, mean * momentum + now * (1 - momentum), variance * momentum + spread * (1 - momentum))[:outputs]
        if outputs > 1
        else y
    )


@operator("InstanceNormalization")
def instance_normalization(x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5) -> Tensor:
    return F.instance_norm(x, None, None, scale, bias, True, 0.0, epsilon)


@operator("LayerNormalization")
def layer_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
    outputs: int = 1,
) -> Any:
    first = axis % x.dim()
    y = F.layer_norm(x, list(x.shape[first:]), None, None, epsilon) * scale
    y = y if bias is None else y + bias
    if outputs == 1:
        return y
    axes = list(range(first, x.dim()))
    mean = x.mean(axes, keepdim=True)
    return y, mean, ((x - mean) ** 2).mean(axes, keepdim=True).add(epsilon).rsqrt()


@operator("GroupNormalization")
def group_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
    opset: int = 21,
) -> Tensor:
    if opset < 21 or scale.numel() == num_groups != x.shape[1]:  # one number for each group
        scale, bias = (each.repeat_interleave(x.shape[1] // num_groups) for each in (scale, bias))
    return F.group_norm(x, num_groups, scale, bias, epsilon)


@operator("RMSNormalization")
def rms_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Tensor:
    axes = list(range(axis % x.dim(), x.dim()))
    return x * torch.rsqrt((x * x).mean(axes, keepdim=True) + epsilon) * scale


@operator("LRN")
def local_response(x: Tensor, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0) -> Tensor:
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = _pad_one(x * x, 1, before, after, "constant", 0.0).unfold(1, size, 1).sum(-1)
    return x / (bias + alpha / size * squares) ** beta


@operator("Dropout")
def dropout(
    x: Tensor,
    rate: Tensor | None = None,
    mode: Tensor | None = None,
    *,
    ratio: float = 0.5,
    seed: int | None = None,
    is_test: int = 0,
    training: bool = False,
    outputs: int = 1,
) -> Any:
    share = ratio if rate is None else float(rate)
    on = training if mode is None else bool(mode)
    keep = torch.rand(x.shape) >= share if on and share else torch.ones(x.shape, dtype=torch.bool)
    y = x * keep / (1 - share) if on and share else x
    return (y, keep) if outputs > 1 else y
