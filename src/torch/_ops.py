"""`torch.ops`: operators by namespace, torch's own (`torch.ops.aten.add`) and those that programs define."""

from __future__ import annotations

from enum import Enum
from typing import Any

import torch
from torch import _C, library

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]

OpOverload = library.OperatorBase

# What `torch.library.define` is told about an operator, for compilers; eager programs compute without it.
Tag = Enum(
    "Tag",
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated inplace inplace_view "
    "maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides needs_fixed_stride_order "
    "nondeterministic_bitwise nondeterministic_seeded out out_variant pointwise pt2_compliant_tag reduction view_copy",
    module="torch",
)


class OpOverloadPacket:
    """An operator of torch: `torch.ops.aten.add(x, y)`; `.default`, `.Tensor` and the like are the same function."""

    def __init__(self, name: str, function: Any) -> None:
        self._name, self._function = name, function
        self.__name__ = self.__qualname__ = name
        self.__module__ = "torch.ops.aten"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self._name}')>"

    def __str__(self) -> str:
        return f"aten.{self._name}"


def _missing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"this torch has no operator torch.ops.aten.{name}")

    return refuse


class _OpNamespace:
    """The operators of one namespace."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = library._operators.get(f"{self.name}::{name}")
        if found is not None:
            return found
        if self.name == "aten":
            spaces = (_C._VariableFunctions, _C._nn, torch.Tensor)
            functions = [getattr(space, name) for space in spaces if callable(getattr(space, name, None))]
            # PyTorch has thousands, which programs name without calling them.
            packet = OpOverloadPacket(name, functions[0] if functions else _missing(name))
            setattr(self, name, packet)
            return packet
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return [name.partition("::")[2] for name in library._operators if name.startswith(f"{self.name}::")]


class _Ops:
    """The namespaces of operators."""

    loaded_libraries: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        space = _OpNamespace(name)
        setattr(self, name, space)
        return space

    def load_library(self, path: str) -> None:
        """Raises OSError: libraries of operators are built for PyTorch's C++ classes, which this torch has not."""
        raise OSError(
            f"{path}: a library of operators for PyTorch cannot be loaded here; write them with torch.library"
        )


ops = _Ops()
