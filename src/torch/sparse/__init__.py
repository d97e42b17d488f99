"""torch.sparse: products, sums and softmax of sparse tensors.

A sparse tensor is a `Tensor` whose layout is torch.sparse_coo, torch.sparse_csr or torch.sparse_csc: it holds the
values that are not zero and their places. `torch.sparse_coo_tensor` and its like make them, `Tensor.to_sparse` and
`Tensor.to_dense` convert; an operator that is not defined for them raises NotImplementedError.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import torch
from torch import _C
from torch.sparse._invariants import check_sparse_tensor_invariants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "spdiags", "sum"]

_torch = _C._VariableFunctions

sampled_addmm = _torch.sparse_sampled_addmm


def mm(mat1: Tensor, mat2: Tensor, reduce: str = "sum") -> Tensor:
    """The product of two matrices, of which one or both are sparse: (n, m) @ (m, p) -> (n, p).

    Strided unless both are sparse. The gradient of a sparse matrix is sparse and has its places. `reduce`: "sum", or
    "mean", "amax" or "amin" of the products that are summed otherwise, over the values that a row of mat1 has (0 where
    it has none; mat1 is sparse then and mat2 strided).

    >>> mm(torch.eye(2).to_sparse(), torch.tensor([[1.0], [2.0]]))
    tensor([[1.],
            [2.]])
    """
    if reduce == "sum":
        return _torch._sparse_mm(mat1, mat2)  # type: ignore[no-any-return]
    if mat1.layout is torch.strided or mat2.layout is not torch.strided:
        raise RuntimeError("sparse.mm with reduce expects a sparse and a strided matrix")
    if reduce not in ("mean", "amax", "amin"):
        raise ValueError(f"reduce argument must be either sum, mean, amax or amin, got {reduce}")
    if mat1.dim() != 2 or mat2.dim() != 2 or mat1.size(1) != mat2.size(0):
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({list(mat1.shape)} and {list(mat2.shape)}), or are no matrices"
        )
    places = mat1.to_sparse(layout=torch.sparse_coo).coalesce()
    rows, columns = places.indices()
    products = places.values().unsqueeze(1) * mat2.index_select(0, columns)
    result = products.new_zeros((mat1.size(0), mat2.size(1)))
    return result.scatter_reduce(0, rows.unsqueeze(1).expand_as(products), products, reduce, include_self=False)


def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2) of a sparse mat1: strided. The gradient of mat1 has its places alone."""
    return _torch._sparse_addmm(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: torch.dtype | None = None) -> Tensor:
    """The sum of a COO tensor, over all dimensions or over `dim`; sparse unless no sparse dimension is left.

    The gradient is sparse, and has the places of `input`.
    """
    if dim is None:
        return input.coalesce().values().sum(dtype=dtype)
    return _torch._sparse_sum(input, [dim] if isinstance(dim, int) else dim, dtype=dtype)  # type: ignore[no-any-return]


def softmax(input: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """softmax along `dim` over the values that a COO tensor has; what it has not counts as minus infinity."""
    return _torch._sparse_softmax(input, dim, dtype=dtype)  # type: ignore[no-any-return]


def log_softmax(input: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """The logarithm of `softmax`."""
    return _torch._sparse_log_softmax(input, dim, dtype=dtype)  # type: ignore[no-any-return]


def spdiags(diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: torch.layout | None = None) -> Tensor:
    """A sparse matrix of `shape` whose diagonals are the rows of `diagonals`, each `offsets` above the main one.

    Element j of a diagonal stands in column j. `layout`: torch.sparse_coo (the default), sparse_csr or sparse_csc.
    """
    if offsets.dim() == 0:
        offsets = offsets.unsqueeze(0)
    if diagonals.dim() == 1:
        diagonals = diagonals.unsqueeze(0)
    if diagonals.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.dim() != 1 or offsets.dtype != torch.int64:
        raise RuntimeError("Offset Tensor must be a vector of dtype long")
    if diagonals.size(0) != offsets.size(0):
        raise RuntimeError(
            f"Number of diagonals ({diagonals.size(0)}) does not match the number of offsets ({offsets.size(0)})"
        )
    if offsets.unique().numel() != offsets.numel():
        raise RuntimeError("Offset tensor contains duplicate values")
    numbers, columns = torch.meshgrid(
        torch.arange(offsets.numel()), torch.arange(min(diagonals.size(1), shape[1])), indexing="ij"
    )
    rows = columns - offsets.unsqueeze(1)
    inside = (rows >= 0) & (rows < shape[0])
    values = diagonals[numbers[inside], columns[inside]]
    result = torch.sparse_coo_tensor(torch.stack([rows[inside], columns[inside]]), values, shape)
    return result if layout is None or layout is torch.sparse_coo else result.to_sparse(layout=layout)


def __getattr__(name: str) -> object:
    if "Semi" in name or name.startswith(("semi_", "to_sparse_semi")):
        module = import_module("torch.sparse.semi_structured")
        return module if name == "semi_structured" else getattr(module, name)
    if name.endswith("Tensor"):
        from torch import _legacy

        kind = _legacy.TENSOR_TYPES.get(f"torch.sparse.{name}")
        if kind is not None:
            return kind
    from torch._missing import missing_name

    raise missing_name("torch.sparse", name)
