"""The gamma distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.exp_family import ExponentialFamily

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Shape `concentration`, mean concentration / rate."""

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = ("concentration", "rate")

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._set_parameters(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)  # no gradient goes through this
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._check(value)
        weight = torch.xlogy(self.concentration, self.rate) + torch.xlogy(self.concentration - 1, value)
        return weight - self.rate * value - torch.lgamma(self.concentration)

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        return torch.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape - torch.log(self.rate) + torch.lgamma(shape) + (1.0 - shape) * torch.digamma(shape)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())
