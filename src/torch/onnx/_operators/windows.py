"""Convolutions and pools."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._operators.products import _wide
from torch.onnx._operators.shapes import _pad_one
from torch.onnx._operators.table import Refusal, check_size, numbers, operator


def _amounts(
    auto: str, given: Any, sizes: list[int], kernel: list[int], strides: list[int], dilations: list[int]
) -> tuple[list[int], list[int]]:
    """How many elements are added before and after each dimension."""
    spatial = len(kernel)
    if auto == "VALID":
        return [0] * spatial, [0] * spatial
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        before, after = [], []
        for size, width, step, gap in zip(sizes, kernel, strides, dilations, strict=True):
            total = max((-(-size // step) - 1) * step + (width - 1) * gap + 1 - size, 0)
            less, more = total // 2, total - total // 2
            before.append(less if auto == "SAME_UPPER" else more)
            after.append(more if auto == "SAME_UPPER" else less)
        return before, after
    pads = list(given or [0] * 2 * spatial)
    return pads[:spatial], pads[spatial:]


def _padded(x: Tensor, before: list[int], after: list[int], value: float = 0.0) -> Tensor:
    for place, (less, more) in enumerate(zip(before, after, strict=True)):
        if less or more:
            x = _pad_one(x, x.dim() - len(before) + place, less, more, "constant", value)
    return x


_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def _spatial(x: Tensor, most: int = 3) -> int:
    spatial = x.dim() - 2
    if not 1 <= spatial <= most:
        raise Refusal(f"of {x.dim()} dimensions")
    return spatial


@operator("Conv")
def convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    spatial = _spatial(x)
    steps, gaps = list(strides or [1] * spatial), list(dilations or [1] * spatial)
    before, after = _amounts(auto_pad, pads, list(x.shape[2:]), list(weight.shape[2:]), steps, gaps)
    if before == after and min(before) >= 0:
        return _CONVOLUTIONS[spatial](x, weight, bias, steps, before, gaps, group)  # type: ignore[no-any-return,operator]
    return _CONVOLUTIONS[spatial](_padded(x, before, after), weight, bias, steps, 0, gaps, group)  # type: ignore[no-any-return,operator]


@operator("ConvInteger", options=convolution)
def convolution_integer(
    x: Tensor, weight: Tensor, zero_x: Tensor | None = None, zero_weight: Tensor | None = None, **options: Any
) -> Tensor:
    shift = (
        None
        if zero_weight is None
        else zero_weight.reshape(-1, *([1] * (weight.dim() - 1)))
        if zero_weight.dim()
        else zero_weight
    )
    return convolution(_wide(x, zero_x).double(), _wide(weight, shift).double(), **options).to(torch.int32)


@operator("QLinearConv", options=convolution)
def quantized_convolution(
    x: Tensor,
    scale_x: Tensor,
    zero_x: Tensor,
    weight: Tensor,
    scale_weight: Tensor,
    zero_weight: Tensor,
    scale: Tensor,
    zero: Tensor,
    bias: Tensor | None = None,
    **options: Any,
) -> Tensor:
    wide = zero_weight.reshape(-1, *([1] * (weight.dim() - 1))) if zero_weight.numel() > 1 else zero_weight
    total = convolution(
        _wide(x, zero_x).double(), _wide(weight, wide).double(), None if bias is None else bias.double(), **options
    )
    factor = scale_x.double() * scale_weight.double() / scale.double()
    factor = factor.reshape(-1, *([1] * (x.dim() - 2))) if factor.numel() > 1 else factor.reshape(())
    limits = torch.iinfo(zero.dtype)
    return (torch.round(total * factor) + zero.double()).clamp(limits.min, limits.max).to(torch.int32).to(zero.dtype)


@operator("ConvTranspose")
def transposed_convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Any = None,
    group: int = 1,
    kernel_shape: Any = None,
    output_padding: Any = None,
    output_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    spatial = _spatial(x)
    steps, gaps = list(strides or [1] * spatial), list(dilations or [1] * spatial)
    extra = list(output_padding or [0] * spatial)
    reach = [(size - 1) * step + (width - 1) * gap + 1 + more for size, step, width, gap, more in
             zip(x.shape[2:], steps, weight.shape[2:], gaps, extra, strict=True)]  # fmt: skip
    check_size([x.shape[0], weight.shape[1] * group, *(max(each, 0) for each in reach)])
    full = _TRANSPOSED[spatial](x, weight, None, steps, 0, 0, group, gaps)  # type: ignore[operator]
    full = _padded(full, [0] * spatial, extra)
    if output_shape is not None or auto_pad.startswith("SAME"):
        wanted = list(output_shape or [size * step for size, step in zip(x.shape[2:], steps, strict=True)])[-spatial:]
        totals = [have - want for have, want in zip(full.shape[2:], wanted, strict=True)]
        small, large = [each // 2 for each in totals], [each - each // 2 for each in totals]
        before, after = (small, large) if auto_pad == "SAME_UPPER" else (large, small)
        if min(totals) < 0:
            before, after = [0 if each < 0 else some for each, some in zip(totals, before, strict=True)], [
                each if each < 0 else some for each, some in zip(totals, after, strict=True)]  # fmt: skip
    else:
        before, after = _amounts(auto_pad, pads, [], [0] * spatial, steps, gaps)
    result = _padded(full, [-each for each in before], [-each for each in after])
    return result if bias is None else result + bias.reshape(-1, *([1] * spatial))


@dataclass
class _Pool:
    """Windows over the last dimensions."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]
    ceil: bool

    def windows(self, x: Tensor, fill: float, padded: bool = False) -> Tensor:
        """(N, C, *outputs, elements of a window): padded with `fill`, unless it is padded already."""
        spatial = len(self.kernel)
        before, after = ([0] * spatial, [0] * spatial) if padded else (self.before, list(self.after))
        for place, (width, step, gap) in enumerate(zip(self.kernel, self.strides, self.dilations, strict=True)):
            reach = (width - 1) * gap + 1
            size = x.shape[2 + place] + before[place] + after[place]
            if self.ceil:
                count = -(-(size - reach) // step) + 1
                if (count - 1) * step >= x.shape[2 + place] + before[place]:
                    count -= 1  # no window begins in what was added after
                after[place] += max((count - 1) * step + reach - size, 0)
        work = _padded(x, before, after, fill)
        for place, (width, step, gap) in enumerate(zip(self.kernel, self.strides, self.dilations, strict=True)):
            reach = (width - 1) * gap + 1
            if reach > work.shape[2 + place]:
                raise Refusal(f"a window of {reach} in {work.shape[2 + place]} elements")
            work = work.unfold(2 + place, reach, step)[..., ::gap]
        check_size(work.shape)
        return work.flatten(-spatial)


def _pool(
    x: Tensor, *, kernel_shape: Any, auto_pad: str = "NOTSET", ceil_mode: int = 0, dilations: Any = None,
    pads: Any = None, strides: Any = None,
) -> _Pool:  # fmt: skip
    """What all pools are asked for."""
    kernel = list(kernel_shape)
    steps, gaps = list(strides or [1] * len(kernel)), list(dilations or [1] * len(kernel))
    if not len(kernel) == len(steps) == len(gaps) == x.dim() - 2 or min(*kernel, *steps, *gaps) < 1:
        raise Refusal(f"windows of {kernel}, steps of {steps} and gaps of {gaps} in {x.dim() - 2} dimensions")
    before, after = _amounts(auto_pad, pads, list(x.shape[2:]), kernel, steps, gaps)
    return _Pool(kernel, steps, gaps, before, after, bool(ceil_mode))


@operator("MaxPool", options=_pool)
def max_pool(x: Tensor, *, storage_order: int = 0, outputs: int = 1, **options: Any) -> Any:
    pool = _pool(x, **options)
    spatial = len(pool.kernel)
    plain = outputs == 1 and spatial <= 3 and x.is_floating_point() and pool.before == pool.after and not pool.ceil
    if plain and all(2 * pad <= width for pad, width in zip(pool.before, pool.kernel, strict=True)):
        function = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}[spatial]
        return function(x, pool.kernel, pool.strides, pool.before, pool.dilations)
    lowest: Any = -math.inf if x.is_floating_point() else torch.iinfo(x.dtype).min
    values, which = pool.windows(x, lowest).max(-1)
    if outputs == 1:
        return values
    places = torch.arange(x.numel()).reshape(x.shape)
    if storage_order:
        order = [0, 1, *reversed(range(2, x.dim()))]
        places = torch.arange(x.numel()).reshape([x.shape[axis] for axis in order]).permute(*order)
    return values, pool.windows(places, 0).gather(-1, which.unsqueeze(-1)).squeeze(-1)


@operator("MaxUnpool")
def max_unpool(
    x: Tensor, places: Tensor, shape: Tensor | None = None, *, kernel_shape: Any, pads: Any = None, strides: Any = None
) -> Tensor:
    kernel = list(kernel_shape)
    steps, amounts = list(strides or [1] * len(kernel)), list(pads or [0] * 2 * len(kernel))
    around = [before + after for before, after in zip(amounts[: len(kernel)], amounts[len(kernel) :], strict=True)]
    spread = [(size - 1) * step + width for size, step, width in zip(x.shape[2:], steps, kernel, strict=True)]
    inferred = [*x.shape[:2], *(size - less for size, less in zip(spread, around, strict=True))]
    sizes = check_size(inferred if shape is None else numbers(shape))
    flat = torch.zeros(math.prod(sizes), dtype=x.dtype)
    if shape is not None and sizes != inferred:  # places are of the inferred shape
        rows = []
        rest = places.reshape(-1)
        for size in reversed(inferred):
            rows.append(rest % size)
            rest = rest // size
        places = torch.zeros_like(rest)
        for size, row in zip(sizes, reversed(rows), strict=True):
            places = places * size + row
    if places.numel() and int(places.max()) >= flat.numel():
        raise Refusal("a place outside of the result")
    return flat.scatter(0, places.reshape(-1), x.reshape(-1)).reshape(sizes)


@operator("AveragePool", options=_pool)
def average_pool(x: Tensor, *, count_include_pad: int = 0, **options: Any) -> Tensor:
    pool = _pool(x, **options)
    total = pool.windows(x, 0).sum(-1)
    ones = torch.ones(1, 1, *x.shape[2:], dtype=x.dtype)
    if count_include_pad:
        ones = _padded(ones, pool.before, pool.after, 1.0)
    count = pool.windows(ones, 0, padded=bool(count_include_pad)).sum(-1)
    for axis in range(2, x.dim()):
        count = count.narrow(axis, 0, total.shape[axis])
    return total / count


@operator("LpPool", options=_pool)
def lp_pool(x: Tensor, *, p: int = 2, **options: Any) -> Tensor:
    return _pool(x, **options).windows(x.abs() ** p, 0).sum(-1) ** (1.0 / p)


@operator("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    return x.mean(list(range(2, x.dim())), keepdim=True)


@operator("GlobalMaxPool")
def global_max_pool(x: Tensor) -> Tensor:
    return x.amax(list(range(2, x.dim())), keepdim=True)


@operator("GlobalLpPool")
def global_lp_pool(x: Tensor, *, p: int = 2) -> Tensor:
    return (x.abs() ** p).sum(list(range(2, x.dim())), keepdim=True) ** (1.0 / p)


@operator("Col2Im")
def col2im(
    x: Tensor, image: Tensor, block: Tensor, *, dilations: Any = None, pads: Any = None, strides: Any = None
) -> Tensor:
    size, kernel = numbers(image), numbers(block)
    pool = _pool(x.new_zeros(1, 1, *size), kernel_shape=kernel, dilations=dilations, pads=pads, strides=strides)
    whole = check_size([a + b + c for a, b, c in zip(size, pool.before, pool.after, strict=True)])
    places = pool.windows(torch.arange(math.prod(whole)).reshape(1, 1, *whole), 0, padded=True)
    batch, channels = x.shape[0], x.shape[1] // math.prod(kernel)
    columns = x.reshape(batch, channels, math.prod(kernel), -1).transpose(2, 3).reshape(batch, channels, -1)
    flat = torch.zeros(batch, channels, math.prod(whole), dtype=x.dtype)
    index = places.reshape(1, 1, -1).expand(batch, channels, -1)
    result = flat.scatter_add(2, index, columns).reshape(batch, channels, *whole)
    for place, (before, width) in enumerate(zip(pool.before, size, strict=True)):
        result = result.narrow(2 + place, before, width)
    return result
