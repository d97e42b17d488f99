"""Shapes: what rearranges, repeats, joins or makes tensors."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._graph import DTYPES
from torch.onnx._operators.table import Refusal, check_size, numbers, operator


@operator("Reshape")
def reshape(x: Tensor, shape: Tensor | None = None, *, allowzero: int = 0, **old: Any) -> Tensor:
    sizes = numbers(old["shape"] if shape is None else shape)
    if not allowzero:
        sizes = [x.shape[axis] if size == 0 and axis < x.dim() else size for axis, size in enumerate(sizes)]
    return x.reshape(sizes)


@operator("Transpose")
def transpose(x: Tensor, *, perm: Any = None) -> Tensor:
    return x.permute(*(perm if perm is not None else reversed(range(x.dim()))))


@operator("Flatten")
def flatten(x: Tensor, *, axis: int = 1) -> Tensor:
    split = axis % x.dim() if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:split]), math.prod(x.shape[split:]))


@operator("Squeeze")
def squeeze(x: Tensor, given: Tensor | None = None, *, axes: Any = None) -> Tensor:
    chosen = numbers(given) if given is not None else axes
    if chosen is None:
        return x.squeeze()
    wrong = [axis for axis in chosen if x.shape[axis] != 1]
    if wrong:
        raise Refusal(f"dimensions {wrong} of {tuple(x.shape)} are not of size 1")
    return x.squeeze(tuple(chosen)) if chosen else x


@operator("Unsqueeze")
def unsqueeze(x: Tensor, given: Tensor | None = None, *, axes: Any = None) -> Tensor:
    chosen = numbers(given if given is not None else axes)
    rank = x.dim() + len(chosen)
    for axis in sorted(each % rank for each in chosen):
        x = x.unsqueeze(axis)
    return x


@operator("Shape")
def shape_of(x: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    return torch.tensor(list(x.shape)[start:end], dtype=torch.int64)


@operator("Size")
def size_of(x: Tensor) -> Tensor:
    return torch.tensor(x.numel())


@operator("Concat")
def concat(*tensors: Tensor, axis: int = 1) -> Tensor:
    check_size([sum(each.numel() for each in tensors)])
    return torch.cat(tensors, axis)


@operator("Split")
def split(
    x: Tensor, given: Tensor | None = None, *, axis: int = 0, split: Any = None, num_outputs: int = 0, outputs: int = 1
) -> tuple[Tensor, ...]:
    sizes = numbers(given) if given is not None else split
    if sizes is None:
        if num_outputs not in (0, outputs):
            raise Refusal(f"num_outputs {num_outputs} for {outputs} outputs")
        each = -(-x.shape[axis] // outputs)
        sizes = [min(each, max(x.shape[axis] - each * place, 0)) for place in range(outputs)]
    return tuple(torch.split(x, list(sizes), axis))


@operator("Slice")
def slice_(
    x: Tensor,
    begin: Any = None,
    stop: Any = None,
    axes_input: Any = None,
    steps: Any = None,
    *,
    starts: Any = None,
    ends: Any = None,
    axes: Any = None,
) -> Tensor:
    first, last = numbers(starts if begin is None else begin), numbers(ends if stop is None else stop)
    chosen = (
        numbers(axes_input) if axes_input is not None else list(axes) if axes is not None else list(range(len(first)))
    )
    stride = numbers(steps) if steps is not None else [1] * len(first)
    for low, high, axis, step in zip(first, last, chosen, stride, strict=True):
        if step == 0:
            raise Refusal("a step of 0")
        size = x.shape[axis]
        places = range(*slice(low, high if step > 0 or high >= -size else None, step).indices(size))
        if step > 0:
            x = x[(slice(None),) * (axis % x.dim()) + (slice(places.start, max(places.stop, places.start), step),)]
        else:
            x = x.index_select(axis, torch.tensor(list(places), dtype=torch.int64))
    return x


@operator("Expand")
def expand(x: Tensor, shape: Tensor) -> Tensor:
    sizes = numbers(shape)
    rank = max(x.dim(), len(sizes))
    have, want = [1] * (rank - x.dim()) + list(x.shape), [1] * (rank - len(sizes)) + sizes
    return x.expand(check_size([size if other == 1 else other for size, other in zip(have, want, strict=True)]))


@operator("Tile")
def tile(x: Tensor, repeats: Tensor) -> Tensor:
    counts = numbers(repeats)
    check_size([size * count for size, count in zip(x.shape, counts, strict=True)])
    return x.repeat(counts)


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}


@operator("Pad")
def pad(
    x: Tensor,
    given: Tensor | None = None,
    fill: Tensor | None = None,
    axes: Tensor | None = None,
    *,
    mode: str = "constant",
    pads: Any = None,
    value: float = 0.0,
) -> Tensor:
    amounts = numbers(given if given is not None else pads)
    chosen = [axis % x.dim() for axis in numbers(axes)] if axes is not None else list(range(x.dim()))
    count = len(chosen)
    number = value if fill is None else fill.item()
    for place, axis in enumerate(chosen):
        x = _pad_one(x, axis, amounts[place], amounts[count + place], mode, number)
    return x


def _pad_one(x: Tensor, axis: int, before: int, after: int, mode: str, value: Any) -> Tensor:
    size = x.shape[axis]
    check_size([size + before + after if each == axis else other for each, other in enumerate(x.shape)])
    if mode == "constant":
        flat = [0, 0] * (x.dim() - 1 - axis) + [before, after]
        return (
            F.pad(x.to(torch.uint8), flat, value=int(value)).to(x.dtype)
            if x.dtype == torch.bool
            else F.pad(x, flat, value=value)
        )
    if mode not in _MODES or size == 0:
        raise Refusal(f"mode {mode!r} of {size} elements")
    places = torch.arange(-before, size + after)
    if mode == "edge":
        places = places.clamp(0, size - 1)
    elif mode == "wrap":
        places = places % size
    else:
        period = max(2 * (size - 1), 1)
        places = places.abs() % period
        places = torch.where(places >= size, period - places, places)
    return x.index_select(axis, places)


@operator("Constant")
def constant(**given: Any) -> Tensor:
    name, value = next(iter(given.items()), ("", None))
    kinds = {
        "value_float": torch.float32,
        "value_floats": torch.float32,
        "value_int": torch.int64,
        "value_ints": torch.int64,
    }
    if len(given) != 1 or name not in ("value", *kinds):
        raise Refusal(f"a constant of {sorted(given)}")
    return value if name == "value" else torch.tensor(value, dtype=kinds[name])  # type: ignore[no-any-return]


@operator("ConstantOfShape")
def constant_of_shape(shape: Tensor, *, value: Tensor | None = None) -> Tensor:
    sizes = check_size(numbers(shape))
    return torch.zeros(sizes) if value is None else value.reshape(()).expand(sizes).clone()


@operator("Range")
def range_(start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    first, last, step = (each.item() for each in (start, limit, delta))
    if not step:
        raise Refusal("a step of 0")
    count = max(math.ceil((last - first) / step), 0)
    check_size([count])
    return (torch.arange(count, dtype=start.dtype) * step + first).to(start.dtype)


@operator("EyeLike")
def eye_like(x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    rows, columns = x.shape
    places = torch.arange(columns) - torch.arange(rows).reshape(-1, 1)
    return (places == k).to(x.dtype if dtype is None else DTYPES[dtype])


@operator("Trilu")
def trilu(x: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    diagonal = 0 if k is None else int(k)
    if x.numel() == 0:
        return x
    diagonal = max(min(diagonal, max(x.shape)), -max(x.shape))
    return x.triu(diagonal) if upper else x.tril(diagonal)


@operator("DepthToSpace")
def depth_to_space(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    batch, channels, height, width = x.shape
    block, depth = blocksize, channels // blocksize**2
    if mode == "CRD":
        return F.pixel_shuffle(x, block)
    parts = x.reshape(batch, block, block, depth, height, width).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(batch, depth, height * block, width * block)


@operator("SpaceToDepth")
def space_to_depth(x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    batch, channels, height, width = x.shape
    block = blocksize
    order = (0, 1, 3, 5, 2, 4) if mode == "CRD" else (0, 3, 5, 1, 2, 4)
    parts = x.reshape(batch, channels, height // block, block, width // block, block).permute(*order)
    return parts.reshape(batch, channels * block * block, height // block, width // block)


@operator("CenterCropPad")
def center_crop_pad(x: Tensor, shape: Tensor, *, axes: Any = None) -> Tensor:
    for axis, want in zip(range(x.dim()) if axes is None else axes, numbers(shape), strict=True):
        have = x.shape[axis]
        if want <= have:
            x = x.narrow(axis, (have - want) // 2, want)
        else:
            before = (want - have) // 2
            x = _pad_one(x, axis % x.dim(), before, want - have - before, "constant", 0)
    return x


@operator("ReverseSequence")
def reverse_sequence(x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0) -> Tensor:
    work = x.movedim((time_axis, batch_axis), (0, 1)).clone()
    for batch, length in enumerate(numbers(lengths)):
        work[:length, batch] = work[:length, batch].flip(0)
    return work.movedim((0, 1), (time_axis, batch_axis))


# ---------------------------------------------------------------------- chance


def _dtype(number: int | None, otherwise: torch.dtype) -> torch.dtype:
    return otherwise if number is None else DTYPES[number]


@operator("RandomNormal")
def random_normal(
    *, shape: Any, mean: float = 0.0, scale: float = 1.0, dtype: int = 1, seed: float | None = None
) -> Tensor:
    return torch.randn(check_size(shape), dtype=DTYPES[dtype]) * scale + mean


@operator("RandomUniform")
def random_uniform(
    *, shape: Any, low: float = 0.0, high: float = 1.0, dtype: int = 1, seed: float | None = None
) -> Tensor:
    return torch.rand(check_size(shape), dtype=DTYPES[dtype]) * (high - low) + low


@operator("RandomNormalLike")
def random_normal_like(
    x: Tensor, *, mean: float = 0.0, scale: float = 1.0, dtype: int | None = None, seed: float | None = None
) -> Tensor:
    return torch.randn(x.shape, dtype=_dtype(dtype, x.dtype)) * scale + mean


@operator("RandomUniformLike")
def random_uniform_like(
    x: Tensor, *, low: float = 0.0, high: float = 1.0, dtype: int | None = None, seed: float | None = None
) -> Tensor:
    return torch.rand(x.shape, dtype=_dtype(dtype, x.dtype)) * (high - low) + low


@operator("Bernoulli")
def bernoulli(x: Tensor, *, dtype: int | None = None, seed: float | None = None) -> Tensor:
    return torch.bernoulli(x).to(_dtype(dtype, x.dtype))


@operator("Multinomial")
def multinomial(x: Tensor, *, sample_size: int = 1, dtype: int = 6, seed: float | None = None) -> Tensor:
    check_size([*x.shape[:-1], sample_size])
    return torch.multinomial(x.softmax(-1), sample_size, replacement=True).to(DTYPES[dtype])
