"""Functions that rearrange elements, and leave them as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Dim, Var
from torch.onnx._rows import listed, row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph

_WHOLE = 2**63 - 1


@row("view", "reshape", "view_as", "reshape_as", "_unsafe_view")
def view(g: Graph, x: Var, *shape: Any, size: Any = None) -> Any:
    sizes = listed(shape) if size is None else list(size)
    if len(sizes) == 1 and isinstance(sizes[0], torch.dtype):
        raise NotImplementedError("a view as another dtype")
    if len(sizes) == 1 and isinstance(sizes[0], Var) and sizes[0].rank != 0:
        return g.op("Reshape", x, g.sizes_of(sizes[0]), allowzero=1)
    known = [given if isinstance(given, Dim) or (result is None and isinstance(given, int)) else result
             for given, result in zip(sizes, g.shape, strict=True)]  # fmt: skip
    if known.count(None) == 1 and -1 not in known:
        known[known.index(None)] = -1
    # One size may be left to the runtime: better than arithmetic of sizes.
    if -1 not in known and sum(isinstance(each, Dim) for each in known) == 1:
        known = [-1 if isinstance(each, Dim) else each for each in known]
    return g.reshape(x, known)


@row("flatten")
def flatten(g: Graph, x: Var, start_dim: int = 0, end_dim: int = -1) -> Any:
    if x.rank == 0:
        return g.reshape(x, [1])
    start, end = start_dim % x.rank, end_dim % x.rank
    if start == end:
        return x
    return _regroup(g, x, start, end, [-1])


def _regroup(g: Graph, x: Var, start: int, end: int, middle: list[Any]) -> Any:
    """Dimensions start to end become `middle`."""
    before, after = (
        [g.size_of(x, axis) for axis in range(start)],
        [g.size_of(x, axis) for axis in range(end + 1, x.rank)],
    )
    if not any(isinstance(each, Var) for each in after):
        before = [0 if isinstance(each, Var) else each for each in before]  # Reshape takes the input's size for 0
        if 0 not in (x.shape or ()) and 0 not in g.shape:
            return g.op("Reshape", x, g.sizes([*before, *middle, *after]))
        before = [g.size_of(x, axis) for axis in range(start)]
    sizes = [*before, *middle, *after]
    if -1 in middle and 0 in g.shape and None not in g.shape:
        sizes = list(g.shape)
    return g.reshape(x, sizes)


@row("unflatten")
def unflatten(g: Graph, x: Var, dim: int, sizes: Any) -> Any:
    axis = dim % x.rank
    known = [Dim_or(given, g.shape[axis + index]) for index, given in enumerate(sizes)]
    return _regroup(g, x, axis, axis, known)


def Dim_or(given: Any, result: int | None) -> Any:
    """A size as it was given where it is dynamic, otherwise as it came out."""
    return given if isinstance(given, Dim) or result is None else result


@row("ravel")
def ravel(g: Graph, x: Var) -> Any:
    return g.op("Reshape", x, [-1])


@row("squeeze")
def squeeze(g: Graph, x: Var, dim: Any = None) -> Any:
    assert x.shape is not None
    asked = (
        range(x.rank)
        if dim is None
        else [each % max(x.rank, 1) for each in (dim if isinstance(dim, (list, tuple)) else [dim])]
    )
    return g.squeeze(x, [axis for axis in asked if x.rank and x.shape[axis] == 1])


@row("unsqueeze")
def unsqueeze(g: Graph, x: Var, dim: int) -> Any:
    return g.unsqueeze(x, [dim % (x.rank + 1)])


def _swapped(rank: int, first: int, second: int) -> list[int]:
    order = list(range(rank))
    if rank:
        order[first], order[second] = order[second], order[first]
    return order


@row("transpose", "swapaxes", "swapdims")
def transpose(g: Graph, x: Var, dim0: int, dim1: int) -> Any:
    return g.transpose(x, _swapped(x.rank, dim0, dim1))


@row("t", "T", "H", "mT", "mH", "adjoint")
def matrix_transpose(g: Graph, x: Var) -> Any:
    return g.transpose(x, _swapped(x.rank, -1, -2)) if x.rank > 1 else x


@row("permute")
def permute(g: Graph, x: Var, *dims: Any, **named: Any) -> Any:
    order = named["dims"] if "dims" in named else listed(dims)
    return g.transpose(x, [each % x.rank for each in order])


@row("movedim", "moveaxis")
def movedim(g: Graph, x: Var, source: Any, destination: Any) -> Any:
    pairs = zip(*((each if isinstance(each, (list, tuple)) else [each]) for each in (source, destination)), strict=True)
    moved = {to % x.rank: origin % x.rank for origin, to in pairs}
    rest = iter([axis for axis in range(x.rank) if axis not in moved.values()])
    return g.transpose(x, [moved[axis] if axis in moved else next(rest) for axis in range(x.rank)])


@row("expand", "broadcast_to")
def expand(g: Graph, x: Var, *sizes: Any, size: Any = None, implicit: bool = False) -> Any:
    given = listed(sizes) if size is None else list(size)
    # 1 leaves a dimension as it is.
    return g.expand(x, [1 if not isinstance(each, Dim) and each == -1 else each for each in given])


@row("expand_as")
def expand_as(g: Graph, x: Var, other: Var) -> Any:
    return g.expand(x, g.sizes_of(other))


@row("broadcast_tensors")
def broadcast_tensors(g: Graph, *tensors: Any) -> Any:
    each_of = listed(tensors)
    if None not in g.shape:
        return [g.expand(each, list(g.shape)) for each in each_of]
    total = each_of[0]
    for each in each_of[1:]:
        total = g.op("Add", g.op("Mul", g.cast(total, torch.int64), 0), g.op("Mul", g.cast(each, torch.int64), 0))
    return [g.expand(each, g.op("Shape", total)) for each in each_of]


@row("repeat", "tile")
def repeat(g: Graph, x: Var, *sizes: Any, repeats: Any = None, dims: Any = None) -> Any:
    counts = list(repeats or dims or ()) or listed(sizes)
    counts = [1] * (x.rank - len(counts)) + counts
    x = g.unsqueeze(x, range(len(counts) - x.rank)) if len(counts) > x.rank else x
    return g.op("Tile", x, counts) if counts else x


@row("cat", "concat", "concatenate")
def cat(g: Graph, tensors: Any, dim: int = 0, **named: Any) -> Any:
    axis = named.get("axis", dim)
    rank = len(g.shape)
    # torch lets empty tensors of one dimension pass.
    kept = [g.cast(each, g.dtype) for each in tensors if not (each.shape == (0,) and rank != 1)]
    return g.op("Concat", *kept, axis=axis % rank) if len(kept) > 1 else kept[0]


@row("stack")
def stack(g: Graph, tensors: Any, dim: int = 0) -> Any:
    axis = dim % len(g.shape)
    return g.op("Concat", *(g.unsqueeze(g.cast(each, g.dtype), [axis]) for each in tensors), axis=axis)


@row("split", "split_with_sizes", "chunk", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "tensor_split")
def split(g: Graph, x: Var, sizes: Any, dim: int = 0, **_: Any) -> Any:
    axis = dim % x.rank
    parts = [each.shape[axis] for each in g.results]
    if None not in parts:
        return g.split(x, parts, axis)
    if isinstance(sizes, (list, tuple)) and len(sizes) == len(parts):
        return g.split(x, [Dim_or(given, part) for given, part in zip(sizes, parts, strict=True)], axis)
    raise NotImplementedError("how many parts there are depends on a dynamic size")


@row("unbind")
def unbind(g: Graph, x: Var, dim: int = 0) -> Any:
    axis = dim % x.rank
    x.size(axis)
    return [g.squeeze(part, [axis]) for part in g.split(x, [1] * len(g.results), axis)]


@row("select")
def select(g: Graph, x: Var, dim: int, index: Any) -> Any:
    if isinstance(index, Var):
        index = g.reshape(index, [])
        return g.op("Gather", x, index, axis=dim % x.rank)
    return g.op("Gather", x, g.number(index), axis=dim % x.rank)


@row("narrow")
def narrow(g: Graph, x: Var, dim: int, start: Any, length: Any) -> Any:
    begin, count = g.number(start, one=True), g.number(length, one=True)
    if isinstance(start, int) and isinstance(length, int):
        if start < 0 and start + length >= 0:
            return g.slice(x, dim % x.rank, start, _WHOLE)
        return g.slice(x, dim % x.rank, start, start + length)
    return g.op("Slice", x, begin, g.op("Add", begin, count), [dim % x.rank])


@row("slice")
def slice_(g: Graph, x: Var, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return g.slice(x, dim % x.rank, 0 if start is None else start, _WHOLE if end is None else end, step)


@row("flip")
def flip(g: Graph, x: Var, *dims: Any, **named: Any) -> Any:
    axes = [each % x.rank for each in (named["dims"] if "dims" in named else listed(dims))]
    if not axes:
        return x
    count = len(axes)
    return g.op("Slice", x, [-1] * count, [-_WHOLE] * count, axes, [-1] * count)


@row("fliplr")
def fliplr(g: Graph, x: Var) -> Any:
    return flip(g, x, 1)


@row("flipud")
def flipud(g: Graph, x: Var) -> Any:
    return flip(g, x, 0)


@row("roll")
def roll(g: Graph, x: Var, shifts: Any, dims: Any = ()) -> Any:
    shift_of = list(shifts) if isinstance(shifts, (list, tuple)) else [shifts]
    axes = list(dims) if isinstance(dims, (list, tuple)) else [dims]
    if not axes:
        flat = roll(g, Var(g.op("Reshape", x, [-1]).name, x.dtype, (None,)), shifts, 0)
        return g.op("Reshape", flat, g.sizes_of(x))
    for shift, dim in zip(shift_of, axes, strict=True):
        axis, size = dim % x.rank, (x.shape or ())[dim]
        if size is not None and isinstance(shift, int):
            shift = shift % size if size else 0
            if not shift:
                continue
        begin = -shift if isinstance(shift, int) else g.op("Neg", g.number(shift, one=True))
        rolled = g.op("Concat", g.slice(x, axis, begin, _WHOLE), g.slice(x, axis, 0, begin), axis=axis)
        x = Var(rolled.name, x.dtype, x.shape)
    return x


@row("rot90")
def rot90(g: Graph, x: Var, k: int = 1, dims: Any = (0, 1)) -> Any:
    first, second = dims
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return flip(g, x, first, second)
    order = _swapped(x.rank, first, second)
    return (
        g.transpose(flip(g, x, second), order)
        if k % 4 == 1
        else flip(g, Var(g.transpose(x, order).name, x.dtype, x.shape), second)
    )


@row("pad")
def pad(g: Graph, x: Var, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    return _pad(g, x, pad, mode, value)


@row("constant_pad_nd")
def constant_pad_nd(g: Graph, x: Var, pad: Any, value: Any = 0) -> Any:
    return _pad(g, x, pad, "constant", value)


def _pad(g: Graph, x: Var, pad: Any, mode: str, value: Any) -> Any:
    names = {"replicate": "edge", "circular": "wrap"}
    missing = x.rank - len(pad) // 2
    before = [0] * missing + list(pad[::2])[::-1]
    after = [0] * missing + list(pad[1::2])[::-1]
    if mode == "circular" and g.opset < 19:
        for axis in range(x.rank):
            parts = [x]
            if before[axis]:
                parts.insert(0, g.slice(x, axis, -before[axis], _WHOLE))
            if after[axis]:
                parts.append(g.slice(x, axis, 0, after[axis]))
            x = g.op("Concat", *parts, axis=axis) if len(parts) > 1 else x
        return x
    if x.dtype == torch.bool:
        filled = g.pad(g.cast(x, torch.int32), before, after, names.get(mode, mode), int(bool(value)))
        return g.cast(filled, torch.bool)
    return g.pad(x, before, after, names.get(mode, mode), 0 if value is None else value)


@row("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def reflection_pad(g: Graph, x: Var, padding: Any) -> Any:
    return _pad(g, x, padding, "reflect", None)


@row("replication_pad1d", "replication_pad2d", "replication_pad3d")
def replication_pad(g: Graph, x: Var, padding: Any) -> Any:
    return _pad(g, x, padding, "replicate", None)


@row(
    "to",
    "type",
    "type_as",
    "float",
    "double",
    "half",
    "bfloat16",
    "int",
    "long",
    "short",
    "char",
    "byte",
    "bool",
    "cpu",
    "cuda",
)
def to(g: Graph, x: Var, *_: Any, **__: Any) -> Any:
    # What they are about, the dtype, is the result's; devices are the runtime's business.
    if x.dtype.is_floating_point and g.dtype in (torch.uint8, torch.int8, torch.int16):
        return g.cast(g.cast(x, torch.int64), g.dtype)
    return g.cast(x, g.dtype)


@row("copy")
def copy(g: Graph, target: Var, source: Any, non_blocking: bool = False) -> Any:
    return g.expand(g.cast(source, target.dtype), g.sizes_of(target))


@row("pixel_shuffle")
def pixel_shuffle(g: Graph, x: Var, upscale_factor: int) -> Any:
    return _with_one_batch(g, x, lambda y: g.op("DepthToSpace", y, blocksize=upscale_factor, mode="CRD"))


@row("pixel_unshuffle")
def pixel_unshuffle(g: Graph, x: Var, downscale_factor: int) -> Any:
    block = downscale_factor
    height, width = x.size(-2) // block, x.size(-1) // block
    parts = g.reshape(x, [-1, x.size(-3), height, block, width, block])
    return g.to_result(g.transpose(parts, [0, 1, 3, 5, 2, 4]))


def _with_one_batch(g: Graph, x: Var, function: Any) -> Any:
    """`function` of (N, C, H, W), for (*, C, H, W)."""
    if x.rank == 4:
        return function(x)
    assert x.shape is not None
    return g.to_result(function(g.reshape(x, [-1, *(x.size(axis) for axis in range(x.rank - 3, x.rank))])))


@row("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(g: Graph, x: Var, groups: int) -> Any:
    channels = x.size(1)
    parts = g.op("Reshape", x, [0, groups, channels // groups, -1])
    turned = g.transpose(parts, [0, 2, 1, 3])
    return g.op("Reshape", turned, g.sizes([g.size_of(x, axis) for axis in range(x.rank)]))


@row("unfold")
def unfold(g: Graph, x: Var, *arguments: Any, **named: Any) -> Any:
    if isinstance(arguments[0], (tuple, list)) or "kernel_size" in named or len(arguments) > 3:
        raise NotImplementedError("windows of images")
    dimension, size, step = (*arguments, *named.values())
    if x.rank == 0:
        return g.reshape(x, [1])
    axis = dimension % x.rank
    order = [*range(axis + 1), *range(axis + 2, x.rank + 1), axis + 1]
    return g.transpose(g.op("Gather", x, g.windows(g.size_of(x, axis), size, step), axis=axis), order)


@row("as_strided")
def as_strided(g: Graph, x: Var, size: Any, stride: Any, storage_offset: int = 0) -> Any:
    total = 1
    for axis in range(x.rank):
        total *= x.size(axis)
    places = torch.arange(storage_offset + total).as_strided(list(size), list(stride), storage_offset)
    return g.op("Gather", g.op("Reshape", x, [-1]), g.constant(places.contiguous()), axis=0)


@row("real", "conj", "resolve_conj", "resolve_neg")
def real(g: Graph, x: Var) -> Any:
    return x


@row("atleast_1d", "atleast_2d", "atleast_3d")
def atleast(g: Graph, *tensors: Any) -> Any:
    given = listed(tensors)
    if len(given) == 1 and len(g.results) == 1:
        return _at_least(g, given[0])
    if len({len(each.shape) for each in g.results}) > 1:
        raise NotImplementedError("several tensors of different dimensions")
    return [_at_least(g, each) for each in given]


def _at_least(g: Graph, x: Var) -> Any:
    if x.rank == len(g.shape):
        return x
    return g.unsqueeze(x, {0: range(len(g.shape)), 1: [0] if len(g.shape) == 2 else [0, 2], 2: [2]}[x.rank])


@row("meshgrid")
def meshgrid(g: Graph, *tensors: Any, indexing: str = "ij") -> Any:
    vectors = listed(tensors)
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    shape = [g.size_of(vectors[axis], 0) if vectors[axis].rank else 1 for axis in order]
    full = g.sizes(shape)
    made = []
    for axis, each in enumerate(vectors):
        column = [1] * len(vectors)
        column[order.index(axis)] = -1
        made.append(g.expand(g.reshape(each, column), full))
    return made
