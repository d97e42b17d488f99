"""What distributions share that take either `probs` or `logits` of two outcomes."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution
from torch.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

if TYPE_CHECKING:
    from torch import Tensor


def check_one_given(probs: Any, logits: Any) -> None:
    """Raises ValueError unless exactly one of both is there."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class BinaryDistribution(Distribution):
    """Base of distributions with one probability per element of the batch."""

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.unit_interval, "logits": constraints.real}
    _batched: tuple[str, ...] = ("probs", "logits", "_param")

    def _set_probabilities(self, probs: Any, logits: Any, validate_args: bool | None) -> None:
        check_one_given(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        (self._param,) = broadcast_all(given)
        setattr(self, name, self._param)
        shape = torch.Size() if isinstance(given, Number) else self._param.size()
        Distribution.__init__(self, shape, validate_args=validate_args)

    def _set_counts(self, total_count: Any, probs: Any, logits: Any, validate_args: bool | None) -> None:
        check_one_given(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        count, self._param = broadcast_all(total_count, given)
        self.total_count = count.type_as(self._param)
        setattr(self, name, self._param)
        Distribution.__init__(self, self._param.size(), validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Any:
        """log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> torch.Size:
        """The shape of `probs` and `logits`."""
        return self._param.size()
