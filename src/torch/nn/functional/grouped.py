"""Products of groups of rows or columns with a matrix each, as in mixtures of experts; names of scaled products."""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import torch

if TYPE_CHECKING:
    from torch import Tensor


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    """Matrix products of groups; `offs` (int32, one number for each group) says where each group ends.

    (M, K) and (G, K, N): groups of rows -> (M, N). (G, M, K) and (K, N): groups of columns -> (M, N).
    (M, K) and (K, N): groups of the inner dimension -> (G, M, N). (G, M, K) and (G, K, N), without `offs` -> (G, M, N).

    >>> rows, experts = torch.ones(3, 2), torch.stack((torch.eye(2), 2 * torch.eye(2)))
    >>> grouped_mm(rows, experts, offs=torch.tensor([1, 3], dtype=torch.int32))
    tensor([[1., 1.],
            [2., 2.],
            [2., 2.]])
    """
    if not {mat_a.dim(), mat_b.dim()} <= {2, 3}:
        raise RuntimeError(
            f"grouped_mm: expected matrices or batches of them, but got {mat_a.dim()}D and {mat_b.dim()}D"
        )
    if mat_a.size(-1) != mat_b.size(-2):
        raise RuntimeError(
            f"contraction dimension of mat_a and mat_b must match: {mat_a.size(-1)} and {mat_b.size(-2)}"
        )
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    both_batches = mat_a.dim() == mat_b.dim() == 3
    if (offs is None) != both_batches:
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if offs is None:
        result = torch.bmm(mat_a, mat_b)
    else:
        if offs.dim() != 1 or offs.dtype is not torch.int32:
            raise RuntimeError(f"Offsets have to be a vector of int32, but got {offs.dim()}D of {offs.dtype}")
        result = _multiply_groups(mat_a, mat_b, [0, *offs.tolist()])
    return result if out_dtype is None else result.to(out_dtype)


def _multiply_groups(mat_a: Tensor, mat_b: Tensor, bounds: list[int]) -> Tensor:
    parts = list(pairwise(bounds))
    if mat_a.dim() == 2 and mat_b.dim() == 2:
        return torch.stack([mat_a[:, start:end] @ mat_b[start:end] for start, end in parts])
    if mat_a.dim() == 2:
        size, axis = mat_a.size(0), 0
        products = [mat_a[start:end] @ mat_b[group] for group, (start, end) in enumerate(parts)]
    else:
        size, axis = mat_b.size(-1), 1
        products = [mat_a[group] @ mat_b[:, start:end] for group, (start, end) in enumerate(parts)]
    rest = size - bounds[-1]
    if rest > 0:  # what no group has
        shape = (rest, mat_b.size(-1)) if axis == 0 else (mat_a.size(-2), rest)
        products.append(mat_a.new_zeros(shape))
    return torch.cat(products, axis)


class ScalingType(IntEnum):
    """Which elements of a matrix of 8 or 4 bits share a factor.

    >>> ScalingType["RowWise"].value
    1
    """

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(IntEnum):
    """In which order the factors of such a matrix lie in memory.

    >>> SwizzleType["NO_SWIZZLE"].value
    0
    """

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


def scaled_mm(mat_a: Tensor, mat_b: Tensor, *scales: Any, **options: Any) -> NoReturn:
    """Raises NotImplementedError: tensors of 8 bits are kept and converted here, not multiplied with factors."""
    raise NotImplementedError("scaled_mm: tensors of float8 are not multiplied here; convert them and use torch.mm")


def scaled_grouped_mm(mat_a: Tensor, mat_b: Tensor, *scales: Any, **options: Any) -> NoReturn:
    """The same for groups; `grouped_mm` multiplies groups of the other floating types."""
    raise NotImplementedError(
        "scaled_grouped_mm: tensors of float8 are not multiplied here; convert them and use grouped_mm"
    )
