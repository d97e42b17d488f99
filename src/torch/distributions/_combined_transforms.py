"""Transforms made of others: one after the other, side by side, or with more dimensions to an event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import constraints
from torch.distributions._transform import Transform
from torch.distributions.utils import _sum_rightmost, lazy_property

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _region_through(parts: Sequence[Any], own: Any, dims: Callable[[Any], tuple[int, int]]) -> Any:
    """`own`, enlarged to the events that all `parts` need; `dims` gives a part's event_dim there and beyond."""
    event_dim = 0
    for number, part in enumerate(parts):
        near, far = dims(part)
        event_dim = near if number == 0 else max(event_dim + near - far, near)
    missing = event_dim - own.event_dim
    return constraints.independent(own, missing) if missing > 0 else own


class ComposeTransform(Transform):
    """Transforms one after the other."""

    __module__ = "torch.distributions.transforms"  # where PyTorch has it

    def __init__(self, parts: Sequence[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def _arguments(self) -> tuple[Any, ...]:
        return (self.parts,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and bool(self.parts == other.parts)

    __hash__ = object.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real
        reverse = list(reversed(self.parts))
        return _region_through(reverse, self.parts[0].domain, lambda t: (t.domain.event_dim, t.codomain.event_dim))

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real
        own = self.parts[-1].codomain
        return _region_through(self.parts, own, lambda t: (t.codomain.event_dim, t.domain.event_dim))

    @lazy_property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Any:
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        event_dim, total = self.domain.event_dim, None
        for part, before, after in zip(self.parts, values[:-1], values[1:], strict=True):
            term = _sum_rightmost(part.log_abs_det_jacobian(before, after), event_dim - part.domain.event_dim)
            total = term if total is None else total + term
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inner = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {inner}\n)"


class IndependentTransform(Transform):
    """Another transform, `reinterpreted_batch_ndims` more dimensions of which are one event."""

    __module__ = "torch.distributions.transforms"  # where PyTorch has it

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _arguments(self) -> tuple[Any, ...]:
        return self.base_transform, self.reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class _SeveralTransforms(Transform):
    """Transforms side by side along a dimension."""

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(transform, Transform) for transform in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    def _parts(self, value: Any) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__} must define _parts()")

    def _together(self, parts: list[Any]) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _together()")

    def _call(self, x: Any) -> Any:
        return self._together([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)])

    def _inverse(self, y: Any) -> Any:
        return self._together([t.inv(part) for t, part in zip(self.transforms, self._parts(y), strict=True)])

    @property
    def bijective(self) -> bool:
        return all(transform.bijective for transform in self.transforms)


class CatTransform(_SeveralTransforms):
    """Each transform takes its length of dimension `dim`."""

    __module__ = "torch.distributions.transforms"  # where PyTorch has it

    def __init__(
        self, tseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    def _arguments(self) -> tuple[Any, ...]:
        return self.transforms, self.dim, self.lengths

    @lazy_property
    def event_dim(self) -> int:
        return max(transform.event_dim for transform in self.transforms)

    @lazy_property
    def length(self) -> int:
        return sum(self.lengths)

    def _parts(self, value: Any) -> list[Any]:
        if not -value.dim() <= self.dim < value.dim() or value.size(self.dim) != self.length:
            raise AssertionError(f"dimension {self.dim} of {tuple(value.shape)} must have length {self.length}")
        return list(value.split(self.lengths, self.dim))

    def _together(self, parts: list[Any]) -> Any:
        return torch.cat(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = []
        for transform, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            term = transform.log_abs_det_jacobian(before, after)
            terms.append(_sum_rightmost(term, self.event_dim - transform.event_dim))
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return torch.cat(terms, dim=dim) if dim < 0 else sum(terms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_SeveralTransforms):
    """Each transform takes one index of dimension `dim`."""

    __module__ = "torch.distributions.transforms"  # where PyTorch has it

    def _arguments(self) -> tuple[Any, ...]:
        return self.transforms, self.dim

    def _parts(self, value: Any) -> list[Any]:
        if not -value.dim() <= self.dim < value.dim() or value.size(self.dim) != len(self.transforms):
            raise AssertionError(
                f"dimension {self.dim} of {tuple(value.shape)} must have length {len(self.transforms)}"
            )
        return list(value.unbind(self.dim))

    def _together(self, parts: list[Any]) -> Any:
        return torch.stack(parts, dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return torch.stack([t.log_abs_det_jacobian(before, after) for t, before, after in parts], dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
