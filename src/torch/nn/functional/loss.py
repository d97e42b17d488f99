"""Losses: how far answers are from what was wanted. `reduction` is "mean", "sum" or "none" (a loss per element)."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import torch
from torch import _C
from torch.nn.functional._options import choose_reduction, get_reduction, has_readable_values, reduce_losses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


def _reduce_weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Losses times weights of their shape; "mean" divides by the sum of the weights. ValueError for another shape."""
    if weight.size() != losses.size():
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    code = get_reduction(reduction)
    return losses.sum() / weight.sum() if code == 1 else losses.sum() if code == 2 else losses


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
    `weight` multiplies losses of its shape; "mean" then divides by the sum of the weights.

    >>> mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0]))
    tensor(2.5000)
    """
    reduction = choose_reduction(reduction, size_average, reduce)
    input, target = _broadcast(input, target)
    if weight is not None:
        return _reduce_weighted((input - target) ** 2, weight, reduction)
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
    reduction = choose_reduction(reduction, size_average, reduce)
    input, target = _broadcast(input, target)
    if weight is not None:
        return _reduce_weighted((input - target).abs(), weight, reduction)
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
    reduction = choose_reduction(reduction, size_average, reduce)
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
    reduction = choose_reduction(reduction, size_average, reduce)
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
    reduction = choose_reduction(reduction, size_average, reduce)
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
    reduction = choose_reduction(reduction, size_average, reduce)
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
    reduction = choose_reduction(reduction, size_average, reduce)
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
    input, target = _broadcast(input, target)
    if weight is not None:
        losses = _reduce_weighted(_nn.huber_loss(input, target, 0, delta), weight, "none")
        return reduce_losses(losses, get_reduction(reduction))  # "mean" divides by their number, as in PyTorch
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
    reduction = choose_reduction(reduction, size_average, reduce)
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
    reduction = choose_reduction(reduction, size_average, reduce)
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
    reduction = choose_reduction(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, get_reduction(reduction))


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with any distance; `pairwise_distance` without one.

    >>> triplet_margin_with_distance_loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2), margin=2.0)
    tensor(0.5858)
    """
    code = get_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = _torch.pairwise_distance if distance_function is None else distance_function
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return reduce_losses((margin + near - far).clamp_min(0), code)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The negative log likelihood of `targets` over all their alignments with `log_probs` (time, batch, classes).

    `targets`: (batch, longest), or all sequences joined (sum of lengths), without `blank`. Lengths are one for each
    sequence. `reduction`: "mean" divides each loss by its target's length first. `zero_infinity`: losses of targets
    that time does not suffice for are 0 rather than infinite. Without a batch: (time, classes), (length), numbers.

    >>> probabilities = torch.full((2, 1, 2), 0.5).log()
    >>> ctc_loss(probabilities, torch.tensor([[1]]), [2], [1], reduction="sum")  # 11, 10 or 01: 3 of 4 paths
    tensor(0.2877)
    """
    code = get_reduction(reduction)
    return _torch.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, code, zero_infinity)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts `target` under a Poisson distribution of rate exp(input), or `input`.

    `log_input`: `input` is the rate's logarithm; `full`: with Stirling's term for targets above 1; `eps` keeps from
    the logarithm of 0.

    >>> poisson_nll_loss(torch.tensor([0.0]), torch.tensor([3.0]))
    tensor(1.)
    """
    reduction = choose_reduction(reduction, size_average, reduce)
    return _torch.poisson_nll_loss(input, target, log_input, full, eps, get_reduction(reduction))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of `target` under normal distributions of mean `input` and variance `var`.

    `var` has the shape of `input`, with a last dimension of 1 or without it, or is a number; it counts as at least
    `eps`. `full`: with the constant. ValueError for a negative variance, or another shape.

    >>> gaussian_nll_loss(torch.tensor([0.0]), torch.tensor([2.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * torch.ones_like(input)
    elif has_readable_values(var) and bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.dim() == var.dim() and sum(a != b for a, b in zip(input.size(), var.size(), strict=True)) == 1
                  and 1 in var.size()):  # fmt: skip
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduce_losses(losses, get_reduction(reduction))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Distances `input` where `target` is 1, `max(0, margin - input)` where it is -1.

    >>> hinge_embedding_loss(torch.tensor([0.5, 0.25]), torch.tensor([1.0, -1.0]), reduction="none")
    tensor([0.5000, 0.7500])
    """
    code = get_reduction(reduction, size_average, reduce)
    return _torch.hinge_embedding_loss(input, target, margin, code)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`1 - cos` of vectors (N, D) or (D) where `target` (N) or () is 1, `max(0, cos - margin)` where it is -1.

    >>> cosine_embedding_loss(torch.ones(1, 2), torch.ones(1, 2), torch.tensor([-1.0]), margin=0.5)
    tensor(0.5000)
    """
    code = get_reduction(reduction, size_average, reduce)
    return _torch.cosine_embedding_loss(input1, input2, target, margin, code)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + exp(-target * input))` for targets of 1 and -1.

    >>> soft_margin_loss(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    code = get_reduction(reduction, size_average, reduce)
    return reduce_losses((-target * input).exp().log1p(), code)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes of `binary_cross_entropy_with_logits`: (N, C) or (C) -> one loss for each sample.

    >>> multilabel_soft_margin_loss(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]]))
    tensor(0.6931)
    """
    code = get_reduction(reduction, size_average, reduce)
    losses = -(target * _nn.log_sigmoid(input) + (1 - target) * _nn.log_sigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return reduce_losses(losses.mean(-1), code)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`sum(max(0, margin - x[target] + x[i]) ** p) / C` over the other classes i: (N, C) or (C) and classes (N) or ().

    `p`: 1 or 2; `weight` (C): a factor for each class.

    >>> multi_margin_loss(torch.tensor([[0.5, 0.25]]), torch.tensor([0]))
    tensor(0.3750)
    """
    code = get_reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _nn.multi_margin_loss(input, target, p, margin, weight, code)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`sum(max(0, 1 - (x[target[j]] - x[i]))) / C` over targets j and other classes i: (N, C) or (C).

    `target`, in the shape of `input`, holds classes up to the first -1.

    >>> multilabel_margin_loss(torch.tensor([[0.5, 0.25]]), torch.tensor([[0, -1]]))
    tensor(0.3750)
    """
    code = get_reduction(reduction, size_average, reduce)
    return _nn.multilabel_margin_loss(input, target, code)
