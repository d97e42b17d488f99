"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch.distributions import constraints
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import Distribution

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """One of the last batch dimension's components, which a `Categorical` chooses for each sample."""

    arg_constraints: ClassVar[dict[str, Any]] = {}
    _batched = ("_component_distribution", "_mixture_distribution")
    _kept = ("_num_component", "_event_ndims")

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        mixture_shape, batch_shape = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(mixture_shape), reversed(batch_shape), strict=False):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch_shape})"
                )
        count, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count != components:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self._num_component, self._event_ndims = count, len(component_distribution.event_shape)
        super().__init__(batch_shape, component_distribution.event_shape, validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """Which component is how likely."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components, along the last batch dimension."""
        return self._component_distribution

    def _weights(self) -> Tensor:
        """The components' probabilities in the shape of the components' values."""
        probs = self.mixture_distribution.probs
        own = len(self.mixture_distribution.batch_shape)
        missing = 0 if own == 1 else len(self.batch_shape) - own
        return probs.reshape((*probs.shape[:-1], *[1] * missing, probs.shape[-1], *[1] * self._event_ndims))

    @property
    def mean(self) -> Tensor:
        return torch.sum(self._weights() * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self) -> Tensor:
        weights, dim, components = self._weights(), -1 - self._event_ndims, self.component_distribution
        within = torch.sum(weights * components.variance, dim=dim)
        return within + torch.sum(weights * (components.mean - self._pad(self.mean)).pow(2.0), dim=dim)

    def cdf(self, value: Tensor) -> Tensor:
        cdf = self.component_distribution.cdf(self._pad(value))
        return torch.sum(cdf * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check(value)
        log_prob = self.component_distribution.log_prob(self._pad(value))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(log_prob + weights, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            dim, event = len(sample_shape) + len(self.batch_shape), self.event_shape
            chosen = self.mixture_distribution.sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            index = chosen.reshape((*chosen.shape, *[1] * (len(event) + 1)))
            index = index.expand((*chosen.shape, 1, *event))
            return torch.gather(values, dim, index).squeeze(dim)

    def _pad(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
