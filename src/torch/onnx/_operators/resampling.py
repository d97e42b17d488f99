"""Images of other sizes."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.table import Refusal, check_size, numbers, operator


@operator("GridSample")
def grid_sample(
    x: Tensor, grid: Tensor, *, align_corners: int = 0, mode: str = "linear", padding_mode: str = "zeros"
) -> Tensor:
    names = {"linear": "bilinear", "cubic": "bicubic"}
    return F.grid_sample(x, grid.to(x.dtype), names.get(mode, mode), padding_mode, bool(align_corners))


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


def _weights(places: Tensor, have: int, mode: str, nearest_mode: str, cubic: float, outside: bool) -> Tensor:
    """(new, old): how much of each old element a new one has."""
    if mode == "nearest":
        return (_nearest(places, nearest_mode).clamp(0, have - 1).unsqueeze(1) == torch.arange(have)).to(torch.float64)
    reach = 2 if mode == "cubic" else 1
    first = places.floor()
    columns = first.unsqueeze(1) + torch.arange(-reach + 1, reach + 1)
    distance = (columns - places.unsqueeze(1)).abs()
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
    if antialias:
        raise Refusal("antialias is not supported")
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
            places, have[place], mode.replace("bilinear", "linear"), nearest_mode, cubic_coeff_a, bool(exclude_outside)
        )
        work = torch.tensordot(work, matrix, ([axis], [1])).movedim(-1, axis)
        if way == "tf_crop_and_resize":
            shape = [1] * x.dim()
            shape[axis] = -1
            beyond = beyond | ((places < 0) | (places > have[place] - 1)).reshape(shape)
    work = torch.where(beyond, torch.tensor(extrapolation_value, dtype=work.dtype), work)
    return work.to(x.dtype) if x.is_floating_point() else work.round().to(x.dtype)
