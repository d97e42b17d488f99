"""Layers that drop elements or channels in training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from torch import Tensor


class _DropoutNd(Module):
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, zeroes each element with probability `p` and divides the others by 1 - p; else does nothing.

    So the mean stays. Any shape; ValueError for a `p` outside of [0, 1]; `inplace` overwrites the input.

    >>> torch.nn.Dropout(p=1.0)(torch.ones(3))
    tensor([0., 0., 0.])
    >>> torch.nn.Dropout(p=1.0).eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """`input`, thinned in training."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """In training, zeroes whole channels of (N, C, L) or (C, L) with probability `p` and divides the others by 1 - p.

    >>> torch.nn.Dropout1d(p=1.0)(torch.ones(1, 2, 3)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """`input`, without some channels in training."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """In training, zeroes whole channels of (N, C, H, W) or (C, H, W) with probability `p`; the others grow by 1 /
    (1 - p).

    >>> torch.nn.Dropout2d(p=1.0)(torch.ones(1, 2, 3, 3)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """`input`, without some channels in training."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """In training, zeroes whole channels of (N, C, D, H, W) or (C, D, H, W) with probability `p`.

    >>> torch.nn.Dropout3d(p=1.0)(torch.ones(1, 2, 3, 3, 3)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """`input`, without some channels in training."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """In training, sets each element to SELU's lowest value with probability `p`, and keeps mean and variance.

    >>> torch.nn.AlphaDropout().eval()(torch.ones(3))
    tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """`input`, thinned in training."""
        return functional.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels (dimension 1).

    >>> torch.nn.FeatureAlphaDropout().eval()(torch.ones(1, 2, 3)).sum()
    tensor(6.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """`input`, without some channels in training."""
        return functional.feature_alpha_dropout(input, self.p, self.training)
