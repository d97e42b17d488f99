"""`QConfig`: which observers the numbers and the weights of a layer get."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from torch import _unavailable

__all__ = ["QConfig"]


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """Classes of observers, or what their `with_args` gives, for the output and the weight of a layer."""

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        from torch.nn import Module

        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError("QConfig takes classes of observers, not instances: MinMaxObserver.with_args(...)")
        return super().__new__(cls, activation, weight)


__getattr__ = _unavailable.define(__name__, "no model is converted here: only QConfig is")
