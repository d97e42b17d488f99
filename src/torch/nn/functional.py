"""The functions behind the modules of `torch.nn`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.nn._convolution import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    conv_transpose1d as conv_transpose1d,
    conv_transpose2d as conv_transpose2d,
    conv_transpose3d as conv_transpose3d,
)
from torch.nn._more import (
    cosine_similarity as cosine_similarity,
    fold as fold,
    glu as glu,
    group_norm as group_norm,
    hardsigmoid as hardsigmoid,
    hardswish as hardswish,
    huber_loss as huber_loss,
    kl_div as kl_div,
    margin_ranking_loss as margin_ranking_loss,
    mish as mish,
    pairwise_distance as pairwise_distance,
    pixel_shuffle as pixel_shuffle,
    prelu as prelu,
    relu_ as relu_,
    rms_norm as rms_norm,
    selu as selu,
    softmin as softmin,
    softsign as softsign,
    tanhshrink as tanhshrink,
    triplet_margin_loss as triplet_margin_loss,
    unfold as unfold,
)
from torch.nn._padding import (
    pad as pad,
)
from torch.nn._spatial import (
    adaptive_avg_pool1d as adaptive_avg_pool1d,
    adaptive_avg_pool2d as adaptive_avg_pool2d,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    batch_norm as batch_norm,
    dropout1d as dropout1d,
    dropout2d as dropout2d,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    scaled_dot_product_attention as scaled_dot_product_attention,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

_operators = _C._nn
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(name: str) -> int:
    if name not in _REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return _REDUCTIONS[name]


def _refuse_reduce(size_average: object, reduce: object) -> None:
    if size_average is not None or reduce is not None:
        raise NotImplementedError("size_average and reduce were replaced: use reduction='mean', 'sum' or 'none'")


def _refuse(name: str, **options: object) -> None:
    """Raises NotImplementedError for options that PyTorch has and this torch has not."""
    for option, value in options.items():
        if value is not None and value is not False:
            raise NotImplementedError(f"{name}({option}={value!r}) is not supported: leave it out")


# ---------------------------------------------------------------------------------------------------- layers


# input @ weight.T + bias: (*, in), (out, in), (out) -> (*, out). The operator itself: a wrapper would double its cost.
linear = _operators.linear


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight`: indices (*), (rows, columns) -> (*, columns). Row `padding_idx` gets no gradient."""
    _refuse("embedding", max_norm=max_norm, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
    if norm_type != 2.0:
        raise NotImplementedError("embedding(norm_type=...) only matters with max_norm, which is not supported")
    result = torch.embedding(weight, input)
    if padding_idx is None:
        return result
    rows = weight.size(0)
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    if not result.requires_grad:
        return result
    padding = (input == padding_idx % rows).unsqueeze(-1)
    return torch.where(padding, result.detach(), result)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalises the last dimensions, which have the sizes `normalized_shape`, then scales and shifts."""
    return torch.layer_norm(input, normalized_shape, weight, bias, eps)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeroes each element with probability `p` and divides the others by 1 - p, if `training`."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    result = torch.dropout(input, p, training)
    return input.copy_(result) if inplace and training else result


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Class indices (*) -> int64 (*, num_classes) with a 1 in each row; -1: as many classes as needed."""
    if tensor.dtype != torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if num_classes == 0 or num_classes < -1:
        raise RuntimeError("Class values must be smaller than num_classes.")
    if tensor.numel() == 0 and num_classes == -1:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if tensor.numel() and int(tensor.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    classes = num_classes if num_classes != -1 else int(tensor.max()) + 1
    if tensor.numel() and int(tensor.max()) >= classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (tensor.unsqueeze(-1) == torch.arange(classes, device=tensor.device)).to(torch.int64)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """input / max(norm along `dim`, eps)."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


# ---------------------------------------------------------------------------------------------------- activations


def _activated(function: Callable[..., Tensor], input: Tensor, inplace: bool, *args: Any) -> Tensor:
    result = function(input, *args)
    return input.copy_(result) if inplace else result


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(0, x)"""
    return input.relu_() if inplace else input.relu()


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """min(max(0, x), 6)"""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x, held between `min_val` and `max_val`"""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return input.clamp_(min_val, max_val) if inplace else input.clamp(min_val, max_val)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))"""
    return input.sigmoid()


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow"""
    return input.clamp_max(0) - torch.log1p(torch.exp(-input.abs()))


def tanh(input: Tensor) -> Tensor:
    """tanh(x)"""
    return input.tanh()


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x * P(X <= x) for a normal X; `approximate`: "none" or "tanh" """
    return _operators.gelu(input, approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)"""
    return _activated(_operators.silu, input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x, or negative_slope * x below 0"""
    return _activated(_operators.leaky_relu, input, inplace, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x, or alpha * (exp(x) - 1) below 0"""

    def formula(x: Tensor) -> Tensor:
        return torch.where(x > 0, x, alpha * torch.expm1(x.clamp_max(0)))

    return _activated(formula, input, inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta, and x where beta * x > threshold"""
    scaled = input * beta
    return torch.where(scaled > threshold, input, torch.log1p(torch.exp(scaled.clamp_max(threshold))) / beta)


def _softmax_dim(name: str, dim: int | None, dimensions: int) -> int:
    """PyTorch's choice where no dimension is given, with its warning."""
    if dim is not None:
        return dim
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if dimensions in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`"""
    return input.softmax(_softmax_dim("softmax", dim, input.dim()), dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: torch.dtype | None = None
) -> Tensor:
    """log(softmax(x)) along `dim`"""
    return input.log_softmax(_softmax_dim("log_softmax", dim, input.dim()), dtype=dtype)


# ---------------------------------------------------------------------------------------------------- losses


def _same_shape(name: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both at their common shape, with PyTorch's warning where they differ."""
    if input.shape != target.shape:
        import warnings

        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )
        input, target = torch.broadcast_tensors(input, target)
    return input, target


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)^2"""
    _refuse_reduce(size_average, reduce)
    _refuse("mse_loss", weight=weight)
    input, target = _same_shape("mse_loss", input, target)
    return _operators.mse_loss(input, target, _reduction(reduction))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|"""
    _refuse_reduce(size_average, reduce)
    _refuse("l1_loss", weight=weight)
    input, target = _same_shape("l1_loss", input, target)
    return _operators.l1_loss(input, target, _reduction(reduction))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squared (over 2 * beta) below `beta`, absolute (minus beta / 2) above"""
    _refuse_reduce(size_average, reduce)
    input, target = _same_shape("smooth_l1_loss", input, target)
    if beta == 0.0:
        return _operators.l1_loss(input, target, _reduction(reduction))
    return _operators.smooth_l1_loss(input, target, _reduction(reduction), beta)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: None = None,
    ignore_index: int = -100,
    reduce: None = None,
    reduction: str = "mean",
) -> Tensor:
    """-weight[target[n]] * input[n, target[n]] for log-probabilities (N, C) or (C)."""
    _refuse_reduce(size_average, reduce)
    return _operators.nll_loss(input, target, weight, _reduction(reduction), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: None = None,
    ignore_index: int = -100,
    reduce: None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax(input): (N, C) or (C), with class indices or probabilities as target."""
    _refuse_reduce(size_average, reduce)
    return _operators.cross_entropy_loss(input, target, weight, _reduction(reduction), ignore_index, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(target * log(input) + (1 - target) * log(1 - input)) for probabilities"""
    _refuse_reduce(size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    return _operators.binary_cross_entropy(input, target, weight, _reduction(reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: None = None,
    reduce: None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(input), without overflow"""
    _refuse_reduce(size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, _reduction(reduction))
