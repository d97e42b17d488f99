"""The Weibull distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.exponential import Exponential
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.transforms import AffineTransform, PowerTransform
from torch.distributions.utils import (
    broadcast_all,
    euler_constant,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """scale * x^(1 / concentration) of exponential numbers x."""

    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _batched = ("scale", "concentration", "concentration_reciprocal")

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.base_dist = self.base_dist.expand(batch_shape)
        new.transforms = [
            PowerTransform(exponent=new.concentration_reciprocal),
            AffineTransform(loc=0, scale=new.scale),
        ]
        return new

    @property
    def mean(self) -> Tensor:
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Tensor:
        power = self.concentration_reciprocal
        return self.scale * ((self.concentration - 1) / self.concentration) ** power

    @property
    def variance(self) -> Tensor:
        power = self.concentration_reciprocal
        gammas = torch.exp(torch.lgamma(1 + 2 * power)) - torch.exp(2 * torch.lgamma(1 + power))
        return self.scale.pow(2) * gammas

    def entropy(self) -> Tensor:
        power = self.concentration_reciprocal
        return euler_constant * (1 - power) + torch.log(self.scale * power) + 1
