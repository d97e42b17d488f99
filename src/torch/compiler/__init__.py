"""What programs say to PyTorch's compiler. Models run eagerly here (see `torch.compile`): most do nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import _dynamo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
    "substitute_in_graph",
    "wrap_numpy",
]

_STANCES = ("default", "eager_on_recompile", "fail_on_recompile", "force_eager", "eager_then_compile")


def compile(*args: Any, **kwargs: Any) -> Any:
    """See :func:`torch.compile`."""
    return torch.compile(*args, **kwargs)


def is_compiling() -> bool:
    """Whether code is being compiled or exported: never."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function as it is; without one, a decorator."""
    return _dynamo.disable(fn, recursive)


def allow_in_graph(fn: Any) -> Any:
    """The function as it is."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function as it is."""
    return fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Callable[[Any], Any]:
    """A decorator that returns the replacement, which only compiled code would call, as it is."""
    return lambda fn: fn


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn`, which takes and returns NumPy arrays, as a function of tensors."""

    def call(*args: Any, **kwargs: Any) -> Any:
        def to_array(value: Any) -> Any:
            return value.numpy() if isinstance(value, torch.Tensor) else value

        answer = fn(*map(to_array, args), **{name: to_array(value) for name, value in kwargs.items()})
        if isinstance(answer, (tuple, list)):
            return type(answer)(map(torch.as_tensor, answer))
        return torch.as_tensor(answer)

    return call


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """The names that `torch.compile(backend=...)` takes."""
    return _dynamo.list_backends(exclude_tags)


def reset() -> None:
    """Forgets compiled code: there is none."""


def cudagraph_mark_step_begin() -> None:
    """Says that a new step begins: nothing is kept between steps here."""


def set_stance(stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None) -> Any:
    """How compiled code behaves when it is called: there is none. A context manager. RuntimeError for others."""
    if stance not in _STANCES:
        raise RuntimeError(f"invalid torch.compile stance '{stance}', should be one of {_STANCES}")
    return _nothing()


@contextmanager
def _nothing() -> Iterator[None]:
    yield
