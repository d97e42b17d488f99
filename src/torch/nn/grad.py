"""Gradients of convolutions by their inputs and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


def _per_dimension(value: int | Sequence[int], dimensions: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * dimensions if len(values) == 1 else values


def _define(dimensions: int) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    def by_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int = 1) -> Tensor:  # fmt: skip
        stride, padding, dilation = (_per_dimension(value, dimensions) for value in (stride, padding, dilation))
        unread = [  # elements at the end that no window reached
            input_size[i - dimensions] - 1 - (grad_output.size(i - dimensions) - 1) * stride[i] + 2 * padding[i]
            - dilation[i] * (weight.size(i - dimensions) - 1)
            for i in range(dimensions)
        ]  # fmt: skip
        return _C._VariableFunctions.convolution(
            grad_output, weight.conj(), None, stride, padding, dilation, True, unread, groups
        )

    def by_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Any = 1, padding: Any = 0,
                  dilation: Any = 1, groups: int = 1) -> Tensor:  # fmt: skip
        options = (_per_dimension(value, dimensions) for value in (stride, padding, dilation))
        return _C._nn._convolution_weight_gradient(grad_output, input.conj(), list(weight_size), *options, groups)

    for function, name in ((by_input, "input"), (by_weight, "weight")):
        function.__name__ = function.__qualname__ = f"conv{dimensions}d_{name}"
        function.__doc__ = f"The gradient of conv{dimensions}d by its {name}, for the gradient of its output."
    return by_input, by_weight


conv1d_input, conv1d_weight = _define(1)
conv2d_input, conv2d_weight = _define(2)
conv3d_input, conv3d_weight = _define(3)
