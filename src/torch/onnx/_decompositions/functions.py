"""Indexing, stacking, distances, products, cells."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.onnx._decompositions.table import DECOMPOSITIONS, decomposition
from torch.onnx.errors import UnsupportedOperatorError


@decomposition
def setitem(x: Tensor, index: Any, value: Any) -> Tensor:
    """x[index] = value, as a new tensor: a choice for a mask, else a scatter to the places that the index has."""
    source = value.to(x.dtype) if isinstance(value, Tensor) else torch.full((), value, dtype=x.dtype)
    if isinstance(index, Tensor) and index.dtype == torch.bool and source.numel() == 1:
        mask = index.reshape(*index.shape, *([1] * (x.dim() - index.dim())))
        return torch.where(mask, source.reshape(()), x)
    places = torch.arange(x.numel()).reshape(x.shape)[index]
    while source.dim() > places.dim():
        source = source.squeeze(0)
    updates = source.expand(places.shape)
    return x.reshape(-1).scatter(0, places.reshape(-1), updates.reshape(-1)).reshape(x.shape)


@decomposition
def index_put(x: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """x[indices] = values; `accumulate`: added to what is there."""
    index = tuple(slice(None) if each is None else each for each in indices)
    if not accumulate:
        return setitem(x, index, values)  # type: ignore[no-any-return]
    places = torch.arange(x.numel()).reshape(x.shape)[index]
    updates = values.to(x.dtype).expand(places.shape)
    return x.reshape(-1).scatter_add(0, places.reshape(-1), updates.reshape(-1)).reshape(x.shape)


@decomposition
def masked_scatter(x: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of `source`, in their order, where the mask is true."""
    mask = mask.expand(x.shape)
    places = (mask.reshape(-1).to(torch.int64).cumsum(0) - 1).clamp(min=0)
    return torch.where(mask, source.reshape(-1)[places].reshape(x.shape), x)


@decomposition
def repeat_interleave(x: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Every element, or slice, as often as `repeats` says."""
    if repeats is None:
        raise UnsupportedOperatorError("repeat_interleave of counts alone")
    if dim is None:
        x, dim = x.reshape(-1), 0
    axis = dim % x.dim()
    if not isinstance(repeats, Tensor):
        sizes = list(x.shape)
        wide = x.unsqueeze(axis + 1).expand(*sizes[: axis + 1], repeats, *sizes[axis + 1 :])
        return wide.reshape(*sizes[:axis], sizes[axis] * repeats, *sizes[axis + 1 :])
    steps = torch.arange(x.shape[axis])
    ends = repeats.cumsum(0)
    total = repeats.sum() if output_size is None else output_size
    places = torch.searchsorted(ends, torch.arange(total), right=True) if output_size is not None else None
    if places is None:
        raise UnsupportedOperatorError("repeat_interleave of a tensor of counts needs output_size")
    return x.index_select(axis, steps[places])


@decomposition
def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor]:
    """Sums (mode 0), means (1) or maxima (2) of bags of rows, each row's bag, and how many rows a bag has."""
    bags = offsets.shape[0] - int(include_last_offset)
    owners = torch.searchsorted(offsets[:bags], torch.arange(indices.shape[0]), right=True) - 1
    counted = (indices != padding_idx).to(weight.dtype)
    sizes = torch.zeros([bags], dtype=weight.dtype).index_add(0, owners, counted)
    rows = weight.index_select(0, indices)
    if mode == 2:
        rows = torch.where(counted.unsqueeze(1) == 0, torch.full((), float("-inf"), dtype=weight.dtype), rows)
        lowest = torch.full([bags, weight.shape[1]], float("-inf"), dtype=weight.dtype)
        largest = lowest.scatter_reduce(0, owners.unsqueeze(1).expand(rows.shape), rows, "amax")
        return torch.where(sizes.unsqueeze(1) == 0, torch.zeros((), dtype=weight.dtype), largest), owners, sizes
    factors = counted if per_sample_weights is None else counted * per_sample_weights
    sums = torch.zeros([bags, weight.shape[1]], dtype=weight.dtype).index_add(0, owners, rows * factors.unsqueeze(1))
    return (sums / sizes.clamp(min=1).unsqueeze(1) if mode == 1 else sums), owners, sizes


@decomposition
def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """`gather`, with broadcasting."""
    if dim is None:
        return x.reshape(-1).gather(0, indices.reshape(-1))
    axis = dim % x.dim()
    sizes = list(
        torch.broadcast_shapes(
            *(tuple(1 if at == axis else size for at, size in enumerate(each.shape)) for each in (x, indices))
        )
    )
    of_x, of_indices = list(sizes), list(sizes)
    of_x[axis], of_indices[axis] = x.shape[axis], indices.shape[axis]
    return x.expand(of_x).gather(axis, indices.expand(of_indices))


@decomposition
def hstack(tensors: Any) -> Tensor:
    """Side by side."""
    parts = [torch.atleast_1d(each) for each in tensors]
    return torch.cat(parts, 0 if parts[0].dim() == 1 else 1)


@decomposition
def vstack(tensors: Any) -> Tensor:
    """One below the other."""
    return torch.cat([torch.atleast_2d(each) for each in tensors], 0)


DECOMPOSITIONS["row_stack"] = vstack


@decomposition
def dstack(tensors: Any) -> Tensor:
    """One behind the other."""
    return torch.cat([torch.atleast_3d(each) for each in tensors], 2)


@decomposition
def column_stack(tensors: Any) -> Tensor:
    """Vectors as columns."""
    return torch.cat([each.reshape(-1, 1) if each.dim() < 2 else each for each in tensors], 1)


@decomposition
def softmin(x: Tensor, dim: int, dtype: Any = None, **_: Any) -> Tensor:
    """The softmax of -x."""
    return torch.softmax(-x, dim, dtype=dtype)


@decomposition
def tanhshrink(x: Tensor) -> Tensor:
    """x - tanh(x)."""
    return x - x.tanh()


@decomposition
def logaddexp2(a: Tensor, b: Tensor) -> Tensor:
    """log2(2**a + 2**b)."""
    high, low = torch.maximum(a, b), torch.minimum(a, b)
    return high + torch.log2(1 + torch.exp2(low - high))


@decomposition
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors."""
    lengths = [(each * each).sum(dim).sqrt().clamp(min=eps) for each in (x1, x2)]
    return (x1 * x2).sum(dim) / (lengths[0] * lengths[1])


@decomposition
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norms of differences."""
    return torch.norm(x1 - x2 + eps, p, -1, keepdim)


@decomposition
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """The distances between all pairs."""
    return torch.norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


@decomposition
def matrix_norm(
    x: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The Frobenius norm, or the largest sum of columns or rows."""
    x = x if dtype is None else x.to(dtype)
    first, second = (each % x.dim() for each in dim)
    if ord == "fro":
        return (x * x).sum((first, second), keepdim).sqrt()
    if ord not in (1, -1, float("inf"), float("-inf")):
        raise UnsupportedOperatorError(f"matrix_norm with ord={ord!r} has no form in ONNX")
    along, then = (first, second) if abs(ord) == 1 else (second, first)
    sums = x.abs().sum(along, keepdim=True)
    ends = sums.amax(then, keepdim=True) if ord > 0 else sums.amin(then, keepdim=True)
    return ends if keepdim else ends.squeeze((first, second))


DECOMPOSITIONS["linalg_matrix_norm"] = matrix_norm


@decomposition
def inner(a: Tensor, b: Tensor) -> Tensor:
    """Products of last dimensions."""
    return a * b if a.dim() == 0 or b.dim() == 0 else torch.tensordot(a, b, ([-1], [-1]))


@decomposition
def diff(x: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours."""
    x = torch.cat([each for each in (prepend, x, append) if each is not None], dim)
    for _ in range(n):
        size = x.shape[dim]
        if size == 0:
            break
        later, earlier = x.narrow(dim, 1, size - 1), x.narrow(dim, 0, size - 1)
        x = later ^ earlier if x.dtype == torch.bool else later - earlier
    return x


@decomposition
def linalg_vecdot(a: Tensor, b: Tensor, *, dim: int = -1) -> Tensor:
    """Sums of products."""
    return (a * b).sum(dim)


@decomposition
def linalg_norm(x: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Of vectors, or of matrices where `dim` has two and `ord` is given."""
    axes = None if dim is None else list(dim) if isinstance(dim, (list, tuple)) else [dim]
    if ord is None or (axes is not None and len(axes) == 1) or (axes is None and x.dim() == 1):
        return torch.linalg.vector_norm(x, 2 if ord is None else ord, axes, keepdim, dtype=dtype)
    return matrix_norm(x, ord, axes or (-2, -1), keepdim, dtype=dtype)  # type: ignore[no-any-return]


@decomposition
def frobenius_norm(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The root of the sum of squares."""
    return torch.linalg.vector_norm(x, 2, dim or None, keepdim)


def _add_scatter(name: str, look: Any) -> None:
    def scatter(x: Tensor, source: Tensor, *arguments: Any, **named: Any) -> Tensor:
        places = look(torch.arange(x.numel()).reshape(x.shape), *arguments, **named)
        updates = source.to(x.dtype).expand(places.shape)
        return x.reshape(-1).scatter(0, places.reshape(-1), updates.reshape(-1)).reshape(x.shape)

    DECOMPOSITIONS[name] = scatter


def _slice(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]


_add_scatter("select_scatter", torch.select)
_add_scatter("slice_scatter", _slice)
_add_scatter("diagonal_scatter", torch.diagonal)


def _add_splits(name: str, axis: int) -> None:
    def split(x: Tensor, sections: Any) -> Any:
        return torch.tensor_split(x, sections, axis if x.dim() > 1 else 0)

    DECOMPOSITIONS[name] = split


_add_splits("vsplit", 0)
_add_splits("hsplit", 1)
_add_splits("dsplit", 2)


def _gates(x: Tensor, hidden: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any, b_hh: Any) -> tuple[Tensor, Tensor]:
    return torch.nn.functional.linear(x, w_ih, b_ih), torch.nn.functional.linear(hidden, w_hh, b_hh)


@decomposition
def lstm_cell(
    x: Tensor, hx: Any, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None
) -> tuple[Tensor, Tensor]:
    """One step: the next hidden state and the next memory."""
    hidden, memory = hx
    entry, forget, candidate, exit = sum(_gates(x, hidden, w_ih, w_hh, b_ih, b_hh)).chunk(4, -1)  # type: ignore[union-attr]
    memory = forget.sigmoid() * memory + entry.sigmoid() * candidate.tanh()
    return exit.sigmoid() * memory.tanh(), memory


@decomposition
def gru_cell(x: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step: the next hidden state."""
    of_x, of_hidden = (each.chunk(3, -1) for each in _gates(x, hx, w_ih, w_hh, b_ih, b_hh))
    reset, update = ((of_x[part] + of_hidden[part]).sigmoid() for part in (0, 1))
    candidate = (of_x[2] + of_hidden[2] * reset).tanh()
    return (hx - candidate) * update + candidate


@decomposition
def rnn_tanh_cell(x: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step: the next hidden state."""
    return sum(_gates(x, hx, w_ih, w_hh, b_ih, b_hh)).tanh()  # type: ignore[union-attr]


@decomposition
def rnn_relu_cell(x: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step: the next hidden state."""
    return sum(_gates(x, hx, w_ih, w_hh, b_ih, b_hh)).relu()  # type: ignore[union-attr]


@decomposition
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along a diagonal."""
    parts = [torch.atleast_2d(each) for each in (tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors)]
    width = sum(each.shape[1] for each in parts)
    rows, left = [], 0
    for each in parts:
        rows.append(torch.nn.functional.pad(each, (left, width - left - each.shape[1])))
        left += each.shape[1]
    return torch.cat(rows, 0)


@decomposition
def trace(x: Tensor) -> Tensor:
    """The sum of the diagonal."""
    return torch.diagonal(x).sum()


@decomposition
def kron(a: Tensor, b: Tensor) -> Tensor:
    """The Kronecker product."""
    rank = max(a.dim(), b.dim())
    a, b = (each.reshape(*([1] * (rank - each.dim())), *each.shape) for each in (a, b))
    left, right = a, b
    for axis in range(rank):
        left, right = left.unsqueeze(2 * axis + 1), right.unsqueeze(2 * axis)
    sizes = [x * y for x, y in zip(a.shape, b.shape, strict=True)]
    return (left * right).reshape(sizes)


@decomposition
def renorm(x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Slices whose norm is greater than `maxnorm` are made as long as that."""
    others = [axis for axis in range(x.dim()) if axis != dim % x.dim()]
    norms = torch.linalg.vector_norm(x, p, others, True)
    return torch.where(norms > maxnorm, x * (maxnorm / (norms + 1e-7)), x)
