"""Python below autograd: PyTorch's `__torch_dispatch__`, which is not there here.

What programs ask is there, and says that nothing dispatches; a mode refuses to be entered. A
`torch.overrides.TorchFunctionMode` sees every call of a torch function above autograd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "TorchDispatchMode",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode:
    """A class of modes that see each operator below autograd. It can be made; entering it is a NotImplementedError."""

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._dispatch_key = _dispatch_key

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__}: modes of __torch_dispatch__ are not supported; "
            "a torch.overrides.TorchFunctionMode sees calls of torch functions"
        )

    def __exit__(self, *exception: object) -> None:
        """Nothing was entered."""


BaseTorchDispatchMode = TorchDispatchMode


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a mode is active: never."""
    return False


is_in_any_mode_without_ignore_compile_internals = any_torch_dispatch_mode_on_stack = is_in_torch_dispatch_mode


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a tensor is of a class that a compiler can take apart: it has `__tensor_flatten__` and its inverse."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """The same of a class."""
    import torch

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
    """`out`: no operator comes here by itself."""
    return out
