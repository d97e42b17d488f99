"""The affine layer, and the layer that does nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional, init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

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
        """What the class says, of these tensors."""
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
        """What the class says, of these tensors."""
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The options."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
