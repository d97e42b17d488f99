"""A loss of a layer's scores that need not be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _C

if TYPE_CHECKING:
    from torch import Tensor

_nn = _C._nn


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """`cross_entropy` of `linear(input, linear_weight, linear_bias)`: (N, I) or (I), weight (C, I) or (C, *sizes, I).

    `options` says in PyTorch how to save memory; the numbers are the same.

    >>> linear_cross_entropy(torch.zeros(1, 3), torch.zeros(2, 3), torch.tensor([1]))
    tensor(0.6931)
    """
    from torch.nn.functional.loss import cross_entropy

    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    classes, sizes = linear_weight.size(0), linear_weight.shape[1:-1]
    if sizes and input.dim() != 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {linear_weight.size(-1)}), got unbatched input with shape {tuple(input.shape)}"
        )
    scores = _nn.linear(
        input,
        linear_weight.reshape(-1, linear_weight.size(-1)),
        None if linear_bias is None else linear_bias.reshape(-1),
    )
    scores = scores.reshape(*input.shape[:-1], classes, *sizes)
    return cross_entropy(
        scores,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
