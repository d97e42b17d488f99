"""The Dirichlet distribution: random probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.exp_family import ExponentialFamily

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Vectors that add up to 1, drawn with `concentration` (..., n)."""

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _batched = ("concentration",)

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return torch._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        concentration = self.concentration
        normalizer = torch.lgamma(concentration.sum(-1)) - torch.lgamma(concentration).sum(-1)
        return torch.xlogy(concentration - 1.0, value).sum(-1) + normalizer

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        flat = (self.concentration < 1).all(dim=-1, keepdim=True)
        corner = torch.zeros_like(mode).scatter(-1, mode.argmax(dim=-1, keepdim=True), 1.0)
        return torch.where(flat, corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        size, concentration = self.concentration.size(-1), self.concentration
        total = concentration.sum(-1)
        normalizer = torch.lgamma(concentration).sum(-1) - torch.lgamma(total)
        inner = ((concentration - 1.0) * torch.digamma(concentration)).sum(-1)
        return normalizer - (size - total) * torch.digamma(total) - inner

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
