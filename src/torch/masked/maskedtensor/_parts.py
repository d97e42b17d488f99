"""Data and masks of masked tensors: what fits together, and how it is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

_DTYPES = frozenset(
    {
        torch.float16,
        torch.float32,
        torch.float64,
        torch.bool,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
    }
)
_LAYOUTS = (torch.strided, torch.sparse_coo, torch.sparse_csr)


def same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    return one.shape == other.shape and bool(torch.equal(one, other))


def check_parts(data: Any, mask: Any) -> tuple[Tensor, Tensor]:
    """Data and mask that belong together, sparse ones coalesced; otherwise TypeError or ValueError."""
    for name, part in (("data", data), ("mask", mask)):
        if not isinstance(part, torch.Tensor) or hasattr(part, "_masked_mask"):
            raise TypeError(f"{name} must be a Tensor")
    if data.layout != mask.layout:
        raise TypeError("data and mask must have the same layout.")
    if data.layout not in _LAYOUTS:
        raise TypeError(f"data layout of {data.layout} is not supported.")
    if data.layout is torch.sparse_coo:
        data, mask = data.coalesce(), mask.coalesce()
        if not same(data.indices(), mask.indices()):
            raise ValueError("data and mask are both sparse COO tensors but do not have the same indices.")
    if data.layout is torch.sparse_csr and not (
        same(data.crow_indices(), mask.crow_indices()) and same(data.col_indices(), mask.col_indices())
    ):
        raise ValueError("data and mask are both sparse CSR tensors but do not share either crow or col indices.")
    if mask.dtype is not torch.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.shape != mask.shape:
        raise ValueError("data.size() must equal mask.size()")
    return data, mask


def text(data: Tensor, mask: Tensor) -> str:
    """The elements in nested brackets, with `--` where the mask drops one."""
    if data.layout is not torch.strided:
        data, mask = data.to_dense(), mask.to_dense()
    if data.dim() == 0:
        kept = bool(mask.item())
        return f"MaskedTensor({_element(data.item()) if kept else '--'}, {kept})"
    lines = "\n".join(f"  {line}" for line in _rows(data.tolist(), mask.tolist(), data.dim()).split("\n"))
    return f"MaskedTensor(\n{lines}\n)"


def _element(value: float) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _rows(data: list[Any], mask: list[Any], dimensions: int) -> str:
    """Nested brackets; elements that are dropped are as wide as the widest of their row."""
    if dimensions > 1:
        blocks = ",\n".join(_rows(*pair, dimensions - 1) for pair in zip(data, mask, strict=True))
        return "[\n" + "\n".join(f"  {line}" for line in blocks.split("\n")) + "\n]"
    texts = [_element(value) for value in data]
    width = max((len(text) if kept else 8 for text, kept in zip(texts, mask, strict=True)), default=0)
    return "[" + ", ".join(text if kept else "--".rjust(width) for text, kept in zip(texts, mask, strict=True)) + "]"
