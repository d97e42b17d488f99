"""Distributions whose density is exp(natural parameters . statistics - log normalizer + carrier measure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.distributions.distribution import Distribution

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base of these: entropy and Kullback-Leibler divergence follow from the log normalizer's gradient."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError(f"{type(self).__name__} does not define its natural parameters")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not define its log normalizer")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define its mean carrier measure")

    def entropy(self) -> Tensor:
        """The entropy in nats, by the Bregman divergence of the log normalizer."""
        parameters = [parameter.detach().requires_grad_() for parameter in self._natural_params]
        normalizer = self._log_normalizer(*parameters)
        gradients = torch.autograd.grad(normalizer.sum(), parameters, create_graph=True)
        result: Tensor = normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(parameters, gradients, strict=True):
            result = result - (parameter * gradient).reshape((*self._batch_shape, -1)).sum(-1)
        return result
