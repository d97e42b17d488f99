"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Values above `loc` with scale `scale` and shape `concentration`, which 0 makes exponential."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _batched = ("loc", "scale", "concentration")

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._set_parameters(validate_args, loc=loc, scale=scale, concentration=concentration)

    def _safe_concentration(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and the concentration with 1 in place of these."""
        zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return zero, torch.where(zero, torch.ones_like(self.concentration), self.concentration)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        z, (zero, safe) = self._z(value), self._safe_concentration()
        power = 1 / safe + torch.ones_like(z)
        weight = torch.where(power == 0, power, power * torch.log1p(safe * z))
        return -self.scale.log() - torch.where(zero, z, weight)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of larger values."""
        self._check(value)
        z, (zero, safe) = self._z(value), self._safe_concentration()
        return torch.where(zero, -z, -torch.log1p(safe * z) / safe)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, safe = self._safe_concentration()
        log_survival = torch.log1p(-value)
        curved = self.loc + self.scale / safe * torch.expm1(-safe * log_survival)
        return torch.where(zero, self.loc - self.scale * log_survival, curved)

    @property
    def mean(self) -> Tensor:
        valid = self.concentration < 1
        safe = torch.where(valid, self.concentration, torch.full_like(self.concentration, 0.5))
        return (self.loc + self.scale / (1 - safe)).masked_fill(~valid, math.nan)

    @property
    def variance(self) -> Tensor:
        valid = self.concentration < 0.5
        safe = torch.where(valid, self.concentration, torch.full_like(self.concentration, 0.25))
        return (self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))).masked_fill(~valid, math.nan)

    def entropy(self) -> Tensor:
        return (torch.log(self.scale) + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        ends = self.concentration < 0
        upper = (self.loc - self.scale / self.concentration).masked_fill(~ends, math.inf)
        return constraints.interval(self.loc, upper)
