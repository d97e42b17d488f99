"""What programs say to PyTorch's compiler. Models run eagerly here (see `torch.compile`): most do nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import _dynamo
from torch._dynamo.backends import get_default_backend, set_default_backend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_portable_guards_unsafe",
    "keep_tensor_guards_unsafe",
    "list_backends",
    "load_cache_artifacts",
    "load_compiled_function",
    "nested_compile_region",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "skip_all_guards_unsafe",
    "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]

_STANCES = ("default", "eager_on_recompile", "fail_on_recompile", "force_eager", "eager_then_compile")


def compile(*args: Any, **kwargs: Any) -> Any:
    """See :func:`torch.compile`."""
    return torch.compile(*args, **kwargs)


_exporting = False  # set by torch.onnx.export for as long as a model runs


def is_compiling() -> bool:
    """Whether code is being compiled or exported: while torch.onnx.export runs it."""
    return _exporting


def is_exporting() -> bool:
    """Whether code is being exported: while torch.onnx.export runs it."""
    return _exporting


def is_dynamo_compiling() -> bool:
    """Whether TorchDynamo compiles code: never."""
    return False


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


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """The function as it is, which compiled code would compile once for all its calls; without one, a decorator."""
    return _dynamo.disable(fn)


def save_cache_artifacts() -> tuple[bytes, Any] | None:
    """What was compiled, to be used by another process: None, as long as nothing is."""
    return None


def load_cache_artifacts(serialized_artifacts: bytes) -> Any:
    """Takes what `save_cache_artifacts` gave in another process: there is nothing to take it, so None."""
    return None


def load_compiled_function(file: Any, **options: Any) -> Callable[..., Any]:
    """Raises NotImplementedError: compiled functions are machine code for PyTorch's own runtime."""
    raise NotImplementedError("torch.compiler.load_compiled_function: this torch runs no compiled functions")


_guard_collectives = [False]


def set_enable_guard_collectives(enabled: bool) -> bool:
    """Accepted, for processes that compile together; returns what was said before."""
    before, _guard_collectives[0] = _guard_collectives[0], enabled
    return before


# ---------------------------------------------------------------------- for options={"guard_filter_fn": ...}
# Each says of conditions under which compiled code may be used again which ones are to be kept.


def skip_all_guards_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps none."""
    return [False for _ in guard_entries]


def keep_tensor_guards_unsafe(guard_entries: Sequence[Any], keep_parameters: bool = False) -> list[bool]:
    """Keeps those on tensors; on parameters only if that is said."""
    return [
        entry.guard_type == "TENSOR_MATCH" and (keep_parameters or not isinstance(entry.value, torch.nn.Parameter))
        for entry in guard_entries
    ]


def keep_portable_guards_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those that mean something without Python: on tensors that are no globals, shapes, and torch's own state."""
    everywhere = ("GLOBAL_STATE", "SHAPE_ENV")
    return [
        entry.guard_type in everywhere or (entry.guard_type == "TENSOR_MATCH" and not entry.is_global)
        for entry in guard_entries
    ]


def skip_guard_on_globals_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those that are not on globals."""
    return [not entry.is_global for entry in guard_entries]


def skip_guard_on_all_nn_modules_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those that are not on modules."""
    return [not entry.orig_guard.source.is_unspecialized_nn_module() for entry in guard_entries]


def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries: Sequence[Any]) -> list[bool]:
    """Keeps those that are not on modules of torch.nn."""
    return [not entry.orig_guard.source.is_unspecialized_builtin_nn_module() for entry in guard_entries]


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
