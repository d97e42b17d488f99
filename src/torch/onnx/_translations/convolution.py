"""Convolutions and pools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Absent, Var
from torch.onnx._rows import TABLE, row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph


def _tuple(value: Any, count: int) -> list[int]:
    if isinstance(value, (list, tuple)):
        return list(value) * count if len(value) == 1 else list(value)
    return [value] * count


def _batched(g: Graph, x: Var, spatial: int) -> tuple[Var, bool]:
    """`x` with a batch, and whether it had none."""
    if x.rank == spatial + 2:
        return x, False
    return Var(g.unsqueeze(x, [0]).name, x.dtype, (1, *(x.shape or ()))), True


def _unbatched(g: Graph, x: Any, alone: bool) -> Any:
    return g.squeeze(x, [0]) if alone else x


def _add_convolution(spatial: int) -> None:
    @row(f"conv{spatial}d")
    def convolution(
        g: Graph,
        x: Var,
        weight: Var,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        x, alone = _batched(g, x, spatial)
        places: dict[str, Any] = {"pads": [0] * spatial * 2}
        dilations = _tuple(dilation, spatial)
        if padding == "same":  # what is left over goes to the end, unlike SAME_LOWER
            total = [each * (weight.size(2 + axis) - 1) for axis, each in enumerate(dilations)]
            places["pads"] = [each // 2 for each in total] + [each - each // 2 for each in total]
        elif padding != "valid":
            places["pads"] = _tuple(padding, spatial) * 2
        result = g.op("Conv", x, weight, bias, strides=_tuple(stride, spatial), dilations=dilations, group=groups,
                      kernel_shape=[weight.size(2 + axis) for axis in range(spatial)], **places)  # fmt: skip
        return _unbatched(g, result, alone)

    @row(f"conv_transpose{spatial}d")
    def transposed(
        g: Graph,
        x: Var,
        weight: Var,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        x, alone = _batched(g, x, spatial)
        result = g.op("ConvTranspose", x, weight, bias, strides=_tuple(stride, spatial),
                      dilations=_tuple(dilation, spatial), pads=_tuple(padding, spatial) * 2,
                      output_padding=_tuple(output_padding, spatial), group=groups,
                      kernel_shape=[weight.size(2 + axis) for axis in range(spatial)])  # fmt: skip
        return _unbatched(g, result, alone)

    @row(f"max_pool{spatial}d", f"max_pool{spatial}d_with_indices")
    def max_pool(
        g: Graph,
        x: Var,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        kernel = _tuple(kernel_size, spatial)
        batch, alone = _batched(g, x, spatial)
        with_indices = len(g.results) == 2
        if not x.dtype.is_floating_point:
            raise NotImplementedError("of integers")
        made = g.op("MaxPool", batch, kernel_shape=kernel, strides=_tuple(stride or kernel, spatial),
                    ceil_mode=int(ceil_mode), pads=_tuple(padding, spatial) * 2, dilations=_tuple(dilation, spatial),
                    outputs=2 if with_indices else 1)  # fmt: skip
        if not with_indices:
            return _unbatched(g, made, alone)
        values, places = made
        # ONNX counts through batch and channels, torch within an image.
        image = math.prod(batch.size(axis) for axis in range(2, batch.rank))
        within = g.op("Mod", Var(places.name, torch.int64), image)
        return [_unbatched(g, values, alone), _unbatched(g, within, alone)]

    @row(f"avg_pool{spatial}d")
    def avg_pool(
        g: Graph,
        x: Var,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        kernel = _tuple(kernel_size, spatial)
        batch, alone = _batched(g, x, spatial)
        pads, strides = _tuple(padding, spatial) * 2, _tuple(stride or kernel, spatial)
        if divisor_override is not None or (ceil_mode and (count_include_pad or any(pads))):
            return _unbatched(
                g, _sums(g, batch, kernel, strides, pads, ceil_mode, count_include_pad, divisor_override), alone
            )
        result = g.op("AveragePool", batch, kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=int(ceil_mode),
                      count_include_pad=int(count_include_pad))  # fmt: skip
        return _unbatched(g, result, alone)

    @row(f"adaptive_avg_pool{spatial}d")
    def adaptive_avg_pool(g: Graph, x: Var, output_size: Any) -> Any:
        if _outputs(x, output_size, spatial) == [1] * spatial:
            return g.reduce("ReduceMean", x, list(range(x.rank - spatial, x.rank)), True)
        return _adaptive(g, x, output_size, spatial, "ReduceMean")

    @row(f"adaptive_max_pool{spatial}d")
    def adaptive_max_pool(g: Graph, x: Var, output_size: Any, return_indices: bool = False) -> Any:
        wanted = _outputs(x, output_size, spatial)
        pairs = list(zip((x.shape or ())[x.rank - spatial :], wanted, strict=True))
        if len(g.results) == 2 and all(size is not None and size % count == 0 for size, count in pairs):
            return max_pool(g, x, [size // count for size, count in pairs])
        if wanted == [1] * spatial:
            values = g.reduce("ReduceMax", x, list(range(x.rank - spatial, x.rank)), True)
        else:
            values = _adaptive(g, x, output_size, spatial, "ReduceMax")
        return [values, Absent("the indices of windows of different sizes")][: len(g.results)]


def _sums(
    g: Graph, x: Var, kernel: list[int], strides: list[int], pads: list[int], ceil: bool, include: bool, divisor: Any
) -> Any:
    """Average pools that ONNX counts in another way: sums of windows over how many elements torch counts."""
    spatial = len(kernel)
    if divisor is None or ceil:
        sizes = [x.size(2 + axis) for axis in range(spatial)]
        module = {
            1: torch.nn.functional.avg_pool1d,
            2: torch.nn.functional.avg_pool2d,
            3: torch.nn.functional.avg_pool3d,
        }[spatial]
        ones = torch.ones(1, 1, *sizes)
        options: dict[str, Any] = {
            "kernel_size": kernel,
            "stride": strides,
            "padding": pads[:spatial],
            "ceil_mode": ceil,
        }
        share = module(ones, **options, count_include_pad=include)
        extra = [max(0, (out - 1) * step + size - have - 2 * pad) for out, step, size, have, pad in
                 zip(share.shape[2:], strides, kernel, sizes, pads, strict=False)]  # fmt: skip
        whole = torch.nn.functional.pad(
            ones,
            [
                side
                for pad, more in reversed(list(zip(pads[:spatial], extra, strict=True)))
                for side in (pad, pad + more)
            ],
        )
        inside = module(whole, kernel, strides)[tuple(slice(0, size) for size in (1, 1, *share.shape[2:]))]
        factor = share / inside if divisor is None else torch.full_like(share, math.prod(kernel) / divisor)
        x = g.pad(
            x, [0, 0, *pads[:spatial]], [0, 0, *(pad + more for pad, more in zip(pads, extra, strict=False))], value=0
        )
        pads = [0] * 2 * spatial
    else:
        factor = torch.tensor(math.prod(kernel) / divisor)
    mean = g.op("AveragePool", x, kernel_shape=kernel, strides=strides, pads=pads, count_include_pad=1)
    return g.op("Mul", mean, g.constant(factor, x.dtype))


def _outputs(x: Var, output_size: Any, spatial: int) -> list[Any]:
    wanted = _tuple(output_size, spatial)
    return [(x.shape or ())[axis - spatial] if each is None else each for axis, each in enumerate(wanted)]


def _adaptive(g: Graph, x: Var, output_size: Any, spatial: int, kind: str) -> Any:
    """Windows of several sizes: a plain pool where they are all alike, else one slice for each."""
    wanted = _outputs(x, output_size, spatial)
    for place, count in enumerate(wanted):
        axis = x.rank - spatial + place
        if (x.shape or ())[axis] == count:
            continue
        size = x.size(axis)
        shape = list(x.shape or ())
        shape[axis] = count
        if count == 1:
            made = g.reduce(kind, x, [axis], True)
        elif size % count == 0:
            sizes = [g.size_of(x, other) for other in range(x.rank)]
            parts = g.reshape(x, [*sizes[:axis], count, size // count, *sizes[axis + 1 :]])
            made = g.reduce(kind, parts, [axis + 1], False)
        else:
            edges = [(index * size // count, -(-(index + 1) * size // count)) for index in range(count)]
            windows = [g.reduce(kind, g.slice(x, axis, start, end), [axis], True) for start, end in edges]
            made = g.op("Concat", *windows, axis=axis)
        x = Var(made.name, x.dtype, tuple(shape))
    return x


for _spatial in (1, 2, 3):
    _add_convolution(_spatial)


@row("convolution")
def convolution(
    g: Graph, x: Var, weight: Var, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    name = f"conv_transpose{weight.rank - 2}d" if transposed else f"conv{weight.rank - 2}d"
    if transposed:
        return TABLE[name].function(g, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return TABLE[name].function(g, x, weight, bias, stride, padding, dilation, groups)


@row("im2col")
def im2col(g: Graph, x: Var, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    kernel, steps, pads, strides = (_tuple(each, 2) for each in (kernel_size, dilation, padding, stride))
    batch = x if x.rank == 4 else Var(g.unsqueeze(x, [0]).name, x.dtype, (1, *(x.shape or ())))
    sizes = [g.size_of(batch, 2 + axis) for axis in range(2)]
    sizes = [
        g.op("Add", size, 2 * pad) if isinstance(size, Var) else size + 2 * pad
        for size, pad in zip(sizes, pads, strict=True)
    ]
    work = g.pad(batch, [0, 0, *pads], [0, 0, *pads], value=0)
    for place, axis in ((0, 2), (1, 4)):  # each dimension becomes (places, kernel)
        work = g.op("Gather", work, g.windows(sizes[place], kernel[place], strides[place], steps[place]), axis=axis)
    work = g.transpose(work, [0, 1, 3, 5, 2, 4])
    if g.results[0].shape.count(None) <= 1:
        return g.to_result(work)
    return g.op("Reshape", work, [0, batch.size(1) * kernel[0] * kernel[1], -1])


@row("col2im", opset=18)
def col2im(g: Graph, x: Var, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    batch = x if x.rank == 3 else g.unsqueeze(x, [0])
    pads = _tuple(padding, 2)
    made = g.op("Col2Im", batch, _tuple(output_size, 2), _tuple(kernel_size, 2), dilations=_tuple(dilation, 2),
                pads=pads * 2, strides=_tuple(stride, 2))  # fmt: skip
    return made if x.rank == 3 else g.squeeze(made, [0])
