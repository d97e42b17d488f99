"""The continuous Bernoulli distribution, for values between 0 and 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import constraints
from torch.distributions._probabilities import BinaryDistribution
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.utils import (
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
)
from torch.nn import functional as F

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(BinaryDistribution, ExponentialFamily):
    """Density proportional to probs^x (1 - probs)^(1 - x). Between the two `lims` a Taylor series is used."""

    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = ("probs", "logits", "_param")
    _kept = ("_lims",)

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        self._set_probabilities(probs, logits, validate_args)
        if probs is not None:
            self.probs = clamp_probs(self.probs)
            self._param = self.probs

    @lazy_property
    def probs(self) -> Any:
        """The parameter: the probability that a Bernoulli distribution would have."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        return torch.where(self._outside(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Tensor:
        """The logarithm of the density's normalizer."""
        cut = self._cut_probs()
        below = torch.where(cut <= 0.5, cut, torch.zeros_like(cut))
        above = torch.where(cut >= 0.5, cut, torch.ones_like(cut))
        size = torch.where(cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        exact = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut))) - size
        x = torch.pow(self.probs - 0.5, 2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._outside(), exact, taylor)

    @property
    def mean(self) -> Tensor:
        cut = self._cut_probs()
        exact = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        x = self.probs - 0.5
        return torch.where(self._outside(), exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x)

    @property
    def variance(self) -> Tensor:
        cut = self._cut_probs()
        odds = torch.log1p(-cut) - torch.log(cut)
        exact = cut * (cut - 1.0) / torch.pow(1.0 - 2.0 * cut, 2) + 1.0 / torch.pow(odds, 2)
        x = torch.pow(self.probs - 0.5, 2)
        return torch.where(self._outside(), exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        logits, value = broadcast_all(self.logits, value)
        return self._cont_bern_log_norm() - F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def cdf(self, value: Tensor) -> Tensor:
        self._check(value)
        cut = self._cut_probs()
        exact = (torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = torch.where(self._outside(), exact, value)
        return torch.where(
            value <= 0.0, torch.zeros_like(value), torch.where(value >= 1.0, torch.ones_like(value), inside)
        )

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        part = torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)
        return torch.where(self._outside(), part / (torch.log(cut) - torch.log1p(-cut)), value)

    def entropy(self) -> Tensor:
        zero, one = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (zero - one) - self._cont_bern_log_norm() - zero

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = torch.where(far, x, (self._lims[0] - 0.5) * torch.ones_like(x))
        exact = torch.log(torch.abs(torch.special.expm1(cut))) - torch.log(torch.abs(cut))
        return torch.where(far, exact, 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0)
