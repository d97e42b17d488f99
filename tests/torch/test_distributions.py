"""torch.distributions beyond the golden answers: checks of arguments, own distributions, gradients."""

from __future__ import annotations

from typing import Any

import pytest

import torch
from torch import distributions as d


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match=r"parameter scale .*GreaterThan\(lower_bound=0.0\)"):
        d.Normal(0.0, -1.0)
    d.Normal(0.0, -1.0, validate_args=False)
    with pytest.raises(ValueError, match="within the support"):
        d.Uniform(0.0, 1.0).log_prob(torch.tensor(2.0))
    with pytest.raises(ValueError, match="not broadcastable"):
        d.Normal(torch.zeros(2), torch.ones(2)).log_prob(torch.zeros(3))
    with pytest.raises(ValueError, match="not both"):
        d.Bernoulli()
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(d.Cauchy(0.0, 1.0), d.Bernoulli(0.5))


def test_an_own_distribution_must_expand_itself() -> None:
    class Moved(d.Normal):
        def __init__(self, loc: Any) -> None:
            super().__init__(loc, 1.0)

    with pytest.raises(NotImplementedError, match=r"custom \.expand"):
        Moved(0.0).expand((2,))

    class Same(d.Normal):
        pass

    assert type(Same(0.0, 1.0).expand((2,))) is Same
    assert isinstance(d.kl_divergence(Same(0.0, 1.0), d.Normal(0.0, 1.0)), torch.Tensor)


def test_registered_divergences_of_the_closest_types() -> None:
    class Mine(d.Normal):
        pass

    d.register_kl(Mine, d.Normal)(lambda p, q: "mine")  # type: ignore[arg-type, return-value]
    try:
        assert d.kl_divergence(Mine(0.0, 1.0), d.Normal(0.0, 1.0)) == "mine"
    finally:
        del d.kl._KL_REGISTRY[Mine, d.Normal]
        d.kl._KL_MEMOIZE.clear()


def test_gradients_go_through_samples() -> None:
    loc = torch.tensor([1.0, 2.0], requires_grad=True)
    scale = torch.tensor([0.5, 1.0], requires_grad=True)
    normal = d.Normal(loc, scale)
    sample = normal.rsample((3,))
    sample.sum().backward()
    assert torch.equal(loc.grad, torch.full((2,), 3.0))
    assert torch.allclose(scale.grad, ((sample - loc) / scale).sum(0).detach())
    assert not normal.sample().requires_grad
    concentration = torch.ones(2, requires_grad=True)
    if not hasattr(torch, "_standard_gamma"):
        with pytest.raises(NotImplementedError, match="_standard_gamma_grad"):
            d.Gamma(concentration, torch.ones(2)).rsample().sum().backward()


def test_caches_give_back_what_was_transformed() -> None:
    transform = d.TanhTransform(cache_size=1)
    x = torch.tensor([20.0])  # tanh is 1, whose inverse is infinite
    assert transform.inv(transform(x)) is x
    both = d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)])
    assert both.inv.inv is both
    assert both == d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)])
