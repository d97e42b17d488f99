"""Products of two inputs, and of inputs with weights, that have no row of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from torch import Tensor

_nn, _torch = _C._nn, _C._VariableFunctions


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input1 @ weight[k] @ input2 + bias[k]` for every k: (*, I), (*, J), weight (K, I, J) -> (*, K).

    >>> bilinear(torch.ones(1, 2), torch.ones(1, 2), torch.ones(1, 2, 2))
    tensor([[4.]])
    """
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for dimension in range(input1.dim() - 1):
        if input1.size(dimension) != input2.size(dimension):
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dimension}: got {input1.size(dimension)} "
                f"and {input2.size(dimension)}"
            )
    for number, tensor in enumerate((input1, input2)):
        if tensor.size(-1) != weight.size(number + 1):
            raise RuntimeError(
                f"bilinear(): input{number + 1} size does not match weight size: got {tensor.size(-1)} but expected "
                f"{weight.size(number + 1)}"
            )
    outputs, first, second = weight.shape
    rows1, rows2 = input1.reshape(-1, first), input2.reshape(-1, second)
    # (rows, K * J), then each row's products with its second input.
    half = rows1 @ weight.permute(1, 0, 2).reshape(first, outputs * second)
    result = torch.bmm(half.view(-1, outputs, second), rows2.unsqueeze(2)).squeeze(2)
    if bias is not None:
        result = result + bias
    return result.reshape(*input1.shape[:-1], outputs)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """A convolution of (time, batch, in) with weight (kernel, in, out) and bias (out) -> (time', batch, out).

    >>> conv_tbc(torch.ones(3, 1, 1), torch.ones(2, 1, 1), torch.zeros(1)).flatten()
    tensor([2., 2.])
    """
    result: Tensor = _torch.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad)
    return result.permute(2, 0, 1)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms between all pairs of rows: (N, M) -> (N (N - 1) / 2).

    >>> pdist(torch.tensor([[0.0], [1.0], [3.0]]))
    tensor([1., 3., 2.])
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    first, second = _torch.triu_indices(input.size(0), input.size(0), 1, device=input.device).unbind(0)
    return (input[first] - input[second]).norm(p, 1)


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

    classes, sizes = linear_weight.size(0), linear_weight.shape[1:-1]
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
