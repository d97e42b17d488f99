"""Gradients of convolutions by their inputs and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


def _gradient(convolution: Callable[..., Tensor], wanted: str, size: Sequence[int], other: Tensor,
              grad_output: Tensor, *options: Any) -> Tensor:  # fmt: skip
    unknown = torch.zeros(list(size), dtype=other.dtype, device=other.device, requires_grad=True)
    pair = (unknown, other) if wanted == "input" else (other, unknown)
    with torch.enable_grad():
        output = convolution(pair[0], pair[1], None, *options)
    (gradient,) = torch.autograd.grad(output, unknown, grad_output)
    return gradient


def _define(dimensions: int) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    convolution = getattr(_C._VariableFunctions, f"conv{dimensions}d")

    def by_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int = 1) -> Tensor:  # fmt: skip
        return _gradient(convolution, "input", input_size, weight, grad_output, stride, padding, dilation, groups)

    def by_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0,
                  dilation: Any = 1, groups: int = 1) -> Tensor:  # fmt: skip
        return _gradient(convolution, "weight", weight_size, input, grad_output, stride, padding, dilation, groups)

    for function, name in ((by_input, "input"), (by_weight, "weight")):
        function.__name__ = function.__qualname__ = f"conv{dimensions}d_{name}"
        function.__doc__ = f"The gradient of conv{dimensions}d by its {name}, for the gradient of its output."
    return by_input, by_weight


conv1d_input, conv1d_weight = _define(1)
conv2d_input, conv2d_weight = _define(2)
conv3d_input, conv3d_weight = _define(3)
