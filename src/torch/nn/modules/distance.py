"""Similarities and distances of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch.nn import functional
from torch.nn.modules.module import Module

if TYPE_CHECKING:
    from torch import Tensor


class PairwiseDistance(Module):
    """The p-norm of `x1 - x2 + eps` along the last dimension: (*, D), (*, D) -> (*), or (*, 1) with `keepdim`.

    >>> torch.nn.PairwiseDistance(eps=0.0)(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2))
    tensor([5.])
    """

    norm: float
    eps: float
    keepdim: bool

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The distances."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`: x1 . x2 / (|x1| |x2|), with lengths of at least `eps`.

    Inputs of shapes that broadcast; the result lacks `dim`.

    >>> torch.nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """

    dim: int
    eps: float

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The similarities."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)
