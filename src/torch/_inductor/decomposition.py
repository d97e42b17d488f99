"""What PyTorch's compiler is told about operators; there is no compiler here that would ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["decompositions", "register_decomposition"]

decompositions: dict[Any, Callable[..., Any]] = {}


def register_decomposition(ops: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that keeps a function as what operators are made of, in `decompositions`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        decompositions.update(dict.fromkeys(ops if isinstance(ops, (list, tuple)) else [ops], function))
        return function

    return register
