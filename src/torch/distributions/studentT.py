"""Student's t distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.chi2 import Chi2
from torch.distributions.distribution import Distribution
from torch.distributions.utils import (
    _standard_normal,
    broadcast_all,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["StudentT"]


class StudentT(Distribution):
    """`df` degrees of freedom, moved by `loc` and stretched by `scale`."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _batched = ("df", "loc", "scale", "_chi2")

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = _standard_normal(self._extended_shape(sample_shape), dtype=self.df.dtype, device=self.df.device)
        return self.loc + self.scale * (noise * torch.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        y, half = (value - self.loc) / self.scale, 0.5 * (self.df + 1.0)
        gammas = torch.lgamma(0.5 * self.df) - torch.lgamma(half)
        normalizer = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + gammas
        return -half * torch.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Tensor:
        half = 0.5 * (self.df + 1)
        log_beta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(half)
        inner = half * (torch.digamma(half) - torch.digamma(0.5 * self.df))
        return self.scale.log() + inner + 0.5 * self.df.log() + log_beta
