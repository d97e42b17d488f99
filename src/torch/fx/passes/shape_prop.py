"""Runs a graph and keeps in each node what its tensors look like."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.fx.interpreter import Interpreter
from torch.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What a tensor looks like, without its numbers."""

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: torch.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: torch.Tensor, include_contiguity: bool = True) -> TensorMetadata:
    form = torch.contiguous_format if include_contiguity and result.is_contiguous() else None
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, tuple(result.stride()), form, False, {})


class ShapeProp(Interpreter):
    """`ShapeProp(module).propagate(*args)` sets `meta["tensor_meta"]` and `meta["type"]` of every node."""

    def run_node(self, n: Node) -> Any:
        """The node's result; what it looks like is kept."""
        result = super().run_node(n)
        found = False

        def describe(value: Any) -> Any:
            nonlocal found
            if not isinstance(value, torch.Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)

        metadata = map_aggregate(result, describe)
        if found:
            n.meta["tensor_meta"] = metadata
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """The module's result for these arguments."""
        return super().run(*args)
