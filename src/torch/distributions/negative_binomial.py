"""The negative binomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions._probabilities import BinaryDistribution
from torch.distributions.gamma import Gamma
from torch.distributions.utils import (
    lazy_property,
)
from torch.nn import functional as F

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryDistribution):
    """How many trials, of probability `probs` (or sigmoid of `logits`), succeed before `total_count` fail."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _batched = ("total_count", "probs", "logits", "_param")

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_counts(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Gamma:
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        count = self.total_count
        weight = count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        ways = -torch.lgamma(count + value) + torch.lgamma(1.0 + value) + torch.lgamma(count)
        return weight - ways.masked_fill(count + value == 0.0, 0.0)
