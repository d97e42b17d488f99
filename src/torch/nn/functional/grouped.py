"""Products of groups of rows or columns with a matrix each, as in mixtures of experts; scaled products."""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def scaled_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a: Tensor | list[Tensor],
    scale_recipe_a: ScalingType | list[ScalingType],
    scale_b: Tensor | list[Tensor],
    scale_recipe_b: ScalingType | list[ScalingType],
    swizzle_a: SwizzleType | list[SwizzleType] | None = None,
    swizzle_b: SwizzleType | list[SwizzleType] | None = None,
    bias: Tensor | None = None,
    output_dtype: torch.dtype | None = torch.bfloat16,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Tensor:
    """The product (M, N) of float8 matrices (M, K) and (K, N) that have float32 factors, in `output_dtype`.

    A factor is one of the whole matrix (TensorWise), or there is one of each row of `mat_a`, (M, 1), and of each column
    of `mat_b`, (1, N) (RowWise). `use_fast_accum`: taken, sums are float32.

    Raises:
        NotImplementedError: factors of blocks, which no CPU and no GPU has here; factors that lie in another order.

    >>> ones = torch.ones(2, 2).to(torch.float8_e4m3fn)
    >>> whole = ScalingType.TensorWise
    >>> scaled_mm(ones, ones, torch.tensor(0.5), whole, torch.tensor(3.0), whole, output_dtype=torch.float32)
    tensor([[3., 3.],
            [3., 3.]])
    """
    kinds = [_only(scale_recipe_a), _only(scale_recipe_b)]
    if kinds not in ([ScalingType.TensorWise] * 2, [ScalingType.RowWise] * 2):
        names = " and ".join(ScalingType(kind).name for kind in kinds)
        raise NotImplementedError(f"scaled_mm: factors are TensorWise or RowWise of both matrices here, not {names}")
    if contraction_dim or any(_only(swizzle or 0) for swizzle in (swizzle_a, swizzle_b)):
        raise NotImplementedError("scaled_mm: `contraction_dim` and other orders of factors are not here")
    product: Tensor = torch._scaled_mm(  # type: ignore[attr-defined]
        mat_a, mat_b, _only(scale_a), _only(scale_b), bias, None, output_dtype, use_fast_accum
    )
    return product


def _only(value: Any) -> Any:
    """The one item of a list, or what is no list."""
    if not isinstance(value, list):
        return value
    if len(value) != 1:
        raise NotImplementedError(f"scaled_mm: one factor of each matrix, but got {len(value)}")
    return value[0]


def scaled_grouped_mm(mat_a: Tensor, mat_b: Tensor, *scales: Any, **options: Any) -> NoReturn:
    """The same for groups; `grouped_mm` multiplies groups of the other floating types."""
    raise NotImplementedError(
        "scaled_grouped_mm: tensors of float8 are not multiplied here; convert them and use grouped_mm"
    )
