"""Losses."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.onnx._decompositions.functions import pairwise_distance
from torch.onnx._decompositions.table import DECOMPOSITIONS, decomposition


def _reduced(values: Tensor, reduction: Any) -> Tensor:
    kind = {"none": 0, "mean": 1, "sum": 2}.get(reduction, reduction)
    return values if kind == 0 else values.mean() if kind == 1 else values.sum()


@decomposition
def mse_loss(x: Tensor, target: Tensor, reduction: Any = 1) -> Tensor:
    """Squares of differences."""
    return _reduced((x - target) ** 2, reduction)


@decomposition
def l1_loss(x: Tensor, target: Tensor, reduction: Any = 1) -> Tensor:
    """Sizes of differences."""
    return _reduced((x - target).abs(), reduction)


@decomposition
def huber_loss(x: Tensor, target: Tensor, reduction: Any = 1, delta: float = 1.0) -> Tensor:
    """Squares of small differences, sizes of others."""
    size = (x - target).abs()
    return _reduced(torch.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


@decomposition
def smooth_l1_loss(x: Tensor, target: Tensor, reduction: Any = 1, beta: float = 1.0) -> Tensor:
    """Squares of small differences, sizes of others."""
    size = (x - target).abs()
    if beta == 0:
        return _reduced(size, reduction)
    return _reduced(torch.where(size < beta, 0.5 * size * size / beta, size - 0.5 * beta), reduction)


@decomposition
def soft_margin_loss(x: Tensor, target: Tensor, reduction: Any = 1) -> Tensor:
    """log(1 + exp(-target * x))."""
    return _reduced(torch.log1p(torch.exp(-target * x)), reduction)


@decomposition
def binary_cross_entropy(x: Tensor, target: Tensor, weight: Any = None, reduction: Any = 1) -> Tensor:
    """Of probabilities."""
    loss = -(target * x.log().clamp(min=-100) + (1 - target) * (1 - x).log().clamp(min=-100))
    return _reduced(loss if weight is None else loss * weight, reduction)


@decomposition
def binary_cross_entropy_with_logits(
    x: Tensor, target: Tensor, weight: Any = None, pos_weight: Any = None, reduction: Any = 1
) -> Tensor:
    """Of scores."""
    rest = torch.nn.functional.softplus(-x.abs()) + (-x).clamp(min=0)
    factor = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * x + factor * rest
    return _reduced(loss if weight is None else loss * weight, reduction)


@decomposition
def kl_div(x: Tensor, target: Tensor, reduction: Any = 1, *, log_target: bool = False) -> Tensor:
    """Divergence of distributions."""
    return _reduced(target.exp() * (target - x) if log_target else torch.xlogy(target, target) - target * x, reduction)


@decomposition
def nll_loss(
    x: Tensor, target: Tensor, weight: Any = None, reduction: Any = 1, ignore_index: int = -100, *_: Any
) -> Tensor:
    """Of log-probabilities, classes in dimension 1 (or 0)."""
    axis = 1 if x.dim() > 1 else 0
    kept = target != ignore_index
    safe = torch.where(kept, target, torch.zeros_like(target))
    picked = -x.gather(axis, safe.unsqueeze(axis)).squeeze(axis)
    factors = kept.to(x.dtype) if weight is None else weight[safe] * kept.to(x.dtype)
    loss = torch.where(kept, picked * factors, torch.zeros_like(picked))
    if reduction in (1, "mean"):
        return loss.sum() / factors.sum()
    return _reduced(loss, reduction)


DECOMPOSITIONS["nll_loss2d"] = DECOMPOSITIONS["nll_loss_nd"] = nll_loss


@decomposition
def cross_entropy_loss(
    x: Tensor,
    target: Tensor,
    weight: Any = None,
    reduction: Any = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Of scores, classes in dimension 1 (or 0); `target` has classes, or probabilities of x's shape."""
    axis = 1 if x.dim() > 1 else 0
    scores = x.log_softmax(axis)
    if target.is_floating_point():
        classes = x.shape[axis]
        target = target * (1 - label_smoothing) + label_smoothing / classes if label_smoothing else target
        weighted = scores if weight is None else scores * weight.reshape(-1, *([1] * (x.dim() - axis - 1)))
        loss = -(weighted * target).sum(axis)
        return loss.sum() / (loss.numel()) if reduction in (1, "mean") else _reduced(loss, reduction)
    loss = nll_loss(scores, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return loss  # type: ignore[no-any-return]
    kept = target != ignore_index
    weighted = scores if weight is None else scores * weight.reshape(-1, *([1] * (x.dim() - axis - 1)))
    even = torch.where(kept, -weighted.sum(axis), torch.zeros_like(weighted.sum(axis)))
    if reduction in (1, "mean"):
        safe = torch.where(kept, target, torch.zeros_like(target))
        total = kept.sum() if weight is None else (weight[safe] * kept.to(x.dtype)).sum()
        even = even.sum() / total
    else:
        even = _reduced(even, reduction)
    return loss * (1 - label_smoothing) + even * (label_smoothing / x.shape[axis])  # type: ignore[no-any-return]


@decomposition
def multi_margin_loss(
    x: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: Any = 1
) -> Tensor:
    """max(0, margin - x[target] + x[i]) ** p of the other classes i, over how many classes there are."""
    rows = x.reshape(-1, x.shape[-1] if x.dim() else 1)
    wanted = target.reshape(-1)
    places = wanted.unsqueeze(1)
    losses = (margin - rows.gather(1, places) + rows).clamp(min=0)
    losses = losses * losses if p == 2 else losses
    losses = losses if weight is None else losses * weight[wanted].unsqueeze(1)
    losses = losses.scatter(1, places, 0.0).sum(1) / rows.shape[1]
    return _reduced(losses if target.dim() else losses.squeeze(0), reduction)


@decomposition
def multilabel_margin_loss(x: Tensor, target: Tensor, reduction: Any = 1) -> Tensor:
    """max(0, 1 - (x[j] - x[i])) of classes j that `target` names, up to the first -1, and i that it does not."""
    rows = x.reshape(1, -1) if x.dim() < 2 else x
    wanted = target.reshape(rows.shape)
    counted = (wanted < 0).to(torch.int64).cumsum(1) == 0
    places = torch.where(counted, wanted, torch.zeros_like(wanted))
    named = torch.zeros_like(rows).scatter_add(1, places, counted.to(rows.dtype)) > 0
    margins = (1 - rows.gather(1, places).unsqueeze(2) + rows.unsqueeze(1)).clamp(min=0)
    counts = (counted.unsqueeze(2) & ~named.unsqueeze(1)).to(rows.dtype)
    losses = (margins * counts).sum((1, 2)) / rows.shape[1]
    return _reduced(losses if x.dim() > 1 else losses.squeeze(0), reduction)


@decomposition
def margin_ranking_loss(x1: Tensor, x2: Tensor, target: Tensor, margin: float = 0.0, reduction: Any = 1) -> Tensor:
    """max(0, -target * (x1 - x2) + margin)."""
    return _reduced((-target * (x1 - x2) + margin).clamp(min=0), reduction)


@decomposition
def hinge_embedding_loss(x: Tensor, target: Tensor, margin: float = 1.0, reduction: Any = 1) -> Tensor:
    """x unless the target is -1, and max(0, margin - x) unless it is 1."""
    zeros = torch.zeros_like(x)
    loss = torch.where(target == -1, zeros, x) + torch.where(target == 1, zeros, (margin - x).clamp(min=0))
    return _reduced(loss, reduction)


@decomposition
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, reduction: Any = 1,
) -> Tensor:  # fmt: skip
    """How much nearer the positive is than the negative, less than `margin`."""
    near, far = pairwise_distance(anchor, positive, p, eps), pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced((near - far + margin).clamp(min=0), reduction)


@decomposition
def cosine_embedding_loss(x1: Tensor, x2: Tensor, target: Tensor, margin: float = 0.0, reduction: Any = 1) -> Tensor:
    """1 - the cosine where the target is 1, how much it is above `margin` where that is -1."""
    axis = target.dim()
    products = [(a * b).sum(axis) for a, b in ((x1, x2), (x1, x1), (x2, x2))]
    cosine = products[0] / torch.sqrt((products[1] + 1e-12) * (products[2] + 1e-12))
    zeros = torch.zeros_like(cosine)
    loss = torch.where(target == 1, 1 - cosine, zeros) + torch.where(
        target == -1, (cosine - margin).clamp(min=0), zeros
    )
    return _reduced(loss, reduction)


@decomposition
def poisson_nll_loss(x: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: Any) -> Tensor:
    """Of counts; `full`: with Stirling's term for those above 1."""
    loss = torch.exp(x) - target * x if log_input else x - target * torch.log(x + eps)
    if full:
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2 * math.pi * target)
        loss = loss + torch.where(target <= 1, torch.zeros_like(stirling), stirling)
    return _reduced(loss, reduction)
