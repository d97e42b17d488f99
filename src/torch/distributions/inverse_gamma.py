"""The inverse gamma distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from torch.distributions import constraints
from torch.distributions.gamma import Gamma
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.transforms import PowerTransform

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x of gamma numbers of the same `concentration` and `rate`."""

    arg_constraints: ClassVar[dict[str, Any]] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _batched = ()

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The shape of x."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of x."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        return (self.rate / (self.concentration - 1)).masked_fill(self.concentration <= 1, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        finite = self.rate.pow(2) / ((self.concentration - 1).pow(2) * (self.concentration - 2))
        return finite.masked_fill(self.concentration <= 2, math.inf)

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape + self.rate.log() + shape.lgamma() - (1 + shape) * shape.digamma()
