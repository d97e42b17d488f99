"""Losses: how far answers are from what was wanted. `reduction` is "mean", "sum" or "none" (a loss per element)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import torch
from torch import _C
from torch.nn.functional._options import get_reduction, refuse, refuse_size_average

if TYPE_CHECKING:
    from torch import Tensor

_nn, _torch = _C._nn, _C._VariableFunctions


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both at their common shape, with PyTorch's warning where they differ."""
    if input.shape != target.shape:
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
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared differences of `input` and `target`, averaged, added up, or one by one.

    `reduction`: "mean", "sum" or "none". Both should have one shape: they are broadcast otherwise, with a warning.

    >>> mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0]))
    tensor(2.5000)
    """
    refuse_size_average(size_average, reduce)
    refuse("mse_loss", weight=weight)
    input, target = _broadcast(input, target)
    return _nn.mse_loss(input, target, get_reduction(reduction))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute differences of `input` and `target`; shapes and `reduction` are those of `mse_loss`.

    >>> l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0]))
    tensor(1.5000)
    """
    refuse_size_average(size_average, reduce)
    refuse("l1_loss", weight=weight)
    input, target = _broadcast(input, target)
    return _nn.l1_loss(input, target, get_reduction(reduction))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Half the squared difference over `beta` below `beta`, the difference less `beta / 2` above.

    Shapes and `reduction` are those of `mse_loss`. `beta=0` is `l1_loss`.

    >>> smooth_l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 4.0]), reduction="none")
    tensor([0.1250, 1.5000])
    """
    refuse_size_average(size_average, reduce)
    input, target = _broadcast(input, target)
    if beta == 0.0:
        return _nn.l1_loss(input, target, get_reduction(reduction))
    return _nn.smooth_l1_loss(input, target, get_reduction(reduction), beta)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood: `-weight[target] * input[target]` for log-probabilities (N, C), (C) or (N, C, *).

    `target` (N), () or (N, *) holds classes (int64), of which `ignore_index` does not count; `weight` (C) is one factor
    per class, and "mean" divides by the sum of those that counted. IndexError for a class outside of [0, C).

    >>> nll_loss(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
    tensor(1.)
    """
    refuse_size_average(size_average, reduce)
    return _nn.nll_loss(input, target, weight, get_reduction(reduction), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax(input)`: scores of any size (N, C), (C) or (N, C, *).

    `target` holds classes, as `nll_loss` takes them, or probabilities in the shape of `input`. `label_smoothing` in
    [0, 1] gives all classes a share of every target.

    >>> cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([1]))
    tensor(0.6931)
    """
    refuse_size_average(size_average, reduce)
    return _nn.cross_entropy_loss(input, target, weight, get_reduction(reduction), ignore_index, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`-(target * log(input) + (1 - target) * log(1 - input))` for probabilities `input`.

    `weight` broadcasts against them. RuntimeError for an input outside of [0, 1], ValueError for different shapes.

    >>> binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    refuse_size_average(size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    return _nn.binary_cross_entropy(input, target, weight, get_reduction(reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy(sigmoid(input), target)`, computed without overflow; `pos_weight` weighs positive targets.

    >>> binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    refuse_size_average(size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, get_reduction(reduction))


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Half the squared difference below `delta`, `delta * (difference - delta / 2)` above.

    Shapes and `reduction` are those of `mse_loss`. RuntimeError for a `delta` that is not positive.

    >>> huber_loss(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 4.0]), reduction="none")
    tensor([0.1250, 1.5000])
    """
    refuse("huber_loss", weight=weight)
    input, target = _broadcast(input, target)
    return _nn.huber_loss(input, target, get_reduction(reduction), delta)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The divergence of two distributions: `target * (log(target) - input)` for log-probabilities `input`.

    `log_target`: `target` holds logarithms, too. `reduction`: also "batchmean", which divides the sum by the size of
    dimension 0 and is the divergence's definition ("mean" is not, and warns).

    >>> kl_div(torch.tensor([[0.5, 0.5]]).log(), torch.tensor([[0.0, 1.0]]), reduction="batchmean")
    tensor(0.6931)
    """
    refuse_size_average(size_average, reduce)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    if reduction == "batchmean":
        total = _torch.kl_div(input, target, get_reduction("sum"), log_target=log_target)
        return total / input.size(0) if input.dim() else total
    return _torch.kl_div(input, target, get_reduction(reduction), log_target=log_target)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, -target * (input1 - input2) + margin)`: `target` 1 wants the first greater, -1 the second.

    >>> margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    refuse_size_average(size_average, reduce)
    return _torch.margin_ranking_loss(input1, input2, target, margin, get_reduction(reduction))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` for vectors (*, D), with `pairwise_distance` as d.

    `swap` takes `d(positive, negative)` where that is smaller than `d(anchor, negative)`. ValueError for a `margin`
    that
    is not positive.

    >>> triplet_margin_loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2), margin=2.0)
    tensor(0.5858)
    """
    refuse_size_average(size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, get_reduction(reduction))
