"""The functions of torch that make sparse tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.sparse import _invariants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_torch = _C._VariableFunctions

# Older names of products.
spmm = dsmm = _torch.mm
hsmm = _torch.hspmm
saddmm = _torch.sspaddmm


def _as_values(data: Any, dtype: torch.dtype | None, device: Any) -> Tensor:
    if isinstance(data, torch.Tensor):
        return data.to(device=device or data.device, dtype=dtype or data.dtype)
    return torch.tensor(data, dtype=dtype, device=device)


def _as_indices(data: Any, device: torch.device, dtype: torch.dtype | None = torch.int64) -> Tensor:
    indices = data if isinstance(data, torch.Tensor) else torch.tensor(data, dtype=dtype)
    return indices.detach().to(device=device, dtype=dtype or indices.dtype)


def _checks(check_invariants: bool | None) -> bool:
    return _invariants.check_sparse_tensor_invariants.is_enabled() if check_invariants is None else check_invariants


def _is_size(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(isinstance(item, int) for item in value)


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Sequence[int] | None = None,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A tensor in coordinate format: values (n, dense sizes...) at the places that indices (sparse dimensions, n) name.

    A place that is named twice has the sum of its values. `size` is the smallest that holds all indices unless it is
    given; a size alone makes a tensor of zeros. Data may be tensors, lists or arrays; gradients reach `values`.
    `check_invariants`: whether the indices are checked, by default as torch.sparse.check_sparse_tensor_invariants says.
    Raises RuntimeError for indices that do not fit to the values, and for those out of range if they are checked.

    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    if layout not in (None, torch.sparse_coo):
        raise ValueError(f"sparse_coo_tensor makes tensors of layout torch.sparse_coo, not {layout}")
    if values is None:
        if size is None and _is_size(indices):
            size = indices
        elif size is None or indices is not None:
            raise TypeError("sparse_coo_tensor() takes indices and values, and perhaps a size, or a size alone")
        return torch.zeros(size, dtype=dtype, layout=torch.sparse_coo, device=device).requires_grad_(requires_grad)
    if indices is None:
        raise TypeError("sparse_coo_tensor() missing indices")
    data = _as_values(values, dtype, device)
    places = _as_indices(indices, data.device)
    if data.dim() == 0:
        data = data.reshape(1)
    if size is None:
        size = _smallest_size(places, data)
    if _checks(check_invariants):
        _torch._validate_sparse_coo_tensor_args(places, data, size)
        if is_coalesced and places.size(1) > 1 and not _is_sorted(places, size):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
    result: Tensor = _torch._sparse_coo_tensor_unsafe(places, data, size, bool(is_coalesced))
    return result.requires_grad_() if requires_grad else result


def _smallest_size(indices: Tensor, values: Tensor) -> list[int]:
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if indices.size(1) == 0:
        sizes = [0] * indices.size(0)
    else:
        for dim, least in enumerate(indices.min(1)[0].tolist()):
            if least < 0:
                raise RuntimeError(f"found negative index {least} for dim {dim}")
        sizes = [greatest + 1 for greatest in indices.max(1)[0].tolist()]
    return [*sizes, *values.shape[1:]]


def _is_sorted(indices: Tensor, size: Sequence[int]) -> bool:
    keys = indices[0]
    for row, length in zip(indices[1:], size[1:], strict=False):
        keys = keys * length + row
    return bool((keys[1:] > keys[:-1]).all())


# layout -> names of its indices, and which dimension the compressed ones count
_COMPRESSED = {
    torch.sparse_csr: ("crow_indices", "col_indices", 0),
    torch.sparse_csc: ("ccol_indices", "row_indices", 1),
}


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A matrix in compressed format: `layout` is torch.sparse_csr (by rows) or torch.sparse_csc (by columns).

    compressed_indices (rows + 1) says where each row begins in plain_indices (n), which name columns, and values (n,
    dense sizes...). Indices are int64, or int32 in both. `size`, `check_invariants` and gradients are as in
    `sparse_coo_tensor`. Raises RuntimeError for parts that do not fit.
    """
    if layout is None:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got none")
    if layout in (torch.sparse_bsr, torch.sparse_bsc):
        raise NotImplementedError(
            f"there are no tensors of layout {layout} here; use torch.sparse_csr or torch.sparse_csc"
        )
    if layout not in _COMPRESSED:
        raise RuntimeError(f"expected sparse compressed tensor layout but got {layout}")
    data = _as_values(values, dtype, device)
    kept = (torch.int32, torch.int64)
    given = next(
        (item.dtype for item in (compressed_indices, plain_indices) if getattr(item, "dtype", None) in kept),
        torch.int64,
    )
    compressed = _as_indices(compressed_indices, data.device, given)
    plain = _as_indices(plain_indices, data.device, given)
    if size is None:
        lengths = [max(compressed.numel() - 1, 0), int(plain.max()) + 1 if plain.numel() else 0]
        size = [*(lengths if _COMPRESSED[layout][2] == 0 else reversed(lengths)), *data.shape[1:]]
    if _checks(check_invariants):
        _torch._validate_sparse_compressed_tensor_args(compressed, plain, data, size, layout)
    result: Tensor = _torch._sparse_compressed_tensor_unsafe(compressed, plain, data, size, layout)
    return result.requires_grad_() if requires_grad else result


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """A matrix by rows: row r has the values from crow_indices[r] to crow_indices[r + 1], in the columns col_indices.

    Options are those of `sparse_compressed_tensor`.

    >>> torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0]).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 5.]])
    """
    return _of_layout(torch.sparse_csr, crow_indices, col_indices, values, size, options)


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Sequence[int] | None = None, **options: Any
) -> Tensor:
    """A matrix by columns: column c has the values from ccol_indices[c] to ccol_indices[c + 1], in rows row_indices.

    Options are those of `sparse_compressed_tensor`.
    """
    return _of_layout(torch.sparse_csc, ccol_indices, row_indices, values, size, options)


def _of_layout(layout: torch.layout, *arguments: Any) -> Tensor:
    *data, options = arguments
    if options.setdefault("layout", layout) not in (None, layout):
        raise RuntimeError(f"expected layout {layout}, but got {options['layout']}")
    return sparse_compressed_tensor(*data, **{**options, "layout": layout})
