"""The von Mises distribution: angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.utils import (
    broadcast_all,
    lazy_property,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["VonMises"]


# Coefficients of Abramowitz and Stegun, 9.8.1 to 9.8.4: near 0 and far from it, of order 0 and 1.
_NEAR = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_FAR = (
    (
        0.39894228,
        0.1328592e-1,
        0.225319e-2,
        -0.157565e-2,
        0.916281e-2,
        -0.2057706e-1,
        0.2635537e-1,
        -0.1647633e-1,
        0.392377e-2,
    ),
    (
        0.39894228,
        -0.3988024e-1,
        -0.362018e-2,
        0.163801e-2,
        -0.1031555e-1,
        0.2282967e-1,
        -0.2895312e-1,
        0.1787654e-1,
        -0.420059e-2,
    ),
)


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Any:
    result: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = coefficient + x * result
    return result


def _log_modified_bessel_fn(x: Tensor, order: int = 0) -> Tensor:
    """log I_order(x) for x > 0."""
    near = _polynomial((x / 3.75) ** 2, _NEAR[order])
    near = (x.abs() * near if order == 1 else near).log()
    far = x - 0.5 * x.log() + _polynomial(3.75 / x, _FAR[order]).log()
    return torch.where(x < 3.75, near, far)


class VonMises(Distribution):
    """Angles around `loc`, in radians, that `concentration` draws together."""

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    _batched = ("loc", "concentration")

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, torch.Size(), validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        normalizer = math.log(2 * math.pi) + _log_modified_bessel_fn(self.concentration, order=0)
        return self.concentration * torch.cos(value - self.loc) - normalizer

    @lazy_property
    def _proposal_r(self) -> Tensor:
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    @torch.no_grad()
    def sample(self, sample_shape: Any = ()) -> Tensor:
        # Best and Fisher's rejection from a wrapped Cauchy distribution, in float64.
        loc, kappa, r = self.loc.double(), self.concentration.double(), self._proposal_r
        shape = self._extended_shape(sample_shape)
        angles = torch.zeros(shape, dtype=loc.dtype, device=loc.device)
        done = torch.zeros(shape, dtype=torch.bool, device=loc.device)
        while not bool(done.all()):
            first, second, third = torch.rand((3, *shape), dtype=loc.dtype, device=loc.device).unbind()
            z = torch.cos(math.pi * first)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            accepted = (c * (2 - c) - second > 0) | ((c / second).log() + 1 - c >= 0)
            angles = torch.where(accepted, (third - 0.5).sign() * f.acos(), angles)
            done = done | accepted
        return ((angles + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        """The mean angle."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance."""
        one, zero = (_log_modified_bessel_fn(self.concentration, order=order) for order in (1, 0))
        return 1 - (one - zero).exp()
