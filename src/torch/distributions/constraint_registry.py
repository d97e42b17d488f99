"""Which transform leads from all real numbers to a constraint's region."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

from torch.distributions import constraints, transforms

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table from the type of a constraint to a function that makes a transform to it."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Sets the function for a constraint's type; works as a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _to_interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, Number) and low == 0 and isinstance(high, Number) and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


def _after_exp(loc: Any, scale: int) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(loc, scale)])


for _registry in (biject_to, transform_to):
    _registry.register(constraints.real, lambda constraint: transforms.identity_transform)
    for _kind in (constraints.greater_than, constraints.greater_than_eq):
        _registry.register(_kind, lambda constraint: _after_exp(constraint.lower_bound, 1))
    _registry.register(constraints.less_than, lambda constraint: _after_exp(constraint.upper_bound, -1))
    for _kind in (constraints.interval, constraints.half_open_interval):
        _registry.register(_kind, _to_interval)
    _registry.register(constraints.corr_cholesky, lambda constraint: transforms.CorrCholeskyTransform())
biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform())
for _matrix in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_matrix, lambda constraint: transforms.PositiveDefiniteTransform())


def _register_containers(registry: ConstraintRegistry) -> None:
    registry.register(
        constraints.independent,
        lambda c: transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    registry.register(
        constraints.cat, lambda c: transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths)
    )
    registry.register(
        constraints.stack, lambda c: transforms.StackTransform([registry(part) for part in c.cseq], c.dim)
    )


_register_containers(biject_to)
_register_containers(transform_to)
