"""Random correlation matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.beta import Beta
from torch.distributions.distribution import Distribution
from torch.distributions.utils import (
    broadcast_all,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices of size `dim`; a larger `concentration` favours the identity."""

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _batched = ("concentration", "_beta")
    _kept = ("dim",)

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        # The onion method: rows of random length in a random direction.
        with torch.no_grad():
            lengths = self._beta.sample(sample_shape).unsqueeze(-1)
            noise = torch.randn(self._extended_shape(sample_shape), dtype=lengths.dtype, device=lengths.device).tril(-1)
            direction = noise / noise.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            rows = torch.sqrt(lengths) * direction
            tiny = torch.finfo(rows.dtype).tiny
            return rows + torch.diag_embed((1 - torch.sum(rows**2, dim=-1)).clamp(min=tiny).sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        normalizer = 0.5 * less * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, less) - torch.lgamma(alpha) * less
        return torch.sum(order * diagonal.log(), dim=-1) - normalizer
