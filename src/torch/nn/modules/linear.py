"""The affine layer, and the layer that does nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional, init
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter, UninitializedParameter, is_lazy

if TYPE_CHECKING:
    from torch import Tensor


class Identity(Module):
    """Returns its input. Takes and forgets any arguments, so that it can stand in for any layer.

    >>> torch.nn.Identity(3, unused=True)(torch.tensor([1.0]))
    tensor([1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """`x @ weight.T + bias`: (*, in_features) -> (*, out_features), with weight and bias that are learned.

    `weight` has the shape (out_features, in_features), `bias` (out_features), or is None with `bias=False`; both start
    uniform in +-1 / sqrt(in_features). RuntimeError in the call for another last dimension or dtype.

    >>> layer = torch.nn.Linear(3, 2)
    >>> layer(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    >>> layer.weight.shape
    torch.Size([2, 3])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` that other libraries recognise as the output of `MultiheadAttention`, and leave alone.

    >>> torch.nn.modules.linear.NonDynamicallyQuantizableLinear(3, 2).out_features
    2
    """


class Bilinear(Module):
    """`x1 @ A @ x2 + bias`: (*, in1_features) and (*, in2_features) -> (*, out_features).

    `weight` has the shape (out_features, in1_features, in2_features), `bias` (out_features); both start uniform in
    +-1 / sqrt(in1_features). ValueError for no features.

    >>> torch.nn.Bilinear(2, 3, 4)(torch.zeros(5, 2), torch.zeros(5, 3)).shape
    torch.Size([5, 4])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(torch.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose `in_features` are those of its first input.

    >>> torch.nn.LazyLinear(2)(torch.zeros(4, 3)).shape
    torch.Size([4, 2])
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draws weight and bias anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Takes the last dimension of the input for `in_features`."""
        if self.has_uninitialized_params():
            with torch.no_grad():
                self.in_features = input.shape[-1]
                if is_lazy(self.weight):
                    self.weight.materialize((self.out_features, self.in_features))  # type: ignore[attr-defined]
                if is_lazy(self.bias):
                    self.bias.materialize((self.out_features,))  # type: ignore[union-attr]
                self.reset_parameters()
        if self.in_features == 0:
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
