"""Sums of softplus, computed and differentiated in C++."""

from __future__ import annotations

from typing import Any

import torch
from softsum import _softsum


class _SoftSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:
        total, slope = _softsum.forward(values)
        ctx.save_for_backward(slope)
        return total

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (slope,) = ctx.saved_tensors
        return _softsum.backward(grad, slope)


def softsum(values: torch.Tensor) -> torch.Tensor:
    """``sum(log(1 + exp(values)))`` of a vector of floating point numbers: a scalar, which can be differentiated.

    Raises ValueError for what is no vector, and TypeError for integers.
    """
    return _SoftSum.apply(values)
