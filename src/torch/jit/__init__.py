"""TorchScript's decorators and functions, without its compiler: what is scripted or traced runs as the Python it is.

Everything behaves as PyTorch's does with PYTORCH_JIT=0; `save` and `load`, which need a compiler, raise
NotImplementedError. Keep a model's Python source and its `state_dict()` (`torch.save`) instead.
"""

from __future__ import annotations

import collections
import typing
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import torch
from torch._jit_internal import (
    _drop as _drop,
    _overload as _overload,
    _overload_method as _overload_method,
    export,
    ignore,
    is_scripting,
    script_if_tracing,
    unused,
)
from torch.futures import Future

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "Final",
    "Future",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "export_opnames",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

Attribute = collections.namedtuple("Attribute", ["value", "type"])

_builtin_isinstance = isinstance


_script_if_tracing = script_if_tracing  # the name that torchvision uses


class Error(RuntimeError):
    """What compiled TorchScript raises in PyTorch; nothing raises it here."""


class TracerWarning(Warning):
    """PyTorch's category for warnings of its tracer; programs filter it."""


class TracingCheckError(Exception):
    """PyTorch's error for a trace that does not repeat; nothing raises it here."""


class ScriptWarning(Warning):
    """PyTorch's category for warnings of its compiler; programs filter it."""


class ScriptModule(torch.nn.Module):
    """A plain module: subclasses of old programs run as Python."""

    def __init__(self, arg: Any = None) -> None:
        super().__init__()


class RecursiveScriptModule(ScriptModule):
    """What `script` makes of a module in PyTorch; here nothing makes one."""


class ScriptFunction:
    """What `script` makes of a function in PyTorch; here nothing makes one."""


class TopLevelTracedModule(ScriptModule):
    """What `trace` makes of a module in PyTorch; here nothing makes one."""


class CompilationUnit:
    """TorchScript source text: it cannot be compiled here, so making one raises NotImplementedError."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        _refuse("torch.jit.CompilationUnit")


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name} needs TorchScript's compiler, which this torch has not: keep the model's Python source, "
        "and its state_dict() in a file of torch.save"
    )


def script(
    obj: Any = None,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """Returns the function, class or module as it is.

    >>> torch.jit.script(abs) is abs
    True
    """
    return obj


def script_method(fn: Any) -> Any:
    """Returns the method as it is."""
    return fn


def interface(obj: Any) -> Any:
    """Returns the class, which says what methods others of its kind have, as it is."""
    if not _builtin_isinstance(obj, type):
        raise RuntimeError("interface must be applied to a class")
    return obj


def trace(func: Any = None, example_inputs: Any = None, **options: Any) -> Any:
    """Returns the function or module as it is: it runs with any input, and Python decides anew at each call.

    >>> torch.jit.trace(torch.nn.Identity(), torch.ones(1))
    Identity()
    """
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **options: Any) -> Any:
    """Returns the module as it is."""
    return mod


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """Refuses as PyTorch does: only a compiled module can be frozen, and `script` compiles none."""
    raise RuntimeError("Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace")


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """Refuses as PyTorch does: only a compiled module can be optimized."""
    raise RuntimeError(
        "optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace"
    )


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Raises NotImplementedError: use `torch.save(model.state_dict(), file)`."""
    _refuse("torch.jit.save")


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> NoReturn:
    """Raises NotImplementedError: only PyTorch can run what it compiled."""
    _refuse("torch.jit.load")


def export_opnames(m: Any) -> NoReturn:
    """Raises NotImplementedError: there is no compiled module to list operators of."""
    _refuse("torch.jit.export_opnames")


def is_tracing() -> bool:
    """Whether `trace` is recording: never."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """Returns the value.

    >>> torch.jit.annotate(list[int], [])
    []
    """
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type, or of one of a tuple of types; containers' items are looked at, too.

    >>> torch.jit.isinstance([1, 2], list[int]), torch.jit.isinstance([1, "a"], list[int])
    (True, False)
    """
    if _builtin_isinstance(target_type, tuple):
        return any(isinstance(obj, kind) for kind in target_type)
    origin, arguments = typing.get_origin(target_type), typing.get_args(target_type)
    if target_type in (typing.List, typing.Dict, typing.Tuple, list, dict, tuple) or (  # noqa: UP006
        origin in (list, dict, tuple) and not arguments
    ):
        raise RuntimeError(
            f"Attempted to use {target_type} without contained types. Please add contained type, e.g. List[int]"
        )
    if origin is list:
        return _builtin_isinstance(obj, list) and all(isinstance(item, arguments[0]) for item in obj)
    if origin is dict:
        return _builtin_isinstance(obj, dict) and all(
            isinstance(key, arguments[0]) and isinstance(value, arguments[1]) for key, value in obj.items()
        )
    if origin is tuple:
        if not _builtin_isinstance(obj, tuple) or len(obj) != len(arguments):
            return False
        return all(isinstance(item, kind) for item, kind in zip(obj, arguments, strict=True))
    if origin is not None and arguments:  # Optional, Union and X | Y
        return any(obj is None if kind is type(None) else isinstance(obj, kind) for kind in arguments)
    return _builtin_isinstance(obj, target_type)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Calls `func` at once and returns its result as a finished future, as PyTorch does outside of TorchScript."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """The result of what `fork` returned."""
    return future.wait()


def enable_onednn_fusion(enabled: bool) -> None:
    """Does nothing: there is no compiled code to fuse."""


def onednn_fusion_enabled() -> bool:
    """Whether compiled code would be fused: no."""
    return False


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Keeps the strategy, which nothing reads, and returns the one before."""
    global _strategy
    before, _strategy = _strategy, strategy
    return before


_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Changes nothing: there is no compiled code to optimize."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """Changes nothing: there is no compiled code to fuse."""
    yield


class strict_fusion:
    """A block in which compiled code must fuse; Python code runs in it unchanged."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        pass


def _get_trace_graph(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: `torch.fx.symbolic_trace` gives a graph."""
    _refuse("_get_trace_graph")


def last_executed_optimized_graph() -> NoReturn:
    """Raises NotImplementedError: nothing is compiled."""
    _refuse("torch.jit.last_executed_optimized_graph")
