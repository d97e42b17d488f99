"""The geometric distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import constraints
from torch.distributions._probabilities import BinaryDistribution
from torch.distributions.utils import (
    broadcast_all,
)
from torch.nn import functional as F

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Geometric"]


class Geometric(BinaryDistribution):
    """How many trials fail before the first that succeeds, each with probability `probs` (or sigmoid of `logits`)."""

    support = constraints.nonnegative_integer
    _batched = ("probs", "logits", "_param")

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._set_probabilities(probs, logits, validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            value = self.probs
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to be positive but found invalid values:\n{value[value <= 0]}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            noise = torch.empty(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device)
            noise.uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (noise.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
