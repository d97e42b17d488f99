"""Tensors that a module owns."""

from __future__ import annotations

from typing import Any

import torch
from torch import _C, Tensor


class _ParameterMeta(_C._TensorMeta):
    """Counts tensors of other classes that `Parameter(tensor)` made into parameters as instances."""

    def __instancecheck__(self, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return self is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf tensor that a `Module` counts among its parameters when it is assigned as an attribute.

    Made of a tensor of a class of its own, it stays of that class, and `isinstance(it, Parameter)` is true.
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = torch.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter data must be a Tensor, not {type(data).__name__}: use torch.tensor(...)")
        opted_out = type(data).__torch_function__ is _C._disabled_torch_function_impl
        if type(data) is Tensor or (opted_out and not _C._class_dispatches(type(data))):
            return _C._make_subclass(cls, data.detach(), requires_grad)
        kept: Any = data.detach().requires_grad_(requires_grad)
        if type(kept) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns "
                f"an instance of the same type, but return type {type(kept).__name__} was found instead."
            )
        kept._is_param = True
        return kept  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) in memo:
            found: Parameter = memo[id(self)]
            return found
        copy = type(self)(self.detach().clone(), self.requires_grad)  # without attributes, as in PyTorch
        memo[id(self)] = copy
        return copy

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __torch_function__ = _C._disabled_torch_function_impl


class Buffer(Tensor):
    """A tensor that a `Module` counts among its buffers when it is assigned as an attribute."""

    persistent: bool
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        data = torch.empty(0) if data is None else data
        buffer: Buffer = _C._make_subclass(cls, data.detach(), data.requires_grad)
        buffer.persistent = persistent
        return buffer


class UninitializedTensorMixin:
    """A tensor without a shape, until `materialize` gives it one: what lazy modules hold before their first call."""

    cls_to_become: Any
    data: Any
    device: Any
    dtype: Any

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Makes this an ordinary tensor of a shape, with undefined elements."""
        made = torch.empty(shape, device=device or self.device, dtype=dtype or self.dtype)
        self.data = made
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """RuntimeError: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)  # type: ignore[attr-defined]


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer still lacks its shape."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a shape, until `materialize` gives it one.

    >>> parameter = torch.nn.UninitializedParameter()
    >>> parameter.materialize((2, 3))
    >>> parameter.shape
    torch.Size([2, 3])
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> UninitializedParameter:
        data = torch.empty(0, device=device, dtype=dtype)
        return _C._make_subclass(cls, data, requires_grad)  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer without a shape, until `materialize` gives it one.

    >>> buffer = torch.nn.UninitializedBuffer()
    >>> buffer.materialize((2,))
    >>> buffer.shape
    torch.Size([2])
    """

    cls_to_become = Tensor
    persistent: bool
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> UninitializedBuffer:
        data = torch.empty(0, device=device, dtype=dtype)
        buffer: UninitializedBuffer = _C._make_subclass(cls, data, requires_grad)
        buffer.persistent = persistent
        return buffer

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Everything is done in `__new__`."""
