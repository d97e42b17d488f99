"""Elements by their places: indices, masks, gather and scatter, and the order of elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Dim, Var
from torch.onnx._rows import row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph

_WHOLE = 2**63 - 1


@row("getitem")
def getitem(g: Graph, x: Var, index: Any) -> Any:
    """Slices and ints first, then None, then tensors."""
    parts = list(index) if isinstance(index, tuple) else [index]
    parts = [g.constant(each) if isinstance(each, list) else each for each in parts]
    parts = [g.constant(torch.tensor(each)) if isinstance(each, bool) else each for each in parts]
    used = sum(_dimensions(each) for each in parts)
    if any(each is Ellipsis for each in parts):
        place = next(position for position, each in enumerate(parts) if each is Ellipsis)
        parts[place : place + 1] = [slice(None)] * (x.rank - used)
    else:
        parts += [slice(None)] * (x.rank - used)
    x = _slice_all(g, x, parts)
    picked, new, axis = [], [], 0  # axes of ints; places of None in the result of the ints; tensors by axis
    tensors: list[tuple[int, Var]] = []
    for each in parts:
        if each is None:
            new.append(axis - len(picked))
        elif isinstance(each, (int, Dim)) and not any(isinstance(other, Var) and other.rank for other in parts):
            picked.append(axis)
            axis += 1
        elif isinstance(each, (Var, int, Dim)):
            tensors.append((axis - len(picked), each if isinstance(each, Var) else g.number(each)))
            axis += _dimensions(each)
        else:
            axis += 1
    for axis in reversed(picked):
        index_of_axis = [each for each in parts if each is not None][_part_at(parts, axis)]
        x = _gathered(g, x, axis, g.number(index_of_axis))
    if tensors:
        return _with_nones(g, _take(g, x, tensors), parts, new, tensors)
    return g.unsqueeze(x, [place + position for position, place in enumerate(new)])


def _dimensions(part: Any) -> int:
    """How many dimensions of the tensor a part of an index uses."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, Var) and part.dtype in (torch.bool, torch.uint8):
        return part.rank
    return 1


def _part_at(parts: list[Any], axis: int) -> int:
    at = 0
    for position, part in enumerate(each for each in parts if each is not None):
        if at == axis:
            return position
        at += _dimensions(part)
    raise AssertionError


def _gathered(g: Graph, x: Var, axis: int, index: Var) -> Var:
    shape = x.shape or ()
    made = g.op("Gather", x, index, axis=axis)
    return Var(made.name, x.dtype, (*shape[:axis], *(index.shape or ()), *shape[axis + 1 :]))


def _slice_all(g: Graph, x: Var, parts: list[Any]) -> Var:
    """All slices in one node."""
    starts, ends, axes, steps, axis = [], [], [], [], 0
    shape = list(x.shape or ())
    for part in parts:
        if isinstance(part, slice) and (part.start, part.stop, part.step) not in [
            (None, None, None),
            (0, None, None),
            (None, None, 1),
        ]:
            starts.append(0 if part.start is None else part.start)
            ends.append(_WHOLE if part.stop is None else part.stop)
            axes.append(axis)
            steps.append(1 if part.step is None else part.step)
            size = shape[axis]
            dynamic = size is None or any(isinstance(each, (Dim, Var)) for each in (part.start, part.stop))
            shape[axis] = None if dynamic else len(range(*part.indices(size)))
        axis += _dimensions(part)
    if not axes:
        return x
    starts = [g.reshape(each, [1]) if isinstance(each, Var) else each for each in starts]
    return Var(g.op("Slice", x, starts, ends, axes, steps).name, x.dtype, tuple(shape))


def _take(g: Graph, x: Var, tensors: list[tuple[int, Var]]) -> Var:
    """x[..., tensor, tensor, ...]: index tensors side by side, or else in front."""
    if len(tensors) == 1 and tensors[0][1].dtype not in (torch.bool, torch.uint8):
        axis, index = tensors[0]
        return _gathered(g, x, axis, g.cast(index, torch.int64))
    axes: list[int] = []
    indices: list[Var] = []
    for axis, each in tensors:
        if each.dtype in (torch.bool, torch.uint8):
            places = g.op("NonZero", g.cast(each, torch.bool))
            rows = g.op(
                "Split", places, axis=0, outputs=each.rank, **({"num_outputs": each.rank} if g.opset >= 18 else {})
            )
            found = list(rows) if each.rank > 1 else [places]
            indices += [Var(g.squeeze(row, [0]).name, torch.int64, (None,)) for row in found]
            axes += range(axis, axis + each.rank)
        else:
            indices.append(g.cast(each, torch.int64))
            axes.append(axis)
    rest = [axis for axis in range(x.rank) if axis not in axes]
    front = g.transpose(x, [*axes, *rest])
    rank = max(each.rank for each in indices)
    if len(indices) == 1:
        joined = g.unsqueeze(indices[0], [rank])
    else:
        shape: Any = None
        for each in indices:
            shape = g.op("Mul", each, 0) if shape is None else g.op("Add", shape, g.op("Mul", each, 0))
        full = g.op("Shape", shape)
        joined = g.op("Concat", *(g.unsqueeze(g.expand(each, full), [rank]) for each in indices), axis=rank)
    taken = g.op("GatherND", front, joined, dtype=x.dtype)
    if axes == list(range(axes[0], axes[-1] + 1)):  # side by side: their dimensions stay where they were
        place = axes[0]
        order = [*range(rank, rank + place), *range(rank), *range(rank + place, rank + len(rest))]
        taken = g.transpose(taken, order)
    return taken  # type: ignore[no-any-return]


def _with_nones(g: Graph, taken: Var, parts: list[Any], new: list[int], tensors: list[tuple[int, Var]]) -> Any:
    if not new:
        return taken
    positions = [position for position, part in enumerate(parts) if isinstance(part, (Var, int, Dim))]
    if positions != list(range(positions[0], positions[-1] + 1)):
        raise NotImplementedError("None between tensors of an index")
    after = parts[positions[-1] + 1 :]
    from_end = len(g.shape) - len(after)
    axes = [axis for axis, part in enumerate(parts[: positions[0]]) if part is None]
    axes += [from_end + axis for axis, part in enumerate(after) if part is None]
    return g.unsqueeze(taken, axes)


@row("index_select")
def index_select(g: Graph, x: Var, dim: int, index: Var) -> Any:
    if x.rank == 0:
        return x
    if index.rank == 0:
        index = g.unsqueeze(index, [0])
    return g.op("Gather", x, index, axis=dim % x.rank)


@row("take")
def take(g: Graph, x: Var, index: Var) -> Any:
    return g.op("Gather", g.op("Reshape", x, [-1]), index, axis=0)


@row("gather")
def gather(g: Graph, x: Var, dim: int, index: Var, *, sparse_grad: bool = False) -> Any:
    if x.rank == 0:
        return g.expand(x, g.sizes_of(index))
    return g.op("GatherElements", x, index, axis=dim % x.rank)


@row("masked_select", data_sized=True)
def masked_select(g: Graph, x: Var, mask: Var) -> Any:
    rank = max(x.rank, mask.rank)
    if rank == 0:
        x, mask = g.unsqueeze(x, [0]), g.unsqueeze(mask, [0])
    zero = g.op("Mul", g.cast(mask, torch.int32), 0)
    both = g.op("Shape", g.op("Add", zero, g.op("Mul", g.cast(_safe(g, x), torch.int32), 0)))
    places = g.transpose(g.op("NonZero", g.expand(mask, both)), [1, 0])
    return g.op("GatherND", g.expand(x, both), places, dtype=x.dtype)


def _safe(g: Graph, x: Var) -> Var:
    """A tensor of x's shape that can be cast to integers, whatever x holds."""
    return g.op("IsNaN", x) if x.dtype.is_floating_point else x  # type: ignore[no-any-return]


@row("nonzero", "argwhere", data_sized=True)
def nonzero(g: Graph, x: Var, *, as_tuple: bool = False) -> Any:
    if x.rank == 0:
        x = g.unsqueeze(x, [0])
    places = g.op("NonZero", x)
    if not as_tuple:
        return g.transpose(places, [1, 0])
    count = len(g.results)
    return [g.squeeze(each, [0]) for each in g.split(places, [1] * count, 0)]


def _scattered(g: Graph, x: Var, dim: int, index: Var, source: Any, reduction: str) -> Any:
    if x.rank == 0:
        flat = _scattered(
            g, _one(g, x), 0, _one(g, index), _one(g, source) if isinstance(source, Var) else source, reduction
        )
        return g.reshape(flat, [])
    if isinstance(source, Var) and source.rank:
        if source.shape != index.shape or None in (index.shape or ()):
            ends = [g.size_of(index, axis) for axis in range(index.rank)]
            source = g.op("Slice", source, [0] * index.rank, ends, list(range(index.rank)))
        updates = g.cast(source, x.dtype)
    else:
        updates = g.expand(g.cast(source, x.dtype), g.sizes_of(index))
    return g.op("ScatterElements", x, index, updates, axis=dim % x.rank, reduction=reduction)


def _one(g: Graph, x: Var) -> Var:
    return Var(g.reshape(x, [1]).name, x.dtype, (1,)) if x.rank == 0 else x


@row("scatter")
def scatter(
    g: Graph, x: Var, dim: int, index: Var, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Any:
    names = {None: "none", "add": "add", "multiply": "mul"}
    return _scattered(g, x, dim, index, value if src is None else src, names[reduce])


@row("scatter_add")
def scatter_add(g: Graph, x: Var, dim: int, index: Var, src: Any) -> Any:
    return _scattered(g, x, dim, index, src, "add")


@row("scatter_reduce")
def scatter_reduce(g: Graph, x: Var, dim: int, index: Var, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    names = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
    if reduce not in names or (reduce in ("amax", "amin") and g.opset < 18):
        raise NotImplementedError(f"reduce={reduce!r}")
    if not include_self:
        limits = torch.finfo(x.dtype) if x.dtype.is_floating_point else torch.iinfo(x.dtype)
        neutral = {"sum": 0, "prod": 1, "amax": limits.min, "amin": limits.max}[reduce]
        x = Var(_scattered(g, x, dim, index, neutral, "none").name, x.dtype, x.shape)
    return _scattered(g, x, dim, index, src, names[reduce])


def _spread(g: Graph, x: Var, dim: int, index: Var, source: Var) -> Var:
    """`index` of one dimension, in the shape of `source`."""
    axis = dim % x.rank
    return g.expand(
        g.unsqueeze(_one(g, index), [other for other in range(x.rank) if other != axis]), g.sizes_of(source)
    )


@row("index_add")
def index_add(g: Graph, x: Var, dim: int, index: Var, source: Var, *, alpha: Any = 1) -> Any:
    if alpha != 1:
        source = Var(g.op("Mul", source, g.cast(alpha, source.dtype)).name, source.dtype, source.shape)
    return g.op("ScatterElements", x, _spread(g, x, dim, index, source), source, axis=dim % x.rank, reduction="add")


@row("index_copy")
def index_copy(g: Graph, x: Var, dim: int, index: Var, source: Var) -> Any:
    return g.op("ScatterElements", x, _spread(g, x, dim, index, source), source, axis=dim % x.rank)


@row("index_fill")
def index_fill(g: Graph, x: Var, dim: int, index: Var, value: Any) -> Any:
    axis = dim % x.rank
    slices = g.op("Gather", x, _one(g, index), axis=axis)
    filled = g.expand(g.cast(value, x.dtype), g.op("Shape", slices))
    return g.op("ScatterElements", x, _spread(g, x, dim, index, Var(slices.name, x.dtype, None)), filled, axis=axis)


@row("one_hot")
def one_hot(g: Graph, x: Var, num_classes: int = -1) -> Any:
    if isinstance(num_classes, int) and num_classes < 0:
        raise NotImplementedError("without num_classes")
    return g.op("OneHot", x, g.number(num_classes, one=True), g.constant([0, 1]), axis=-1, dtype=torch.int64)


# ---------------------------------------------------------------------- triangles and diagonals


def _triangle(name: str, upper: int) -> None:
    @row(name)
    def translate(g: Graph, x: Var, diagonal: Any = 0) -> Any:
        work = g.cast(x, torch.int32) if x.dtype == torch.bool else x
        return g.op("Trilu", work, g.number(diagonal), upper=upper)


_triangle("tril", 0)
_triangle("triu", 1)


@row("diagonal")
def diagonal(g: Graph, x: Var, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    first, second = dim1 % x.rank, dim2 % x.rank
    size = g.shape[-1]
    if size is None:
        raise NotImplementedError("of dynamic sizes")
    rest = [axis for axis in range(x.rank) if axis not in (first, second)]
    front = g.transpose(x, [first, second, *rest])
    steps = torch.arange(size)
    places = torch.stack([steps + max(-offset, 0), steps + max(offset, 0)], 1)
    picked = g.op("GatherND", front, g.constant(places), dtype=x.dtype)
    return g.transpose(picked, [*range(1, len(rest) + 1), 0])


@row("diag")
def diag(g: Graph, x: Var, diagonal_: int = 0, **named: Any) -> Any:
    offset = named.get("diagonal", diagonal_)
    return diagonal(g, x, offset) if x.rank == 2 else diag_embed(g, x, offset)


@row("diag_embed")
def diag_embed(g: Graph, x: Var, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    size = x.size(-1) + abs(offset)
    rank = x.rank + 1
    mask = torch.zeros(x.size(-1), size, size, dtype=torch.bool)
    steps = torch.arange(x.size(-1))
    mask[steps, steps + max(-offset, 0), steps + max(offset, 0)] = True
    spread = g.unsqueeze(x, [rank - 1, rank])
    matrix = g.op("Where", g.constant(mask), spread, g.constant(0, x.dtype), dtype=x.dtype)
    if x.dtype == torch.bool:
        matrix = g.cast(matrix, torch.int32)
    summed = g.reduce("ReduceSum", matrix, [rank - 2], False)
    order = list(range(rank - 2))
    first, second = dim1 % rank, dim2 % rank
    for place, axis in sorted([(first, rank - 2), (second, rank - 1)]):
        order.insert(place, axis)
    return g.transpose(g.cast(summed, x.dtype), order)


# ---------------------------------------------------------------------- order


@row("topk")
def topk(g: Graph, x: Var, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if x.rank == 0:
        return [x, g.constant(0)]
    values, indices = g.op(
        "TopK", x, g.number(k, one=True), axis=dim % x.rank, largest=int(largest), sorted=1, outputs=2
    )
    return [values, Var(indices.name, torch.int64)]


def _sorted(g: Graph, x: Var, dim: int, descending: bool) -> list[Var]:
    size = g.size_of(x, dim)
    work = g.cast(x, torch.int32) if x.dtype == torch.bool else x
    values, indices = g.op("TopK", work, [size], axis=dim % x.rank, largest=int(descending), sorted=1, outputs=2)
    return [g.cast(values, x.dtype), Var(indices.name, torch.int64)]


@row("sort", "msort")
def sort(g: Graph, x: Var, dim: int | None = None, descending: bool = False, stable: bool = False) -> Any:
    if x.rank == 0:
        return [x, g.constant(0)][: len(g.results)]
    axis = (0 if len(g.results) == 1 else -1) if dim is None else dim
    return _sorted(g, x, axis, descending)[: len(g.results)]


@row("argsort")
def argsort(g: Graph, x: Var, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return _sorted(g, x, dim, descending)[1] if x.rank else g.constant(0)


@row("kthvalue")
def kthvalue(g: Graph, x: Var, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if x.rank == 0:
        return [x, g.constant(0)]
    axis = dim % x.rank
    parts = g.op("TopK", x, [k], axis=axis, largest=0, sorted=1, outputs=2)
    last = [g.slice(part, axis, k - 1, k) for part in (parts[0], Var(parts[1].name, torch.int64))]
    return last if keepdim else [g.squeeze(part, [axis]) for part in last]


@row("bucketize")
def bucketize(g: Graph, x: Var, boundaries: Var, *, out_int32: bool = False, right: bool = False) -> Any:
    return searchsorted(g, boundaries, x, right=right)


@row("searchsorted")
def searchsorted(g: Graph, bounds: Var, x: Any, *, right: bool = False, side: str | None = None, **_: Any) -> Any:
    if isinstance(x, Var) and bounds.rank > 1:
        bounds = Var(g.unsqueeze(bounds, [bounds.rank - 1]).name, bounds.dtype)
    x = g.unsqueeze(x, [x.rank]) if isinstance(x, Var) else g.constant([x], bounds.dtype)
    kind = torch.promote_types(x.dtype, bounds.dtype)
    after = g.op("LessOrEqual" if right or side == "right" else "Less", g.cast(bounds, kind), g.cast(x, kind))
    return g.reduce("ReduceSum", g.cast(after, torch.int64), [-1], False)


@row("linalg_diagonal")
def linalg_diagonal(g: Graph, x: Var, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    return diagonal(g, x, offset, dim1, dim2)
