"""Normalisation over elements or groups of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional, init
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


class LocalResponseNorm(Module):
    """Divides by `(k + alpha * mean of squares) ** beta`, over `size` channels around each one: (N, C, *).

    >>> torch.nn.LocalResponseNorm(1, alpha=1.0, beta=1.0)(torch.ones(1, 1, 1))
    tensor([[[0.5000]]])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of images (N, C, H, W), as networks ported from Torch 7 know it.

    >>> torch.nn.CrossMapLRN2d(1, alpha=1.0, beta=1.0)(torch.ones(1, 1, 1, 1))
    tensor([[[[0.5000]]]])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        channels, reach = input.size(1), int((self.size - 1) / 2 + 1)
        numbers = torch.arange(channels, device=input.device)
        from_, to = numbers.unsqueeze(0), numbers.unsqueeze(1)
        # A window that moves on adds a channel and drops one; the first channel is never dropped, as in PyTorch.
        members = (from_ < to + reach) & ~((from_ >= 1) & (from_ <= to - reach))
        sums = (members.to(input.dtype) @ (input * input).flatten(2)).reshape(input.shape)
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta


class LayerNorm(Module):
    """Normalises the last dimensions to mean 0 and variance 1, then scales and shifts each element.

    `normalized_shape`: the sizes of these dimensions, or the last one. `weight` and `bias` have that shape, and are
    None
    without `elementwise_affine` (and `bias`). RuntimeError in the call for an input that ends in other sizes.

    >>> torch.nn.LayerNorm(2, eps=0.0, elementwise_affine=False)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.,  1.]])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(torch.empty(shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        if elementwise_affine and bias:
            self.bias = Parameter(torch.empty(shape, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale 1, shift 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}" + (
            f", bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalises groups of channels of each sample of (N, C, *), then scales and shifts each channel.

    `num_groups` divides `num_channels` (ValueError otherwise); `weight` and `bias` have the shape (num_channels).

    >>> torch.nn.GroupNorm(2, 4, eps=0.0, affine=False)(torch.tensor([[1.0, 3.0, 0.0, 4.0]]))
    tensor([[-1.,  1., -1.,  1.]])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(torch.empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale 1, shift 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={bias}"


class RMSNorm(Module):
    """Divides the last dimensions by the root of their mean square (plus `eps`), then scales each element by `weight`.

    `normalized_shape` is that of `LayerNorm`; `eps` defaults to the smallest step of the input's dtype.

    >>> torch.nn.RMSNorm(2, elementwise_affine=False)(torch.tensor([[3.0, 3.0]]))
    tensor([[1., 1.]])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        value = Parameter(torch.ones(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", value)

    def forward(self, input: Tensor) -> Tensor:
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
