"""Kullback-Leibler divergences: `kl_divergence(p, q)`, and `register_kl` for pairs of distributions of one's own."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.beta import Beta
from torch.distributions.binomial import Binomial
from torch.distributions.categorical import Categorical
from torch.distributions.cauchy import Cauchy
from torch.distributions.continuous_bernoulli import ContinuousBernoulli
from torch.distributions.dirichlet import Dirichlet
from torch.distributions.exp_family import ExponentialFamily
from torch.distributions.exponential import Exponential
from torch.distributions.gamma import Gamma
from torch.distributions.geometric import Geometric
from torch.distributions.gumbel import Gumbel
from torch.distributions.half_normal import HalfNormal
from torch.distributions.independent import Independent
from torch.distributions.laplace import Laplace
from torch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from torch.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis, _log_diagonal
from torch.distributions.normal import Normal
from torch.distributions.one_hot_categorical import OneHotCategorical
from torch.distributions.pareto import Pareto
from torch.distributions.poisson import Poisson
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.uniform import Uniform
from torch.distributions.utils import _sum_rightmost, euler_constant as _EULER
from torch.nn import functional as F

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Divergence = Callable[[Any, Any], Tensor]

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Divergence] = {}
_KL_MEMOIZE: dict[tuple[type, type], Divergence | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """A decorator: the function computes the divergence of distributions of these types, and of their subclasses."""
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):  # libraries register base classes of their own, as PyTorch lets them
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def register(function: Divergence) -> Divergence:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()  # a new pair may stand before an old one
        return function

    return register


def _closest(matches: list[tuple[type, type]]) -> tuple[type, type]:
    """The pair whose first type is the most derived, of these the one whose second is."""
    best = matches[0]
    for pair in matches[1:]:
        for one, other in zip(pair, best, strict=True):
            if one is not other:
                best = pair if issubclass(one, other) else best
                break
    return best


def _dispatch_kl(type_p: type, type_q: type) -> Divergence | None:
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return None
    left_p, left_q = _closest(matches)
    right_q, right_p = _closest([(q, p) for p, q in matches])
    if _KL_REGISTRY[left_p, left_q] is not _KL_REGISTRY[right_p, right_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({left_p.__name__}, {right_q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left_p, left_q]


def kl_divergence(p: Any, q: Any) -> Tensor:
    """KL(p || q) of each pair of the batch. NotImplementedError if no formula is registered for these types."""
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    function = _KL_MEMOIZE[key]
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return function(p, q)


def _x_log_x(x: Tensor) -> Tensor:
    return torch.xlogy(x, x)


def _squares(matrix: Tensor) -> Tensor:
    """The trace of X X^T."""
    return matrix.pow(2).sum((-2, -1))


def _infinite(*pairs: tuple[type, type, str]) -> None:
    """Pairs of which q is 0 where p is not; `name` is a parameter of p that has the batch's shape."""

    def make(name: str) -> Divergence:
        return lambda p, q: torch.full_like(getattr(p, name), math.inf)

    for kind_p, kind_q, name in pairs:
        register_kl(kind_p, kind_q)(make(name))


_infinite(
    (Beta, Pareto, "concentration1"),
    (ContinuousBernoulli, Pareto, "probs"),
    *((Exponential, kind, "rate") for kind in (Beta, ContinuousBernoulli, Pareto, Uniform)),
    *((Gamma, kind, "concentration") for kind in (Beta, ContinuousBernoulli, Pareto, Uniform)),
    *((Gumbel, kind, "loc") for kind in (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    *((Laplace, kind, "loc") for kind in (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    *((Normal, kind, "loc") for kind in (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    *((Pareto, kind, "scale") for kind in (Beta, ContinuousBernoulli, Uniform)),
    *((Poisson, kind, "rate") for kind in (Bernoulli, Binomial)),
)

# ------------------------------------------------------------------ of one family


@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p: Any, q: Any) -> Tensor:
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _beta_beta(p: Any, q: Any) -> Tensor:
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    normalizer_q = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    normalizer_p = p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma()
    one = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    zero = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    return normalizer_q - normalizer_p + one + zero + (total_q - total_p) * torch.digamma(total_p)


@register_kl(Binomial, Binomial)
def _binomial_binomial(p: Any, q: Any) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical_categorical(p: Any, q: Any) -> Tensor:
    each = p.probs * (p.logits - q.logits)
    return each.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    own = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    return p.mean * (p.logits - q.logits) + own - q._cont_bern_log_norm() - torch.log1p(-q.probs)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p: Any, q: Any) -> Tensor:
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    normalizer = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    means = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return total_p.lgamma() - total_q.lgamma() - normalizer + ((p.concentration - q.concentration) * means).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential_exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _family_family(p: Any, q: Any) -> Tensor:
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    own = [parameter.detach().requires_grad_() for parameter in p._natural_params]
    normalizer = p._log_normalizer(*own)
    gradients = torch.autograd.grad(normalizer.sum(), own, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for mine, other, gradient in zip(own, q._natural_params, gradients, strict=True):
        result = result - _sum_rightmost((other - mine) * gradient, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma_gamma(p: Any, q: Any) -> Tensor:
    normalizer = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    shape = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    rate = (q.rate - p.rate) * (p.concentration / p.rate)
    return q.concentration * (p.rate / q.rate).log() + normalizer + shape + rate


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p: Any, q: Any) -> Tensor:
    ratio, loc_q, loc_p = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    last = torch.exp(loc_q + (1 + ratio).lgamma() - loc_p)
    return -ratio.log() - loc_q + loc_p + ratio * _EULER + last - (1 + _EULER)


@register_kl(Geometric, Geometric)
def _geometric_geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal_half_normal(p: Any, q: Any) -> Tensor:
    return _normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace_laplace(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * torch.exp(-away / p.scale) - 1


@register_kl(Normal, Normal)
def _normal_normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_one_hot(p: Any, q: Any) -> Tensor:
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(Pareto, Pareto)
def _pareto_pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.support.lower_bound < q.support.lower_bound, math.inf)


@register_kl(Poisson, Poisson)
def _poisson_poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Cauchy, Cauchy)
def _cauchy_cauchy(p: Any, q: Any) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Uniform, Uniform)
def _uniform_uniform(p: Any, q: Any) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed_transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL of transformed distributions needs equal transforms and event shapes")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent_independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independent distributions needs equal reinterpreted_batch_ndims")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# ------------------------------------------------------------------ multivariate normal


def _check_events(p: Any, q: Any) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed"
        )


def _low_rank_parts(q: Any) -> tuple[Tensor, Tensor, Tensor]:
    return q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q._capacitance_tril


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_rank_low_rank(p: Any, q: Any) -> Tensor:
    _check_events(p, q)
    volumes = _batch_lowrank_logdet(*_low_rank_parts(q)) - _batch_lowrank_logdet(*_low_rank_parts(p))
    factor, diagonal, capacitance = _low_rank_parts(q)
    square = _batch_lowrank_mahalanobis(factor, diagonal, q.loc - p.loc, capacitance)
    scaled = torch.linalg.solve_triangular(capacitance, factor.mT / diagonal.unsqueeze(-2), upper=False)
    trace = (p._unbroadcasted_cov_diag / diagonal).sum(-1)
    trace = trace + _squares(p._unbroadcasted_cov_factor * diagonal.rsqrt().unsqueeze(-1))
    trace = trace - _squares(scaled * p._unbroadcasted_cov_diag.sqrt().unsqueeze(-2))
    trace = trace - _squares(scaled.matmul(p._unbroadcasted_cov_factor))
    return 0.5 * (volumes + trace + square - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _multivariate_low_rank(p: Any, q: Any) -> Tensor:
    _check_events(p, q)
    volumes = _batch_lowrank_logdet(*_low_rank_parts(q)) - 2 * _log_diagonal(p._unbroadcasted_scale_tril)
    factor, diagonal, capacitance = _low_rank_parts(q)
    square = _batch_lowrank_mahalanobis(factor, diagonal, q.loc - p.loc, capacitance)
    scaled = torch.linalg.solve_triangular(capacitance, factor.mT / diagonal.unsqueeze(-2), upper=False)
    trace = _squares(p._unbroadcasted_scale_tril * diagonal.rsqrt().unsqueeze(-1))
    trace = trace - _squares(scaled.matmul(p._unbroadcasted_scale_tril))
    return 0.5 * (volumes + trace + square - p.event_shape[0])


def _solve(factor: Tensor, matrix: Tensor) -> Tensor:
    batch = torch.broadcast_shapes(factor.shape[:-2], matrix.shape[:-2])
    expanded = factor.expand((*batch, *factor.shape[-2:])), matrix.expand((*batch, *matrix.shape[-2:]))
    return torch.linalg.solve_triangular(*expanded, upper=False)


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_multivariate(p: Any, q: Any) -> Tensor:
    _check_events(p, q)
    factor = q._unbroadcasted_scale_tril
    volumes = 2 * _log_diagonal(factor) - _batch_lowrank_logdet(*_low_rank_parts(p))
    trace = _squares(_solve(factor, p._unbroadcasted_cov_factor))
    trace = trace + _squares(_solve(factor, torch.diag_embed(p._unbroadcasted_cov_diag.sqrt())))
    return 0.5 * (volumes + trace + _batch_mahalanobis(factor, q.loc - p.loc) - p.event_shape[0])


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_multivariate(p: Any, q: Any) -> Tensor:
    _check_events(p, q)
    factor = q._unbroadcasted_scale_tril
    volumes = _log_diagonal(factor) - _log_diagonal(p._unbroadcasted_scale_tril)
    trace = _squares(_solve(factor, p._unbroadcasted_scale_tril))
    return volumes + 0.5 * (trace + _batch_mahalanobis(factor, q.loc - p.loc) - p.event_shape[0])


# ------------------------------------------------------------------ of different families: -entropy(p) - E_p[log q]


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _any_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    result: Tensor = -p.entropy() - p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()
    if isinstance(p, Uniform):
        outside = (p.high >= q.support.upper_bound) | (p.low <= q.support.lower_bound)
        result = result.masked_fill(outside, math.inf)
    return result


def _log_gamma_density(q: Any, mean: Any, mean_log: Any) -> Any:
    """-E[log q] of a gamma distribution, from the means of x and log x."""
    normalizer = q.concentration.lgamma() - q.concentration * q.rate.log()
    return normalizer - (q.concentration - 1) * mean_log + q.rate * mean


def _log_normal_density(q: Any, mean: Any, second: Any) -> Any:
    """-E[log q] of a normal distribution, from the means of x and x squared."""
    variance = q.scale.pow(2)
    return 0.5 * (variance * 2 * math.pi).log() + (0.5 * second - q.loc * mean + 0.5 * q.loc.pow(2)) / variance


def _mean_log_uniform(p: Any) -> Any:
    width = p.high - p.low
    return (_x_log_x(p.high) - _x_log_x(p.low) - width) / width


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _any_exponential(p: Any, q: Any) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Tensor:
    mean_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return -p.entropy() + _log_gamma_density(q, p.mean, mean_log)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Tensor:
    return -p.entropy() + _log_gamma_density(q, p.mean, -_EULER - p.rate.log())


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Tensor:
    mean, mean_log = p.alpha * p.scale / (p.alpha - 1), p.scale.log() + p.alpha.reciprocal()
    return (-p.entropy() + _log_gamma_density(q, mean, mean_log)).masked_fill(p.alpha <= 1, math.inf)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Tensor:
    result = -p.entropy() + _log_gamma_density(q, p.mean, _mean_log_uniform(p))
    return result.masked_fill(p.low < q.support.lower_bound, math.inf)


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _any_normal(p: Any, q: Any) -> Tensor:
    return -p.entropy() + _log_normal_density(q, p.mean, p.variance + p.mean.pow(2))


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Tensor:
    mean, second = p.alpha * p.scale / (p.alpha - 1), p.alpha * p.scale.pow(2) / (p.alpha - 2)
    return (-p.entropy() + _log_normal_density(q, mean, second)).masked_fill(p.alpha <= 2, math.inf)


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    return result.masked_fill((q.low > p.support.lower_bound) | (q.high < p.support.upper_bound), math.inf)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Tensor:
    result = -p.entropy() + (q.high - q.low).log()
    return result.masked_fill((q.low >= p.support.lower_bound) | (q.high <= p.support.upper_bound), math.inf)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Tensor:
    product, loc = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 - loc + torch.exp(loc) * product / (product + 1) + product.reciprocal()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Tensor:
    product, loc, shape = p.rate * q.scale, q.loc / q.scale, p.concentration
    own = (shape - 1) * shape.digamma() - shape.lgamma() - shape
    tail = torch.exp(loc) * (1 + product.reciprocal()).pow(-shape) - loc
    return own + product.log() + shape / product + tail


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Tensor:
    mean, ratio, loc = p.loc / q.scale, (p.scale / q.scale).pow(2), q.loc / q.scale
    tail = torch.exp(-mean + 0.5 * ratio + loc)
    return -0.5 * ratio.log() + mean - loc + tail - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Tensor:
    part, high, low = q.scale / (p.high - p.low), (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return part.log() + 0.5 * (high + low) - part * (torch.exp(-high) - torch.exp(-low))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Tensor:
    away = p.loc - q.loc
    relative = away / p.scale
    mean_away = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * relative.pow(2))
    mean_away = mean_away + away * torch.erf(math.sqrt(0.5) * relative)
    return -torch.log(p.scale / q.scale) + mean_away / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Tensor:
    product = p.scale * q.rate
    result = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    return result.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Tensor:
    width, one, zero = p.high - p.low, q.concentration1, q.concentration0
    normalizer = one.lgamma() + zero.lgamma() - (one + zero).lgamma()
    mean_log_rest = -(_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + width) / width
    result = normalizer - torch.log(width) - (one - 1) * _mean_log_uniform(p) - (zero - 1) * mean_log_rest
    return result.masked_fill((p.high > q.support.upper_bound) | (p.low < q.support.lower_bound), math.inf)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Tensor:
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return result.masked_fill(p.low < q.support.lower_bound, math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Tensor:
    normalizer = (q.alpha * q.scale.pow(q.alpha) * (p.high - p.low)).log()
    result = _mean_log_uniform(p) * (q.alpha + 1) - normalizer
    return result.masked_fill(p.low < q.support.lower_bound, math.inf)
