"""Functions that make tensors: of sizes, of numbers, and by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import ELEMENT_TYPES, Dim, Var
from torch.onnx._rows import listed, row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph


def _filled(g: Graph, value: Any, sizes: Any) -> Any:
    shape = sizes if isinstance(sizes, Var) else g.sizes(sizes)
    if g.dtype.is_complex:
        pairs = g.expand(g.constant(value, g.dtype), g.op("Concat", shape, g.sizes([2]), axis=0))
        return Var(pairs.name, g.dtype, g.shape)
    return g.expand(g.constant(value, g.dtype), shape)


def _add_factories(name: str, value: Any) -> None:
    @row(name, f"new_{name}")
    def make(g: Graph, *arguments: Any, size: Any = None, **_: Any) -> Any:
        sizes = list(arguments[1:] if arguments and isinstance(arguments[0], Var) else arguments)
        return _filled(g, value, list(size) if size is not None else listed(tuple(sizes)))

    @row(f"{name}_like")
    def make_like(g: Graph, x: Var, **_: Any) -> Any:
        return _filled(g, value, g.sizes_of(x))


_add_factories("zeros", 0)
_add_factories("ones", 1)
_add_factories("empty", 0)


@row("full")
def full(g: Graph, size: Any, fill_value: Any, **_: Any) -> Any:
    return _filled(g, fill_value, size)


@row("new_full")
def new_full(g: Graph, x: Var, size: Any, fill_value: Any, **_: Any) -> Any:
    return _filled(g, fill_value, size)


@row("full_like")
def full_like(g: Graph, x: Var, fill_value: Any, **_: Any) -> Any:
    return _filled(g, fill_value, g.sizes_of(x))


@row("fill")
def fill(g: Graph, x: Var, value: Any) -> Any:
    return _filled(g, value, g.sizes_of(x))


@row("zero")
def zero(g: Graph, x: Var) -> Any:
    return _filled(g, 0, g.sizes_of(x))


@row("arange")
def arange(g: Graph, *numbers: Any, **named: Any) -> Any:
    start, end, step = named.get("start", 0), named.get("end", 0), named.get("step", 1)
    if len(numbers) == 1:
        end = numbers[0]
    elif numbers:
        start, end, step = (*numbers, step)[:3]
    kind = g.dtype if g.dtype in (torch.int32, torch.int64, torch.float32, torch.float64) else torch.float32
    return g.op("Range", *(g.constant(each, kind) for each in (start, end, step)))


@row("linspace")
def linspace(g: Graph, start: Any, end: Any, steps: Any, **_: Any) -> Any:
    count = g.number(steps)
    positions = g.cast(g.op("Range", g.constant(0), count, g.constant(1)), g.dtype)
    gaps = g.op("Max", g.op("Sub", count, 1), 1)
    width = g.op("Div", g.op("Sub", g.constant(end, g.dtype), g.constant(start, g.dtype)), g.cast(gaps, g.dtype))
    return g.op("Add", g.constant(start, g.dtype), g.op("Mul", positions, width))


@row("eye")
def eye(g: Graph, n: Any, m: Any = None, **_: Any) -> Any:
    zeros = _filled(g, 0, [n, n if m is None else m])
    return g.op("EyeLike", zeros)


@row("tensor", "as_tensor", "scalar_tensor")
def tensor(g: Graph, data: Any, **_: Any) -> Any:
    if isinstance(data, Var):
        return g.cast(data, g.dtype)
    if isinstance(data, (list, tuple)):
        return g.op("Concat", *(g.unsqueeze(g.cast(tensor(g, each), g.dtype), [0]) for each in data), axis=0)
    return g.constant(data, g.dtype)


@row("new_tensor")
def new_tensor(g: Graph, x: Var, data: Any, **_: Any) -> Any:
    return tensor(g, data)


# ---------------------------------------------------------------------- chance


def _sizes(g: Graph, arguments: tuple[Any, ...], size: Any) -> Any:
    if arguments and isinstance(arguments[0], Var):
        return g.sizes_of(arguments[0])
    return list(size) if size is not None else listed(arguments)


def _by_chance(g: Graph, op: str, sizes: Any, dtype: torch.dtype, **attributes: Any) -> Any:
    like = _filled_as(g, sizes, dtype)
    return g.op(op, like, dtype_=ELEMENT_TYPES[dtype], dtype=dtype, **attributes)


def _filled_as(g: Graph, sizes: Any, dtype: torch.dtype) -> Any:
    return g.expand(g.constant(0, dtype), sizes if isinstance(sizes, Var) else g.sizes(sizes))


@row("rand", "rand_like", random=True)
def rand(g: Graph, *arguments: Any, size: Any = None, **_: Any) -> Any:
    return _by_chance(g, "RandomUniformLike", _sizes(g, arguments, size), g.dtype)


@row("randn", "randn_like", random=True)
def randn(g: Graph, *arguments: Any, size: Any = None, **_: Any) -> Any:
    return _by_chance(g, "RandomNormalLike", _sizes(g, arguments, size), g.dtype)


@row("randint", random=True)
def randint(g: Graph, *arguments: Any, low: Any = 0, high: Any = None, size: Any = None, **_: Any) -> Any:
    numbers = [each for each in arguments if not isinstance(each, (list, tuple))]
    size = next((each for each in arguments if isinstance(each, (list, tuple))), size)
    if any(isinstance(each, Dim) for each in numbers):
        raise NotImplementedError("bounds that are sizes")
    high = numbers[-1] if numbers else high
    low = numbers[0] if len(numbers) > 1 else low
    uniform = _by_chance(g, "RandomUniformLike", size, torch.float32, low=float(low), high=float(high))
    return g.cast(g.op("Floor", uniform), g.dtype)


@row("bernoulli", random=True)
def bernoulli(g: Graph, x: Var, p: Any = None, **_: Any) -> Any:
    return g.op("Bernoulli", x if p is None else _filled(g, p, g.sizes_of(x)), dtype=x.dtype)


@row("multinomial", random=True)
def multinomial(g: Graph, x: Var, num_samples: int, replacement: bool = False, **_: Any) -> Any:
    if not replacement and num_samples != 1:
        raise NotImplementedError("samples without replacement")
    rows = x if x.rank == 2 else g.unsqueeze(x, [0])
    drawn = g.op("Multinomial", g.op("Log", rows), sample_size=num_samples, dtype_=7, dtype=torch.int64)
    return drawn if x.rank == 2 else g.squeeze(drawn, [0])
