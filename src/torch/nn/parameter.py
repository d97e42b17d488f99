"""Tensors that a module owns."""

from __future__ import annotations

from typing import Any

import torch
from torch import _C, Tensor


class Parameter(Tensor):
    """A leaf tensor that a `Module` counts among its parameters when it is assigned as an attribute."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = torch.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter data must be a Tensor, not {type(data).__name__}: use torch.tensor(...)")
        return _C._make_subclass(cls, data.detach(), requires_grad)

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Everything is done in `__new__`."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) in memo:
            found: Parameter = memo[id(self)]
            return found
        copy = type(self)(self.detach().clone(), self.requires_grad)
        copy.__dict__.update(self.__dict__)
        memo[id(self)] = copy
        return copy

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that a `Module` counts among its buffers when it is assigned as an attribute."""

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        data = torch.empty(0) if data is None else data
        buffer: Buffer = _C._make_subclass(cls, data.detach(), data.requires_grad)
        buffer.persistent = persistent
        return buffer

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        """Everything is done in `__new__`."""
