"""Connectionist temporal classification: the likelihood of a sequence over all its alignments with time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional._options import get_reduction, reduce_losses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_NEVER = float("-inf")


class _Alignments(torch.autograd.Function):
    """The negative log likelihood of each sequence: log_probs (time, batch, classes), labels (batch, 2 length + 1).

    A path through the labels, with blanks between them, stays, steps on, or skips a blank between different labels.
    """

    @staticmethod
    def forward(
        ctx: Any,
        log_probs: Tensor,
        labels: Tensor,
        may_skip: Tensor,
        input_lengths: Tensor,
        last: Tensor,
        zero_infinity: bool,
    ) -> Tensor:
        steps, batch, _ = log_probs.shape
        scores = log_probs.gather(2, labels.expand(steps, *labels.shape))  # (time, batch, states)
        alpha = scores.new_full(scores.shape, _NEVER)
        if steps:
            alpha[0, :, 0] = scores[0, :, 0]
            if labels.size(1) > 1:
                alpha[0, :, 1] = scores[0, :, 1].masked_fill(last < 1, _NEVER)
        for step in range(1, steps):
            alpha[step] = _join(alpha[step - 1], may_skip) + scores[step]
        rows = torch.arange(batch, device=log_probs.device)
        if steps:
            final = alpha[(input_lengths - 1).clamp(min=0), rows]
            ends = final.gather(1, torch.stack((last, (last - 1).clamp(min=0)), 1))
            ends[:, 1].masked_fill_(last < 1, _NEVER)
            likelihood = _logsumexp(ends.unbind(1))
        else:
            likelihood = scores.new_full((batch,), _NEVER)
        # A sequence without time holds nothing, and nothing else.
        empty = torch.where(last == 0, 0.0, _NEVER).to(likelihood.dtype)
        losses = -torch.where(input_lengths == 0, empty, likelihood)
        ctx.zero_infinity = zero_infinity
        ctx.save_for_backward(log_probs, labels, may_skip, input_lengths, last, scores, alpha, losses)
        return losses

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (gradient,) = gradients
        log_probs, labels, may_skip, input_lengths, last, scores, alpha, losses = ctx.saved_tensors
        steps = log_probs.size(0)
        states = torch.arange(labels.size(1), device=labels.device)
        ending = (states == last.unsqueeze(1)) | ((states == (last - 1).unsqueeze(1)) & (last > 0).unsqueeze(1))
        beta = scores.new_full(scores.shape, _NEVER)
        later = scores.new_full(labels.shape, _NEVER)
        for step in range(steps - 1, -1, -1):
            begins = (input_lengths == step + 1).unsqueeze(1)
            stays = _join(later.flip(1), _skip_backwards(may_skip)).flip(1)
            reached = torch.where(begins, torch.zeros_like(stays).masked_fill(~ending, _NEVER), stays)
            later = reached + scores[step]
            beta[step] = later
        # Of the shares of all states, those of one class are added up.
        likely = (alpha + beta - scores + losses.unsqueeze(1)).exp().nan_to_num(0.0, 0.0, 0.0)
        share = torch.zeros_like(log_probs).scatter_add(2, labels.expand(steps, *labels.shape), likely)
        result = (log_probs.exp() - share) * gradient.unsqueeze(1)
        past = torch.arange(steps, device=labels.device).unsqueeze(1) >= input_lengths
        if ctx.zero_infinity:
            past = past | (losses == float("inf"))
        else:
            result = result.masked_fill((losses == float("inf")).unsqueeze(1), float("nan"))
        return result.masked_fill(past.unsqueeze(2), 0.0), None, None, None, None, None


def _logsumexp(parts: Sequence[Tensor]) -> Tensor:
    """Of equal shapes; -inf where all are."""
    stacked = torch.stack(list(parts))
    highest = stacked.amax(0)
    finite = highest.masked_fill(highest == _NEVER, 0.0)
    return (stacked - finite).exp().sum(0).log() + finite


def _shift(scores: Tensor, by: int) -> Tensor:
    filler = scores.new_full((scores.size(0), min(by, scores.size(1))), _NEVER)
    return torch.cat((filler, scores[:, :-by]), 1)


def _join(before: Tensor, may_skip: Tensor) -> Tensor:
    """The likelihood to arrive in each state (batch, states) from those before."""
    return _logsumexp((before, _shift(before, 1), _shift(before, 2).masked_fill(~may_skip, _NEVER)))


def _skip_backwards(may_skip: Tensor) -> Tensor:
    """Which states are left by a skip, from the last state to the first."""
    ahead = torch.cat((may_skip[:, 2:], torch.zeros_like(may_skip[:, : min(2, may_skip.size(1))])), 1)
    return ahead.flip(1)


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
    batched = log_probs.dim() == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    if not log_probs.is_floating_point():
        raise RuntimeError(f'"ctc_loss_cpu" not implemented for {str(log_probs.dtype)!r}')
    device = log_probs.device
    lengths, wanted = (
        torch.as_tensor(each, dtype=torch.int64, device=device).reshape(-1) for each in (input_lengths, target_lengths)
    )
    for name, each in (("input_lengths", lengths), ("target_lengths", wanted)):
        if each.numel() != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    if batch and int(lengths.max()) > steps:
        first = int((lengths > steps).to(torch.int64).argmax())
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {int(lengths[first])} "
            "(while checking arguments for ctc_loss_cpu)"
        )
    padded = _pad_targets(targets.to(device), wanted, batch)
    longest = padded.size(1)
    labels = torch.full((batch, 2 * longest + 1), blank, dtype=torch.int64, device=device)
    labels[:, 1::2] = padded
    inside = torch.arange(2 * longest + 1, device=device) < (2 * wanted + 1).unsqueeze(1)
    labels = labels.masked_fill(~inside, blank)
    may_skip = torch.zeros_like(labels, dtype=torch.bool)
    may_skip[:, 3::2] = padded[:, 1:] != padded[:, :-1]
    losses = _Alignments.apply(log_probs, labels, may_skip, lengths, 2 * wanted, zero_infinity)
    if zero_infinity:
        losses = torch.where(losses == float("inf"), torch.zeros_like(losses), losses)
    if code == 1:
        losses = losses / wanted.clamp(min=1).to(losses.dtype)
    result: Tensor = reduce_losses(losses, code)
    return result if batched or code else result.squeeze(0)


def _pad_targets(targets: Tensor, lengths: Tensor, batch: int) -> Tensor:
    """Targets as (batch, longest), int64; what is past an end is any class."""
    targets = targets.to(torch.int64)
    longest = int(lengths.max()) if batch else 0
    if targets.dim() == 2:
        if targets.size(0) != batch or targets.size(1) < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size {list(targets.shape)} "
                "(while checking arguments for ctc_loss_cpu)"
            )
        return targets[:, :longest]
    if targets.dim() != 1 or targets.numel() != int(lengths.sum()):
        raise RuntimeError(
            f"Expected tensor to have {int(lengths.sum())} elements, but got {list(targets.shape)} "
            "(while checking arguments for ctc_loss_cpu)"
        )
    parts = targets.split(lengths.tolist()) if batch else ()
    rows = [torch.cat((part, part.new_zeros(longest - part.numel()))) for part in parts]
    return torch.stack(rows) if rows else targets.new_zeros((0, 0))
