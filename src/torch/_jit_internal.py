"""What marks Python code for TorchScript. There is no TorchScript compiler here: marks are kept, code runs as it is.

All of it behaves as PyTorch's does with the environment variable PYTORCH_JIT=0.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, Final, TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Final", "FunctionModifiers", "boolean_dispatch", "export", "ignore", "is_scripting", "unused"]

Function = TypeVar("Function")


class FunctionModifiers:
    """The values of a function's `_torchscript_modifier`: what a compiler would have done with it."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = "if this method is not scripted, copy the python method onto the scripted model"
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def is_scripting() -> bool:
    """Whether this runs as compiled TorchScript: never."""
    return False


def _mark(function: Any, modifier: str) -> Any:
    function._torchscript_modifier = modifier
    return function


def export(fn: Function) -> Function:
    """Marks a method as one to be compiled with its module; returns it as it is."""
    marked: Function = _mark(fn, FunctionModifiers.EXPORT)
    return marked


def unused(fn: Any) -> Any:
    """Marks a function, method or property as not to be compiled; returns it as it is."""
    if isinstance(fn, property):
        _mark(fn.fget, FunctionModifiers.UNUSED)
        if fn.fset:
            _mark(fn.fset, FunctionModifiers.UNUSED)
        return fn
    return _mark(fn, FunctionModifiers.UNUSED)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Marks a function to be left to Python: `@ignore`, `@ignore()` or `@ignore(drop=True)`; returns it as it is."""
    if callable(drop):
        return _mark(drop, FunctionModifiers.IGNORE)
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    if kwargs.pop("drop_on_export", None):
        drop = True
    return lambda fn: _mark(fn, FunctionModifiers.UNUSED if drop else FunctionModifiers.IGNORE)


def copy_to_script_wrapper(fn: Function) -> Function:
    """Marks a method that a compiled module would have kept as Python."""
    marked: Function = _mark(fn, FunctionModifiers.COPY_TO_SCRIPT_WRAPPER)
    return marked


def _drop(fn: Function) -> Function:
    marked: Function = _mark(fn, FunctionModifiers._DROP)
    return marked


def _overload(func: Function) -> Function:
    """A declaration of a type that a function also takes; the last definition of the name is what runs."""
    return func


_overload_method = _overload


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str,
    func_name: str,
) -> Callable[..., Any]:
    """A function that calls `if_true` or `if_false`, as its boolean argument (by name or position) says."""

    def dispatched(*args: Any, **kwargs: Any) -> Any:
        chosen = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return if_true(*args, **kwargs) if chosen else if_false(*args, **kwargs)

    documented = if_true if if_true.__doc__ is not None else if_false
    dispatched.__doc__ = documented.__doc__
    dispatched.__module__, dispatched.__name__ = module_name, func_name
    return dispatched


def can_compile_class(cls: type) -> bool:
    """Whether TorchScript could take a class: here none."""
    return False


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn` as it is, since nothing is ever traced here."""

    @wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    call.__original_fn = fn  # type: ignore[attr-defined]
    call.__script_if_tracing_wrapper = True  # type: ignore[attr-defined]
    return call


class _BroadcastingList:
    """`BroadcastingList2[int]`: the type of an argument that is a list of two, or one number that counts for both."""

    def __getitem__(self, types: Any) -> None:
        pass


BroadcastingList1, BroadcastingList2, BroadcastingList3 = _BroadcastingList(), _BroadcastingList(), _BroadcastingList()
