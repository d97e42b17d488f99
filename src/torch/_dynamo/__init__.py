"""The names of PyTorch's compiler that programs use around a model. Models run eagerly here: see `torch.compile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch._dynamo import config, exc
from torch._dynamo.backends import list_backends
from torch._dynamo.eval_frame import OptimizedModule

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "exc",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
    "run",
]


def is_compiling() -> bool:
    """Whether code is being compiled: never."""
    return False


def disable(fn: Any = None, recursive: bool = True, **others: Any) -> Any:
    """The function or module as it is; without one, a decorator."""
    return (lambda function: function) if fn is None else fn


def run(fn: Any = None) -> Any:
    """The function as it is; without one, a decorator."""
    return disable(fn)


def allow_in_graph(fn: Any) -> Any:
    """The function (or list of functions) as it is."""
    return fn


disallow_in_graph = forbid_in_graph = assume_constant_result = allow_in_graph


def graph_break(msg: str = "") -> None:
    """Where compiled code would return to Python: nothing happens."""


def reset() -> None:
    """Forgets compiled code: there is none."""


def mark_dynamic(t: Any, index: Any, **others: Any) -> None:
    """Says of which dimensions the size changes; eager code takes any size."""


maybe_mark_dynamic = mark_dynamic


def mark_static(t: Any, index: Any = None) -> None:
    """Says of which dimensions the size never changes; eager code takes any size."""


def mark_static_address(t: Any, guard: bool = True) -> None:
    """Says that a tensor stays where it is in memory; eager code does not need to know."""


def optimize(backend: Any = "inductor", **options: Any) -> Callable[[Any], Any]:
    """The old form of `torch.compile(backend=...)`: a decorator."""
    import torch

    decorate: Callable[[Any], Any] = torch.compile(backend=backend)
    return decorate
