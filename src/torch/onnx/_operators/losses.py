"""Losses, and boxes that are kept."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.table import Refusal, operator


def _negative_log(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int | None) -> Tensor:
    if reduction not in ("none", "mean", "sum"):
        raise Refusal(f"reduction {reduction!r}")
    ignored = -100 if ignore_index is None else ignore_index
    flat = x.reshape(x.shape[0], x.shape[1], -1)
    loss = F.nll_loss(
        flat, target.reshape(x.shape[0], -1).to(torch.int64), weight, ignore_index=ignored, reduction=reduction
    )
    return loss.reshape(target.shape) if reduction == "none" else loss


@operator("NegativeLogLikelihoodLoss")
def negative_log_likelihood(
    x: Tensor, target: Tensor, weight: Tensor | None = None, *, ignore_index: int | None = None, reduction: str = "mean"
) -> Tensor:
    return _negative_log(x, target, weight, reduction, ignore_index)


@operator("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
    outputs: int = 1,
) -> Any:
    scores = torch.log_softmax(x, 1)
    loss = _negative_log(scores, target, weight, reduction, ignore_index)
    return (loss, scores) if outputs > 1 else loss


def _overlap(box: Tensor, others: Tensor) -> Tensor:
    """Shares of (top, left, bottom, right) that two boxes have in common."""
    low, high = torch.maximum(box[:2], others[:, :2]), torch.minimum(box[2:], others[:, 2:])
    common = (high - low).clamp(min=0).prod(-1)
    areas = [(each[..., 2:] - each[..., :2]).prod(-1) for each in (box, others)]
    return common / (areas[0] + areas[1] - common)


@operator("NonMaxSuppression")
def non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    most: Tensor | None = None,
    overlap: Tensor | None = None,
    least: Tensor | None = None,
    *,
    center_point_box: int = 0,
) -> Tensor:
    limit = 0 if most is None else int(most)
    if center_point_box:
        middle, size = boxes[..., :2].flip(-1), boxes[..., 2:].flip(-1)
        corners = torch.cat([middle - size / 2, middle + size / 2], -1)
    else:
        corners = torch.cat(
            [torch.minimum(boxes[..., :2], boxes[..., 2:]), torch.maximum(boxes[..., :2], boxes[..., 2:])], -1
        )
    share = 0.0 if overlap is None else float(overlap)
    picked: list[list[int]] = []
    for batch in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            row = scores[batch, kind]
            order = row.sort(descending=True, stable=True)[1]
            if least is not None:
                order = order[row[order] > float(least)]
            kept = 0
            while order.numel() and kept < limit:
                best, order = order[0], order[1:]
                picked.append([batch, kind, int(best)])
                kept += 1
                order = order[_overlap(corners[batch, best], corners[batch, order]) <= share]
    return torch.tensor(picked, dtype=torch.int64).reshape(-1, 3)
