"""`Variable`: what tensors with gradients were before PyTorch 0.4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


class _VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, torch.Tensor)


class _ExecutionEngine:
    """The engine that computes gradients, as libraries reach it."""

    @staticmethod
    def queue_callback(callback: Callable[[], None]) -> None:
        """Calls `callback()` when the backward pass that runs now has ended. RuntimeError outside of one."""
        torch.autograd._callbacks.queue(callback)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor)` is a tensor of the same memory, and every tensor is an instance."""

    _execution_engine = _ExecutionEngine()

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: Any = None) -> Any:
        return data.detach().requires_grad_(requires_grad)
