"""More of `torch.nn.functional`, in terms of the operators: activations, losses, normalisation, windows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn import _windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


# ---------------------------------------------------------------------------------------------------- activations


def relu_(input: Tensor) -> Tensor:
    """max(0, x), in place"""
    return input.relu_()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1 / 2, held between 0 and 1"""
    result = (input + 3).clamp(0, 6) / 6
    return input.copy_(result) if inplace else result


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)"""
    result = input * (input + 3).clamp(0, 6) / 6
    return input.copy_(result) if inplace else result


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))"""
    result = input * torch.nn.functional.softplus(input).tanh()
    return input.copy_(result) if inplace else result


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """scale * elu(x, alpha), with the constants that keep mean 0 and variance 1"""
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    result = scale * torch.nn.functional.elu(input, alpha)
    return input.copy_(result) if inplace else result


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)"""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)"""
    return input - input.tanh()


def softmin(input: Tensor, dim: int) -> Tensor:
    """softmax(-x) along `dim`"""
    return (-input).softmax(dim)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b) for the two halves of `dim`"""
    size = input.size(dim)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % input.dim()} is size {size}")
    return input.narrow(dim, 0, size // 2) * input.narrow(dim, size // 2, size // 2).sigmoid()


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x, or weight * x below 0; one weight for all, or one for each channel (dimension 1)"""
    if weight.numel() != 1:
        channels = input.size(1) if input.dim() > 1 else 1
        if weight.numel() != channels:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and "
                f"channel size = {channels}."
            )
        weight = weight.reshape([-1 if dim == 1 else 1 for dim in range(input.dim())])
    return torch.where(input > 0, input, weight * input)


# ---------------------------------------------------------------------------------------------------- normalisation


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalises groups of channels (dimension 1) to mean 0 and variance 1, then scales and shifts each channel."""
    channels = input.size(1)
    if channels % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    groups = input.reshape(input.size(0), num_groups, -1)
    result = torch.nn.functional.layer_norm(groups, groups.shape[2:], eps=eps).reshape(input.shape)
    shape = [-1 if dim == 1 else 1 for dim in range(input.dim())]
    result = result if weight is None else result * weight.reshape(shape)
    return result if bias is None else result + bias.reshape(shape)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divides by the root of the mean square over the last dimensions, then scales."""
    dims = list(range(input.dim() - len(normalized_shape), input.dim()))
    if list(input.shape[dims[0] :]) != list(normalized_shape):
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape [*, "
            f"{', '.join(map(str, normalized_shape))}], but got input of size {list(input.shape)}"
        )
    small = torch.finfo(input.dtype).eps if eps is None else eps
    result = input * torch.rsqrt((input * input).mean(dims, True) + small)
    return result if weight is None else result * weight


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`."""
    one, other = torch.broadcast_tensors(x1, x2)
    norms = (one.norm(2, dim, True).clamp_min(eps), other.norm(2, dim, True).clamp_min(eps))
    return ((one / norms[0]) * (other / norms[1])).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)


# ---------------------------------------------------------------------------------------------------- losses


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Half the square below `delta`, a line above"""
    loss: Tensor = torch.nn.functional.smooth_l1_loss(input, target, reduction="none", beta=delta) * delta
    return _reduced(loss, reduction)


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target * (log(target) - input) for log-probabilities `input`; "batchmean" divides the sum by the batch."""
    if log_target:
        loss = target.exp() * (target - input)
    else:
        positive = target > 0  # 0 * log(0) is 0
        logarithm = torch.where(positive, target, torch.ones_like(target)).log()
        loss = torch.where(positive, target * logarithm, torch.zeros_like(target)) - target * input
    return loss.sum() / input.size(0) if reduction == "batchmean" else _reduced(loss, reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin)"""
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin)"""
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    return _reduced((near - far + margin).clamp_min(0), reduction)


# ---------------------------------------------------------------------------------------------------- windows, images


def unfold(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """All windows of images: (N, C, H, W) -> (N, C * kernel elements, windows)."""
    facts = [_windows.per_dimension(value, 2, "unfold") for value in (kernel_size, stride, dilation, padding)]
    rows, columns = facts[3]
    image = torch.nn.functional.pad(input, (columns, columns, rows, rows)) if rows or columns else input
    windows = _windows.Windows((image.size(2), image.size(3)), *facts[:3])
    windows.check("unfold")
    return _windows.unfold(image, windows).reshape(input.size(0), -1, math.prod(windows.counts))


def fold(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Adds windows up to images: (N, C * kernel elements, windows) -> (N, C, *output_size)."""
    facts = [_windows.per_dimension(value, 2, "fold") for value in (kernel_size, stride, dilation, padding)]
    height, width = _windows.per_dimension(output_size, 2, "output_size")
    rows, columns = facts[3]
    windows = _windows.Windows((height + 2 * rows, width + 2 * columns), *facts[:3])
    windows.check("fold")
    elements = math.prod(windows.kernel)
    if input.size(1) % elements or input.size(2) != math.prod(windows.counts):
        raise RuntimeError(
            f"fold: input of size {list(input.shape)} does not hold {math.prod(windows.counts)} windows of {elements} "
            "elements"
        )
    grouped = input.reshape(input.size(0), -1, elements, *windows.counts)
    return _windows.fold(grouped, windows)[:, :, rows : rows + height, columns : columns + width]


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(N, C * r * r, H, W) -> (N, C, H * r, W * r)"""
    batch, channels, height, width = input.shape
    r = upscale_factor
    if channels % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    spread = input.reshape(batch, channels // (r * r), r, r, height, width).permute(0, 1, 4, 2, 5, 3)
    return spread.reshape(batch, channels // (r * r), height * r, width * r)
