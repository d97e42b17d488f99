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


@pytest.mark.parametrize("shape", [0.05, 0.7, 1.0, 3.0, 9.0, 300.0])
def test_gamma_samples_move_with_their_shapes_as_their_distribution_does(shape: float) -> None:
    """F(x; a) of a sample stays what it is: dx/da = -(dF/da) / (dF/dx)."""
    a = torch.full((2000,), shape, dtype=torch.float64, requires_grad=True)
    x = d.Gamma(a, torch.ones_like(a)).rsample()
    (slope,) = torch.autograd.grad(x.sum(), a)
    with torch.no_grad():
        step = 1e-4 * shape
        by_shape = (torch.special.gammainc(a + step, x) - torch.special.gammainc(a - step, x)) / (2 * step)
        exact = -by_shape / d.Gamma(a, torch.ones_like(a)).log_prob(x).exp()
    within = (torch.special.gammainc(a, x) - 0.5).abs() < 0.49  # beyond, the difference has no digits
    assert torch.allclose(slope[within], exact[within], rtol=2e-3, atol=1e-6 * shape)


def test_dirichlet_samples_move_within_the_simplex() -> None:
    alpha = torch.tensor([[0.2, 1.0, 7.0], [30.0, 20.0, 0.5]], dtype=torch.float64, requires_grad=True)
    sample = d.Dirichlet(alpha).rsample((4,))
    (slope,) = torch.autograd.grad(sample.sum(), alpha, retain_graph=True)
    assert torch.allclose(slope, torch.zeros_like(alpha), atol=1e-12)  # the parts always add up to 1
    (slope,) = torch.autograd.grad(sample[..., 0].sum(), alpha)
    assert (slope[:, 0] > 0).all()
    assert (slope[:, 1:] < 0).all()


def test_samples_are_differentiable_once() -> None:
    alpha = torch.ones(3, requires_grad=True)
    for draw, name in ((torch._standard_gamma, "_standard_gamma_grad"), (torch._sample_dirichlet, "_dirichlet_grad")):
        (slope,) = torch.autograd.grad(draw(alpha).square().sum(), alpha, create_graph=True)
        with pytest.raises(NotImplementedError, match=name):
            slope.sum().backward()


@pytest.mark.parametrize("name", ["_standard_gamma", "_sample_dirichlet"])
def test_gammas_of_other_types_are_refused(name: str) -> None:
    for dtype in (torch.float16, torch.int64, torch.complex64):
        with pytest.raises(NotImplementedError, match="not implemented for"):
            getattr(torch, name)(torch.ones(2, dtype=dtype))
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        torch._standard_gamma_grad(torch.ones(2), torch.ones(2, dtype=torch.float64))


def test_caches_give_back_what_was_transformed() -> None:
    transform = d.TanhTransform(cache_size=1)
    x = torch.tensor([20.0])  # tanh is 1, whose inverse is infinite
    assert transform.inv(transform(x)) is x
    both = d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)])
    assert both.inv.inv is both
    assert both == d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)])


def test_shapes_of_zero_draw_the_smallest_numbers() -> None:
    """As in PyTorch: kornia's CutMix takes Beta(0, 0)."""
    zero = torch.tensor(0.0)
    assert torch.distributions.Beta(zero, zero, validate_args=False).sample((4,)).tolist() == [0.5] * 4
    drawn = torch.distributions.Gamma(zero, torch.tensor(1.0), validate_args=False).sample()
    assert drawn.item() == torch.finfo(torch.float32).tiny
