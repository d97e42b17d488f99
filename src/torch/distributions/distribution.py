"""`Distribution`: shapes, parameters and what each distribution can be asked."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.distributions import constraints
from torch.distributions.utils import broadcast_all, lazy_property

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

__all__ = ["Distribution"]

_Shape = Any  # torch.Size, or a sequence of ints


class Distribution:
    """Base of distributions: a batch of `batch_shape` of them, each with samples of `event_shape`.

    Parameters (`arg_constraints`) and values (`support`) are checked unless `validate_args` is False, or
    `set_default_validate_args(False)` was called.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    # The attributes that `expand` expands with the batch, and those that it keeps. A class that sets `_batched` says
    # that its own __init__ has made these; subclasses with an __init__ of their own expand themselves.
    _batched: tuple[str, ...]
    _kept: tuple[str, ...] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions that are made from now on check their arguments."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args takes True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: _Shape = torch.Size(),  # noqa: B008 - immutable
        event_shape: _Shape = torch.Size(),  # noqa: B008
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            wanted: dict[str, Any] = self.arg_constraints
        except NotImplementedError:
            wanted = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # it follows from the others
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _set_parameters(self, validate_args: bool | None, **parameters: Any) -> None:
        """Sets parameters that have the batch's shape and are broadcast to it; finishes a scalar distribution."""
        values = broadcast_all(*parameters.values())
        for name, value in zip(parameters, values, strict=True):
            setattr(self, name, value)
        batch_shape = values[0].size()
        Distribution.__init__(self, batch_shape, validate_args=validate_args)

    # ------------------------------------------------------------------ shapes

    def expand(self, batch_shape: _Shape, _instance: Any = None) -> Any:
        """The distribution with its parameters expanded to a larger batch; no memory is copied."""
        home = next((kind for kind in type(self).__mro__ if "_batched" in kind.__dict__), None)
        if home is None:
            raise NotImplementedError(f"{type(self).__name__} must define expand()")
        new = self._get_checked_instance(home, _instance)
        batch_shape = torch.Size(batch_shape)
        before = len(self._batch_shape)
        for name in home._batched:
            if name in self.__dict__:
                value = self.__dict__[name]
                shape = value.batch_shape if isinstance(value, Distribution) else value.shape
                setattr(new, name, value.expand(batch_shape + shape[before:]))
        for name in home._kept:
            setattr(new, name, getattr(self, name))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of the batch: how many distributions these are."""
        return self._batch_shape  # type: ignore[no-any-return]

    @property
    def event_shape(self) -> torch.Size:
        """The shape of one sample of one distribution."""
        return self._event_shape  # type: ignore[no-any-return]

    def _extended_shape(self, sample_shape: _Shape = torch.Size()) -> torch.Size:  # noqa: B008
        return torch.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    # ------------------------------------------------------------------ what it can be asked

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """The constraint of each parameter."""
        raise NotImplementedError(f"{type(self).__name__} must define arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint of its values."""
        raise NotImplementedError(f"{type(self).__name__} does not define support")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError(f"{type(self)} does not implement mean")

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError(f"{type(self)} does not implement variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: _Shape = torch.Size()) -> Tensor:  # noqa: B008
        """Random values of shape sample_shape + batch_shape + event_shape, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: _Shape = torch.Size()) -> Tensor:  # noqa: B008
        """Random values through which gradients go to the parameters (if `has_rsample`)."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample()")

    def sample_n(self, n: int) -> Tensor:
        """The old form of `sample((n,))`."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", category=FutureWarning, stacklevel=2
        )
        return self.sample(torch.Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or probability, of each event of `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob()")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to `value`."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf()")

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf()")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support()")

    def _enumerate(self, values: Tensor, expand: bool) -> Tensor:
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def entropy(self) -> Tensor:
        """The entropy in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy()")

    def perplexity(self) -> Tensor:
        """e to the entropy."""
        return torch.exp(self.entropy())

    def _check(self, value: Any) -> None:
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        """Raises ValueError unless `value` has the right shape and lies within the support."""
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.size()[start:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for one, other in zip(reversed(value.size()), reversed(expected), strict=False):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names: Iterable[str] = [name for name in self.arg_constraints if name in self.__dict__]
        shown = (
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in ((name, self.__dict__[name]) for name in names)
        )
        return f"{type(self).__name__}({', '.join(shown)})"
