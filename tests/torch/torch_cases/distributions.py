"""Distributions: samples for a seed, densities, moments, divergences and transforms."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch_golden import Case

A, B, P = "t([0.3, 1.5, 2.5])", "t([1.2, 0.7, 3.0])", "t([0.2, 0.5, 0.9])"
M = "t([[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]])"
DISTRIBUTIONS = {
    "normal": f"d.Normal({A}, {B})",
    "standard normal": "d.Normal(0.0, 1.0)",
    "bernoulli": f"d.Bernoulli({P})",
    "bernoulli of logits": f"d.Bernoulli(logits={A})",
    "categorical": f"d.Categorical({M})",
    "categorical of logits": f"d.Categorical(logits={M})",
    "continuous bernoulli": f"d.ContinuousBernoulli({P})",
    "generalized pareto": f"d.GeneralizedPareto({A}, {B}, {P} - 0.3)",
    "geometric": f"d.Geometric({P})",
    "gumbel": f"d.Gumbel({A}, {B})",
    "half normal": f"d.HalfNormal({B})",
    "independent": f"d.Independent(d.Normal({A}, {B}), 1)",
    "laplace": f"d.Laplace({A}, {B})",
    "log normal": f"d.LogNormal({A}, {B})",
    "mixture": f"d.MixtureSameFamily(d.Categorical({M}[0]), d.Normal({A}, {B}))",
    "one hot": f"d.OneHotCategorical({M})",
    "straight through": f"d.OneHotCategoricalStraightThrough({M})",
    "relaxed bernoulli": f"d.RelaxedBernoulli(t(0.5), {P})",
    "relaxed one hot": f"d.RelaxedOneHotCategorical(t(0.5), {M})",
    "uniform": f"d.Uniform({A} - 1, {A} + {B})",
    "transformed": f"d.TransformedDistribution(d.Normal({A}, {B}),"
    " [d.AffineTransform(1.0, 2.0), d.SigmoidTransform()])",
}
# Of these only the samples, which need no special function; log_prob needs lgamma.
SAMPLED = {
    "gamma": f"d.Gamma({A}, {B})",
    "chi2": f"d.Chi2({B})",
    "beta": f"d.Beta({A}, {B})",
    "dirichlet": f"d.Dirichlet({M} * 3)",
    "student": f"d.StudentT({A} + 2, {A}, {B})",
    "fisher snedecor": f"d.FisherSnedecor({A} + 4, {B} + 4)",
    "inverse gamma": f"d.InverseGamma({A} + 2, {B})",
    "kumaraswamy": f"d.Kumaraswamy({A}, {B})",
    "multinomial": f"d.Multinomial(4, {M})",
}
ASKED = ("mean", "mode", "variance", "stddev", "entropy()", "enumerate_support()", "icdf(t(0.3))", "cdf(t(0.6))")
UNKNOWN = {  # needs erfinv
    "normal": ("icdf(t(0.3))",),
    "standard normal": ("icdf(t(0.3))",),
    "half normal": ("icdf(t(0.3))",),
    "log normal": ("icdf(t(0.3))",),
    "transformed": ("icdf(t(0.3))",),
}
PAIRS = ("normal", "bernoulli", "categorical", "laplace", "uniform", "half normal", "one hot", "independent")
CONSTRAINTS = ("real", "positive", "unit_interval", "greater_than(1.0)", "less_than(2.0)", "interval(-1.0, 3.0)")


def _make(torch: Any, text: str) -> Any:
    return eval(text, {"d": torch.distributions, "t": torch.tensor})


def _samples(text: str, torch: Any) -> Any:
    distribution = _make(torch, text)
    wider = distribution.expand((2, *distribution.batch_shape))
    return [
        distribution.sample((4,)),
        distribution.sample(),
        wider.sample((2,)),
        list(wider.batch_shape),
        repr(distribution),
    ]


def _answers(key: str, torch: Any) -> Any:
    """Everything it can be asked; what it cannot is an answer, too."""
    distribution = _make(torch, DISTRIBUTIONS[key])
    sample = distribution.sample((4,))
    answers = {"log_prob": distribution.log_prob(sample), "support": repr(distribution.support)}
    for question in ASKED:
        if question in UNKNOWN.get(key, ()):
            continue
        try:
            answers[question] = eval(f"x.{question}", {"x": distribution, "t": torch.tensor})
        except (NotImplementedError, ValueError) as error:
            answers[question] = type(error).__name__
    if distribution.has_rsample:
        answers["rsample"] = distribution.rsample((2,))
    return answers


def _divergence(one: str, other: str, torch: Any) -> Any:
    return torch.distributions.kl_divergence(_make(torch, DISTRIBUTIONS[one]), _make(torch, DISTRIBUTIONS[other]))


def _transform(name: str, torch: Any) -> Any:
    d = torch.distributions
    constraint = eval(f"c.{name}", {"c": d.constraints})
    answer: list[Any] = [repr(constraint)]
    for registry in (d.biject_to, d.transform_to):
        transform = registry(constraint)
        x = torch.tensor([[-1.0, 0.5, 2.0]])
        y = transform(x)
        jacobian = transform.log_abs_det_jacobian(x, y)
        answer += [y, transform.inv(y), jacobian, bool(constraint.check(y).all()), transform.event_dim]
    return answer


CASES: dict[str, Case] = {
    f"samples of {k}": Case(partial(_samples, text), 1e-5, 1e-6) for k, text in DISTRIBUTIONS.items()
}
CASES.update({f"samples of {k}": Case(partial(_samples, text), 1e-5, 1e-6) for k, text in SAMPLED.items()})
CASES.update({f"answers of {k}": Case(partial(_answers, k), 1e-5, 1e-6) for k in DISTRIBUTIONS})
CASES.update(
    {f"kl of {one} and {two}": Case(partial(_divergence, one, two), 1e-5, 1e-6) for one in PAIRS for two in PAIRS}
)
CASES.update({f"transform to {name}": Case(partial(_transform, name), 1e-5, 1e-6) for name in CONSTRAINTS})
