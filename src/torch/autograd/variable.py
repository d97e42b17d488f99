"""`Variable`: what tensors with gradients were before PyTorch 0.4."""

from __future__ import annotations

from typing import Any

import torch


class _VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, torch.Tensor)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor)` is a tensor of the same memory, and every tensor is an instance."""

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: Any = None) -> Any:
        return data.detach().requires_grad_(requires_grad)
