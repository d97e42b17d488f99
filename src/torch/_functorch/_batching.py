"""Levels with their rules: what `vmap` and the Jacobians of `torch.func` run functions in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch._functorch import (  # noqa: F401 - they register themselves
    _rules,
    _rules_autograd,
    _rules_dims,
    _rules_elements,
    _rules_indexing,
    _rules_parts,
    _rules_products,
    _rules_recurrent,
    _rules_shapes,
    _rules_windows,
)
from torch._functorch._levels import Level

if TYPE_CHECKING:
    from collections.abc import Callable


class BatchLevel(Level):
    """A level that answers for functions of torch by the table of rules."""

    # Looks at calls as they were written: most functions of Python are not its business, but their parts are.
    takes_parts = True

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return _rules.call(self, func, args, kwargs or {})

    def call_python(
        self, public: Callable[..., Any], body: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A function of torch that is written in Python: its own rule, if it has one, or its body, whose parts have."""
        rule = _rules.PYTHON.get(f"{public.__module__}.{public.__name__}")
        if rule is None or not self.any_batched((*args, *kwargs.values())):
            return body(*args, **kwargs)
        with self.outside():
            return rule(self, public, args, kwargs)

    def apply(self, function: Any, args: tuple[Any, ...]) -> Any:
        return _rules_autograd.apply(self, function, args)
