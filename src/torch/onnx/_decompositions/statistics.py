"""Quantiles, covariances, integrals, and what accumulates along a dimension."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.onnx._decompositions.functions import diff
from torch.onnx._decompositions.table import DECOMPOSITIONS, decomposition
from torch.onnx.errors import UnsupportedOperatorError

if TYPE_CHECKING:
    from collections.abc import Callable

# ---------------------------------------------------------------------- along a dimension


def _scan(parts: list[Tensor], dim: int, combine: Callable[[list[Tensor], list[Tensor]], list[Tensor]]) -> list[Tensor]:
    """Everything so far: in log2(size) steps, each of which joins every element with the one twice as far before it."""
    size, reach = parts[0].shape[dim] if parts[0].dim() else 1, 1
    while reach < size:
        kept = [each.narrow(dim, 0, reach) for each in parts]
        earlier = [each.narrow(dim, 0, size - reach) for each in parts]
        later = [each.narrow(dim, reach, size - reach) for each in parts]
        parts = [torch.cat(pair, dim) for pair in zip(kept, combine(earlier, later), strict=True)]
        reach *= 2
    return parts


@decomposition
def cumprod(x: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Products of all before."""
    x = x.to(dtype) if dtype else x if x.is_floating_point() else x.to(torch.int64)
    return _scan([x], dim, lambda a, b: [a[0] * b[0]])[0]


@decomposition
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    """Logarithms of sums of exponentials of all before."""
    return _scan([x], dim, lambda a, b: [torch.logaddexp(a[0], b[0])])[0]


def _add_running(name: str, ahead: Any) -> None:
    def running(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
        axis = dim % max(x.dim(), 1)
        places = torch.zeros_like(x, dtype=torch.int64)
        if x.dim():
            places = places + torch.arange(x.shape[axis]).reshape(-1, *([1] * (x.dim() - axis - 1)))

        def combine(a: list[Tensor], b: list[Tensor]) -> list[Tensor]:
            new = ahead(b[0], a[0])  # of equals the last counts, and whatever is no number stays
            new = new | (b[0] != b[0]) if x.is_floating_point() else new
            return [torch.where(new, later, earlier) for earlier, later in zip(a, b, strict=True)]

        values, indices = _scan([x, places], dim, combine)
        return values, indices

    DECOMPOSITIONS[name] = running


_add_running("cummax", lambda later, earlier: later >= earlier)
_add_running("cummin", lambda later, earlier: later <= earlier)


# ---------------------------------------------------------------------- quantiles


def _quantile(x: Tensor, q: Any, dim: Any, keepdim: bool, interpolation: str, skip: bool) -> Tensor:
    rank = x.dim()
    if dim is None:
        x, axis = x.reshape(-1), 0
    else:
        axis = dim % max(rank, 1)
    shares = torch.as_tensor(q, dtype=x.dtype)
    rows = x.movedim(axis, -1).sort(-1)[0] if x.dim() else x.reshape(1)
    absent = torch.isnan(rows)
    size = rows.shape[-1]
    ranks = shares.reshape(-1) * (size - 1)  # (Q,)
    if skip:
        last = (~absent).sum(-1, keepdim=True).to(x.dtype) - 1
        ranks = shares.reshape(-1) * last.clamp(min=0)
        rows = torch.where(absent, torch.where(last < 0, rows, torch.full_like(rows, math.inf)), rows)
    ranks = ranks.expand(*rows.shape[:-1], ranks.shape[-1])
    if interpolation in ("lower", "higher", "nearest"):
        name = {"lower": torch.floor, "higher": torch.ceil, "nearest": torch.round}[interpolation]
        found = rows.gather(-1, name(ranks).to(torch.int64))
    else:
        low = rows.gather(-1, ranks.floor().to(torch.int64))
        high = rows.gather(-1, ranks.ceil().to(torch.int64))
        weight = torch.full_like(low, 0.5) if interpolation == "midpoint" else ranks - ranks.floor()
        found = torch.where(ranks == ranks.floor(), low, torch.lerp(low, high, weight))
    if not skip:
        found = torch.where(absent.any(-1, keepdim=True), torch.full_like(found, math.nan), found)
    found = found.movedim(-1, 0)
    if keepdim:
        found = found.reshape(-1, *([1] * rank)) if dim is None else found.unsqueeze(axis + 1) if rank else found
    return found if shares.dim() else found.squeeze(0)


@decomposition
def quantile(x: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """What a share `q` of the elements is not above; NaN where any element is."""
    return _quantile(x, q, dim, keepdim, interpolation, False)


@decomposition
def nanquantile(x: Tensor, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Tensor:
    """What a share `q` of the elements that are not NaN is not above."""
    return _quantile(x, q, dim, keepdim, interpolation, True)


# ---------------------------------------------------------------------- covariances, integrals


@decomposition
def cov(x: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """Of variables in rows."""
    rows = x if x.dim() == 2 else x.reshape(1, -1)
    weights = None if fweights is None else fweights.to(rows.dtype)
    if aweights is not None:
        weights = aweights.to(rows.dtype) if weights is None else weights * aweights
    total = rows.shape[1] if weights is None else weights.sum()
    mean = rows.mean(1, keepdim=True) if weights is None else (rows * weights).sum(1, keepdim=True) / total
    less = total - correction
    if weights is not None and correction:
        less = total - correction * (1 if aweights is None else (weights * aweights).sum() / total)
    centred = rows - mean
    product = (centred if weights is None else centred * weights) @ centred.T
    result = product / less
    return result if x.dim() == 2 else result.squeeze()


@decomposition
def corrcoef(x: Tensor) -> Tensor:
    """Covariances over the roots of variances."""
    covariance = cov(x)
    if covariance.dim() == 0:
        return covariance / covariance
    spread = covariance.diagonal().sqrt()
    return (covariance / spread.unsqueeze(1) / spread.unsqueeze(0)).clamp(-1, 1)


def _areas(y: Tensor, x: Any, dx: Any, dim: int) -> Tensor:
    """Of the trapezoids between neighbours."""
    size = y.shape[dim]
    heights = y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)
    if x is None:
        return heights * dx / 2
    if x.dim() == 1:
        x = x.reshape(-1, *([1] * (y.dim() - dim % y.dim() - 1)))
        return heights * diff(x, 1, 0) / 2
    return heights * diff(x, 1, dim) / 2


@decomposition
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The area below lines through the points."""
    return _areas(y, x, dx, dim).sum(dim)


DECOMPOSITIONS["trapz"] = trapezoid


@decomposition
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The areas so far."""
    return _areas(y, x, dx, dim).cumsum(dim)


# ---------------------------------------------------------------------- combinations


@decomposition
def cartesian_prod(*tensors: Any) -> Tensor:
    """All choices of one element of each, as rows."""
    given = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)
    if len(given) == 1:
        return given[0]  # type: ignore[no-any-return]
    return torch.stack([each.reshape(-1) for each in torch.meshgrid(*given, indexing="ij")], 1)


@decomposition
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements."""
    if not r:
        return x[:0]
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(x.shape[0]), r))
    return x[torch.tensor(rows, dtype=torch.int64).reshape(len(rows), r)]


@decomposition
def vander(x: Tensor, N: Any = None, increasing: bool = False) -> Tensor:
    """Powers of a vector's elements, as rows."""
    powers = torch.arange(x.shape[0] if N is None else N)
    return x.unsqueeze(-1) ** (powers if increasing else powers.flip(0))


@decomposition
def linalg_vander(x: Tensor, *, N: Any = None) -> Tensor:
    """Rising powers of the last dimension's elements."""
    return x.unsqueeze(-1) ** torch.arange(x.shape[-1] if N is None else N)


@decomposition
def diagflat(x: Tensor, offset: int = 0) -> Tensor:
    """A matrix with these elements on a diagonal."""
    return torch.diag_embed(x.reshape(-1), offset)


@decomposition
def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Without elements that repeat the one before."""
    if dim is not None:
        raise UnsupportedOperatorError("unique_consecutive along a dimension")
    flat = x.reshape(-1)
    new = torch.cat([torch.ones(1, dtype=torch.bool), flat[1:] != flat[:-1]])
    places = new.to(torch.int64).cumsum(0) - 1
    starts = new.nonzero().reshape(-1)
    counts = torch.cat([starts[1:], torch.full((1,), 1) * flat.shape[0]]) - starts
    return flat[new], places.reshape(x.shape), counts


# ---------------------------------------------------------------------- matrices, special functions


@decomposition
def linalg_matrix_power(x: Tensor, n: int) -> Tensor:
    """Products of a matrix with itself."""
    if n < 0:
        raise UnsupportedOperatorError("ONNX has no inverse of a matrix")
    result = torch.eye(x.shape[-1], dtype=x.dtype).expand(x.shape)
    for _ in range(n):
        result = result @ x
    return result


DECOMPOSITIONS["matrix_power"] = linalg_matrix_power


@decomposition
def linalg_multi_dot(tensors: Any) -> Tensor:
    """The product of matrices."""
    total = tensors[0]
    for each in tensors[1:]:
        total = total @ each
    return total  # type: ignore[no-any-return]


@decomposition
def slogdet(x: Tensor) -> tuple[Tensor, Tensor]:
    """The determinant's sign, and the logarithm of its size."""
    value = torch.det(x)
    return value.sign(), value.abs().log()


DECOMPOSITIONS["linalg_slogdet"] = slogdet


@decomposition
def logdet(x: Tensor) -> Tensor:
    """The determinant's logarithm."""
    return torch.det(x).log()


@decomposition
def ndtr(x: Tensor) -> Tensor:
    """The share of a normal distribution below x."""
    return torch.erfc(x * -math.sqrt(0.5)) * 0.5


@decomposition
def entr(x: Tensor) -> Tensor:
    """-x ln x."""
    return torch.where(x < 0, torch.full_like(x, -math.inf, dtype=torch.get_default_dtype()), -torch.xlogy(x, x))


@decomposition
def xlog1py(x: Any, y: Any) -> Tensor:
    """x ln(1 + y), 0 where x is."""
    value = x * torch.log1p(y)
    return torch.where(torch.as_tensor(x == 0) & ~torch.isnan(torch.as_tensor(y)), torch.zeros_like(value), value)


@decomposition
def sum_to_size(x: Tensor, *size: Any) -> Tensor:
    """Summed over what broadcasting to x's shape would repeat."""
    sizes = list(size[0]) if len(size) == 1 and isinstance(size[0], (list, tuple)) else list(size)
    lead = x.dim() - len(sizes)
    axes = [*range(lead), *(axis + lead for axis, each in enumerate(sizes) if each == 1 and x.shape[axis + lead] != 1)]
    return x.sum(axes, keepdim=True).reshape(sizes) if axes else x
