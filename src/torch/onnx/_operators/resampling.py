"""Images of other sizes."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.table import Refusal, check_size, numbers, operator

if TYPE_CHECKING:
    from collections.abc import Iterator


@operator("GridSample")
def grid_sample(
    x: Tensor, grid: Tensor, *, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros"
) -> Tensor:
    names = {"linear": "bilinear", "cubic": "bicubic"}
    return F.grid_sample(x, grid.to(x.dtype), names.get(mode, mode), padding_mode, bool(align_corners))


def _corners(x: Tensor, ys: Tensor, xs: Tensor) -> Iterator[Tensor]:
    """The shares of four neighbours in (batch, channels, height, width) at the places (batch, P); zero outside."""
    height, width = x.shape[2:]
    for row, column in itertools.product((0, 1), (0, 1)):
        at_y, at_x = ys.floor() + row, xs.floor() + column
        share = (1 - (ys - at_y).abs()) * (1 - (xs - at_x).abs())
        inside = (at_y >= 0) & (at_y < height) & (at_x >= 0) & (at_x < width)
        flat = (at_y.clamp(0, height - 1) * width + at_x.clamp(0, width - 1)).to(torch.int64)
        picked = x.flatten(2).gather(2, flat.unsqueeze(1).expand(-1, x.shape[1], -1))
        yield picked * (share * inside).unsqueeze(1).to(x.dtype)


@operator("RoiAlign")
def roi_align(
    x: Tensor,
    rois: Tensor,
    batches: Tensor,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
    opset: int = 16,
) -> Tensor:
    check_size([len(rois), x.shape[1], output_height, output_width])
    shift = 0.5 if coordinate_transformation_mode == "half_pixel" and opset >= 16 else 0.0
    height, width = x.shape[2:]
    made = []
    for roi, batch in zip((rois.double() * spatial_scale - shift).tolist(), numbers(batches), strict=True):
        left, top, right, bottom = roi
        sizes = [bottom - top, right - left] if shift else [max(bottom - top, 1.0), max(right - left, 1.0)]
        axes = []
        for first, size, count, limit in zip(
            (top, left), sizes, (output_height, output_width), (height, width), strict=True
        ):
            samples = sampling_ratio if sampling_ratio > 0 else max(math.ceil(size / count), 1)
            check_size([count, samples])
            places = first + (torch.arange(count * samples, dtype=torch.float64) + 0.5) * (size / count / samples)
            axes.append((places.clamp(0, limit - 1), (places >= -1) & (places <= limit), samples))
        (ys, rows, tall), (xs, columns, wide) = axes
        check_size([x.shape[1], len(ys), len(xs)])
        grid_y, grid_x = (each.reshape(1, -1) for each in torch.meshgrid(ys, xs, indexing="ij"))
        # The largest is that of single shares, not of what lies between.
        join = torch.add if mode == "avg" else torch.maximum
        found = functools.reduce(join, _corners(x[batch : batch + 1], grid_y, grid_x)) * (
            rows.unsqueeze(1) & columns
        ).reshape(-1)
        cells = found.reshape(x.shape[1], output_height, tall, output_width, wide)
        made.append(cells.mean((2, 4)) if mode == "avg" else cells.amax((2, 4)))
    return torch.stack(made).to(x.dtype) if made else x.new_zeros(0, x.shape[1], output_height, output_width)


@operator("DeformConv")
def deformed_convolution(
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    bias: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    offset_group: int = 1,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    if x.dim() != 4:
        raise Refusal(f"of {x.dim()} dimensions")
    batch, channels = x.shape[:2]
    kernel, size = weight.shape[2:], offset.shape[2:]
    steps, gaps, before = list(strides or [1, 1]), list(dilations or [1, 1]), list(pads or [0] * 4)[:2]
    taps = kernel[0] * kernel[1]
    moved = offset.reshape(batch * offset_group, *kernel, 2, *size)
    places = []
    for axis in (0, 1):
        from_tap = (torch.arange(kernel[axis]) * gaps[axis]).reshape([-1 if each == axis else 1 for each in range(4)])
        from_step = torch.arange(size[axis]) * steps[axis] - before[axis]
        from_step = from_step.reshape([-1 if each == axis + 2 else 1 for each in range(4)])
        places.append((moved[:, :, :, axis] + from_tap + from_step).flatten(1))
    corners = _corners(x.reshape(batch * offset_group, channels // offset_group, *x.shape[2:]), *places)
    parts = functools.reduce(torch.add, corners)
    parts = parts.reshape(batch, offset_group, -1, taps, size[0] * size[1])
    if mask is not None:
        parts = parts * mask.reshape(batch, offset_group, 1, taps, -1)
    columns = parts.reshape(batch, group, channels // group * taps, -1)
    y = torch.matmul(weight.reshape(group, weight.shape[0] // group, -1), columns).reshape(batch, -1, *size)
    return y if bias is None else y + bias.reshape(-1, 1, 1)


@operator("AffineGrid")
def affine_grid(theta: Tensor, size: Tensor, *, align_corners: int = 0) -> Tensor:
    return F.affine_grid(theta, check_size(numbers(size)), bool(align_corners))


def _coordinates(way: str, have: int, want: int, scale: float, start: float, end: float) -> Tensor:
    """Where the new elements lie among the old ones."""
    x = torch.arange(want, dtype=torch.float64)
    if way == "align_corners":
        return x * ((have - 1) / (have * scale - 1)) if want > 1 else torch.zeros_like(x)
    if way == "asymmetric":
        return x / scale
    if way == "tf_crop_and_resize":
        return (
            start * (have - 1) + x * ((end - start) * (have - 1) / (want - 1))
            if want > 1
            else torch.full_like(x, 0.5 * (start + end) * (have - 1))
        )
    if way == "pytorch_half_pixel" and want <= 1:
        return torch.zeros_like(x)
    if way == "half_pixel_symmetric":
        adjusted = want / (scale * have)
        return have / 2 * (1 - adjusted) + (x + 0.5) / scale - 0.5
    if way in ("half_pixel", "pytorch_half_pixel"):
        return (x + 0.5) / scale - 0.5
    raise Refusal(f"coordinates {way!r}")


def _nearest(places: Tensor, mode: str) -> Tensor:
    return {
        "round_prefer_floor": lambda: torch.ceil(places - 0.5), "round_prefer_ceil": lambda: torch.floor(places + 0.5),
        "floor": lambda: torch.floor(places), "ceil": lambda: torch.ceil(places),
    }[mode]()  # fmt: skip


def _weights(
    places: Tensor, have: int, mode: str, nearest_mode: str, cubic: float, outside: bool, spread: float = 1.0
) -> Tensor:
    """(new, old): how much of each old element a new one has; `spread`: how much wider than one element it looks."""
    if mode == "nearest":
        return (_nearest(places, nearest_mode).clamp(0, have - 1).unsqueeze(1) == torch.arange(have)).to(torch.float64)
    reach = math.ceil((2 if mode == "cubic" else 1) * spread)
    first = places.floor()
    columns = first.unsqueeze(1) + torch.arange(-reach + 1, reach + 1)
    distance = (columns - places.unsqueeze(1)).abs() / spread
    if mode == "cubic":
        near = (cubic + 2) * distance**3 - (cubic + 3) * distance**2 + 1
        far = cubic * (distance**3 - 5 * distance**2 + 8 * distance - 4)
        share = torch.where(distance <= 1, near, torch.where(distance < 2, far, torch.zeros_like(far)))
    else:
        share = (1 - distance).clamp(min=0)
    inside = (columns >= 0) & (columns < have)
    if outside:
        share = share * inside
    share = share / share.sum(1, keepdim=True)
    matrix = torch.zeros(len(places), have, dtype=torch.float64)
    return matrix.scatter_add(1, columns.clamp(0, have - 1).to(torch.int64), share)


@operator("Resize", "Upsample")
def resize(
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    antialias: int = 0,
    axes: Any = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
    opset: int = 19,
) -> Tensor:
    way = coordinate_transformation_mode
    if opset < 11:  # Upsample, and the first Resize: (x, scales)
        scales, roi = (roi if scales is None else scales), None
        way, nearest_mode = "asymmetric", "floor"
    chosen = [axis % x.dim() for axis in (axes if axes is not None else range(x.dim()))]
    have = [x.shape[axis] for axis in chosen]
    if sizes is not None and sizes.numel():
        want = numbers(sizes)
        factors = [new / old for new, old in zip(want, have, strict=True)]
        if keep_aspect_ratio_policy != "stretch":
            factor = (min if keep_aspect_ratio_policy == "not_larger" else max)(factors)
            want, factors = [math.floor(factor * old + 0.5) for old in have], [factor] * len(have)
    elif scales is not None and scales.numel():
        factors = [float(each) for each in scales.reshape(-1).tolist()]
        want = [math.floor(old * factor) for old, factor in zip(have, factors, strict=True)]
    else:
        raise Refusal("neither scales nor sizes are given")
    result = [*x.shape]
    for axis, size in zip(chosen, want, strict=True):
        result[axis] = size
    check_size(result)
    ends = (
        roi.reshape(-1).tolist()
        if roi is not None and roi.numel() and way == "tf_crop_and_resize"
        else [0.0] * len(want) + [1.0] * len(want)
    )
    work, beyond = x.to(torch.float64), torch.zeros((), dtype=torch.bool)
    for place, (axis, size) in enumerate(zip(chosen, want, strict=True)):
        if size == have[place] and factors[place] == 1 and way != "tf_crop_and_resize":
            continue
        places = _coordinates(way, have[place], size, factors[place], ends[place], ends[len(want) + place])
        matrix = _weights(
            places, have[place], mode.replace("bilinear", "linear"), nearest_mode, cubic_coeff_a, bool(exclude_outside),
            max(1.0, 1 / factors[place]) if antialias else 1.0,
        )  # fmt: skip
        work = torch.tensordot(work, matrix, ([axis], [1])).movedim(-1, axis)
        if way == "tf_crop_and_resize":
            shape = [1] * x.dim()
            shape[axis] = -1
            beyond = beyond | ((places < 0) | (places > have[place] - 1)).reshape(shape)
    work = torch.where(beyond, torch.tensor(extrapolation_value, dtype=work.dtype), work)
    return work.to(x.dtype) if x.is_floating_point() else work.round().to(x.dtype)
