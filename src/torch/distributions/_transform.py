"""What every transform is made of, and its inverse."""

from __future__ import annotations

from typing import Any

from torch.distributions import constraints


class Transform:
    """A function from `domain` to `codomain`: `t(x)`, `t.inv(y)` and `t.log_abs_det_jacobian(x, y)`.

    `cache_size=1` keeps the last pair, so that the inverse of what was just computed is exact.
    """

    __module__ = "torch.distributions.transforms"  # where PyTorch has it

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        if cache_size:
            self._cached_x_y: tuple[Any, Any] = (None, None)
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many last dimensions are transformed together."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Any:
        """The inverse."""
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """+1 where it rises, -1 where it falls."""
        raise NotImplementedError(f"{type(self).__name__} has no sign")

    def _arguments(self) -> tuple[Any, ...]:
        """What its __init__ takes before `cache_size`."""
        return ()

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        return type(self)(*self._arguments(), cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        before, result = self._cached_x_y
        if x is not before:
            result = self._call(x)
            self._cached_x_y = (x, result)
        return result

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        result, before = self._cached_x_y
        if y is not before:
            result = self._inverse(y)
            self._cached_x_y = (result, y)
        return result

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define _call()")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """log |det dy/dx| of each event."""
        raise NotImplementedError(f"{type(self).__name__} has no log_abs_det_jacobian()")

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of t(x) for the shape of x."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for that of t(x)."""
        return shape


class _Unparameterized(Transform):
    """Base of transforms that are equal if they are of one type."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = object.__hash__


class _InverseTransform(Transform):
    """The inverse of another transform."""

    __module__ = "torch.distributions.transforms"  # where PyTorch has it

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and bool(self._inv == other._inv)

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)
