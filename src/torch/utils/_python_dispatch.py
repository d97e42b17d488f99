"""Python below autograd: modes of `__torch_dispatch__`, and tools for classes of tensors that have it.

A class with `__torch_dispatch__(cls, func, types, args=(), kwargs=None)`, and a `TorchDispatchMode` that was entered,
answer for the operators that torch's functions, and the formulas of backward, are made of. `func` is what
`torch.ops.aten` calls it. A mode is set aside while it answers: `func(*args, **kwargs)` reaches what lies below.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "TorchDispatchMode",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode:
    """A mode that sees each operator below autograd, between entering and leaving it; modes nest, the innermost first.

    >>> from torch.utils._python_dispatch import TorchDispatchMode
    >>> class Names(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2))
    aten.ones.default
    aten.ones.default
    aten.t.default
    aten.mm.default
    """

    supports_higher_order_operators: ClassVar[bool] = False

    def __init__(self, _dispatch_key: Any = None) -> None:
        if _dispatch_key is not None:
            raise NotImplementedError("TorchDispatchMode: there are no dispatch keys here")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A new mode, to be entered."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether it is one of a compiler's own: none is."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that calls each operator, and does nothing else."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _push_mode(mode: TorchDispatchMode) -> None:
    _C._push_on_torch_dispatch_stack(mode)


def _pop_mode(k: Any = None) -> TorchDispatchMode:
    mode: TorchDispatchMode = _C._pop_torch_dispatch_stack()
    return mode


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost mode, or None."""
    stack = _get_current_dispatch_mode_stack()
    return stack[-1] if stack else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """The modes, the outermost first."""
    return [_C._get_dispatch_stack_at(place) for place in range(_C._len_torch_dispatch_stack())]


@contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[TorchDispatchMode]:
    """Inside, the innermost mode is set aside."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """Inside, all modes are set aside."""
    modes = [_pop_mode() for _ in range(_C._len_torch_dispatch_stack())][::-1]
    try:
        yield modes
    finally:
        for mode in modes:
            _push_mode(mode)


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a mode is active on this thread."""
    return bool(_C._len_torch_dispatch_stack())


is_in_any_mode_without_ignore_compile_internals = any_torch_dispatch_mode_on_stack = is_in_torch_dispatch_mode


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a tensor is of a class that a compiler can take apart: it has `__tensor_flatten__` and its inverse."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """The same of a class."""
    both = hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
    return issubclass(t, torch.Tensor) and t is not torch.Tensor and both


def transform_subclass(t: Any, callback: Callable[..., Any], outer_size: Any = None, outer_stride: Any = None) -> Any:
    """A tensor made of `callback(name, part)` of each part of `t`, a tensor that can be taken apart."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    parts = {name: callback(name, getattr(t, name)) for name in names}
    return type(t).__tensor_unflatten__(parts, context, outer_size, outer_stride)


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """`out`, what a class of tensors answers for `func`; of an operator that writes, the argument that it wrote.

    A view's answer keeps its own identity: a wrapper has no storage to share.
    """
    arguments = func._schema.arguments
    named = {**dict(zip((item.name for item in arguments), args, strict=False)), **(kwargs or {})}
    written = [item.name for item in arguments if item.alias_info is not None and item.alias_info.is_write]
    if not written or not any(item.alias_info is not None for item in func._schema.returns):
        return out
    values = tuple(named[name] for name in written)
    return values[0] if len(values) == 1 else values
