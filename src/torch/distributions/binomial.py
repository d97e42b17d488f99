"""The binomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions._probabilities import BinaryDistribution

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Binomial"]


def _positive_part(x: Tensor) -> Tensor:
    """max(x, 0), whose gradient at 0 is one half."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(BinaryDistribution):
    """How many of `total_count` trials succeed, each with probability `probs` (or sigmoid of `logits`)."""

    arg_constraints: ClassVar[dict[str, Any]] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _batched = ("total_count", "probs", "logits", "_param")

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_counts(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return torch.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        count, logits = self.total_count, self.logits
        ways = torch.lgamma(count + 1) - torch.lgamma(value + 1) - torch.lgamma(count - value + 1)
        normalizer = count * _positive_part(logits) + count * torch.log1p(torch.exp(-torch.abs(logits)))
        return value * logits + ways - normalizer

    def _one_count(self, name: str) -> int:
        count = int(self.total_count.max())
        if not bool(self.total_count.min() == count):
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        return self._enumerate(torch.arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand)
