"""Complex numbers, which ONNX's operators do not take: a complex value is a real one whose last dimension is (re, im).

`COMPLEX` says what a function that has a row for real numbers does with complex ones. Rearrangements and sums go by
parts, products by products of parts. Fourier transforms of one dimension are DFT, which has this layout; the others are
made of them (`_decompositions`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Result, Var, real_dtype
from torch.onnx._recording import iterate_leaves, map_leaves
from torch.onnx._rows import TABLE, common_type, row

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.onnx._graph import Graph

COMPLEX: dict[str, Callable[..., Any]] = {}


def is_complex(leaf: Any) -> bool:
    """Whether an argument is a complex value or number."""
    return isinstance(leaf, complex) or (isinstance(leaf, (Var, Result)) and leaf.dtype.is_complex)


def _raw(z: Var) -> Var:
    """The real value that stands for a complex one."""
    return Var(z.name, real_dtype(z.dtype), (*(z.shape or ()), 2))


def _parts(g: Graph, z: Any, dtype: torch.dtype | None = None) -> tuple[Any, Any]:
    """Real and imaginary part, of any value or number; `dtype`: real, and both are Vars."""
    if not isinstance(z, Var):
        pair: tuple[Any, Any] = (z.real, z.imag) if isinstance(z, complex) else (z, 0)
    elif z.dtype.is_complex:
        kind = real_dtype(z.dtype)
        pair = tuple(Var(g.op("Gather", _raw(z), g.constant(part), axis=-1).name, kind, z.shape) for part in (0, 1))  # type: ignore[assignment]
    else:
        pair = z, Var(g.expand(g.constant(0, z.dtype), g.sizes_of(z)).name, z.dtype, z.shape)
    return pair if dtype is None else tuple(g.cast(each, dtype) for each in pair)  # type: ignore[return-value]


def _join(g: Graph, re: Any, im: Any, position: int = 0) -> Var:
    """A complex value of the result's dtype."""
    dtype = g.results[position].dtype
    shape = g.results[position].shape
    parts = [g.unsqueeze(g.cast(each, real_dtype(dtype)), [-1]) for each in (re, im)]
    return Var(g.op("Concat", *parts, axis=-1).name, dtype, shape)


def _of_real(g: Graph, name: str, args: Any, kwargs: Any) -> list[Any]:
    """What the row of `name` gives for real arguments."""
    results = g.results
    g.results = [Result(real_dtype(each.dtype), each.shape) for each in results]
    try:
        made = TABLE[name].function(g, *args, **kwargs)
        made = made if isinstance(made, (list, tuple)) else [made]
        return [g.cast(each, result.dtype) for each, result in zip(made, g.results, strict=True)]
    finally:
        g.results = results


def _by_parts(name: str, *mixed: type) -> None:
    """f(re) + i f(im); real operands of the types `mixed` have an imaginary part of zeros."""

    def translate(g: Graph, *args: Any, **kwargs: Any) -> Any:
        pairs = {
            id(leaf): _parts(g, leaf)
            for leaf in iterate_leaves((args, kwargs if not mixed else {}))
            if is_complex(leaf) or isinstance(leaf, mixed)
        }
        made = []
        for part in (0, 1):

            def take(leaf: Any, part: int = part) -> Any:
                return pairs[id(leaf)][part] if id(leaf) in pairs else leaf

            made.append(_of_real(g, name, map_leaves(take, args), map_leaves(take, kwargs)))
        return [_join(g, re, im, place) for place, (re, im) in enumerate(zip(*made, strict=True))]

    COMPLEX[name] = translate


def _by_products(name: str) -> None:
    """f(a, b) of a function that is linear in both."""

    def translate(g: Graph, *args: Any, **kwargs: Any) -> Any:
        factors = [leaf for leaf in iterate_leaves(args) if is_complex(leaf)]
        if len(factors) > 2 or any(map(is_complex, iterate_leaves(kwargs))):
            raise NotImplementedError("of more than two complex operands")
        pairs = [_parts(g, leaf) for leaf in factors]

        def product(*which: int) -> Any:
            chosen = iter([pair[part] for pair, part in zip(pairs, which, strict=True)])
            (made,) = _of_real(
                g, name, map_leaves(lambda leaf: next(chosen) if is_complex(leaf) else leaf, args), kwargs
            )
            return made

        if len(factors) == 1:
            return _join(g, product(0), product(1))
        re = g.op("Sub", product(0, 0), product(1, 1))
        return _join(g, re, g.op("Add", product(0, 1), product(1, 0)))

    COMPLEX[name] = translate


for _name in (
    "view", "reshape", "view_as", "reshape_as", "_unsafe_view", "flatten", "unflatten", "ravel", "squeeze", "unsqueeze",
    "transpose", "swapaxes", "swapdims", "t", "T", "mT", "permute", "movedim", "moveaxis", "expand", "broadcast_to",
    "expand_as", "repeat", "tile", "split", "split_with_sizes", "chunk", "unsafe_chunk", "unsafe_split",
    "unsafe_split_with_sizes", "tensor_split", "unbind", "select", "narrow", "slice", "flip", "fliplr", "flipud",
    "roll", "rot90", "pad", "constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "unfold",
    "as_strided", "getitem", "index_select", "take", "gather", "masked_select", "diagonal", "linalg_diagonal",
    "diag_embed", "tril", "triu", "neg", "negative", "positive", "alias", "clone", "contiguous", "detach", "data",
    "lift_fresh", "sum", "mean", "cumsum", "scatter", "index_copy", "atleast_1d", "atleast_2d", "atleast_3d",
    "resolve_neg",
):  # fmt: skip
    _by_parts(_name)
for _name in ("cat", "concat", "concatenate", "stack"):
    _by_parts(_name, Var)
for _name in ("add", "sub", "subtract", "rsub"):
    _by_parts(_name, Var, int, float)
for _name in (
    "mul", "multiply", "matmul", "linalg_matmul", "bmm", "mm", "mv", "dot", "outer", "ger", "einsum", "tensordot",
    "linear", "rmatmul",
):  # fmt: skip
    _by_products(_name)


def _of_complex(*names: str) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        COMPLEX.update(dict.fromkeys(names, function))
        return function

    return add


# ---------------------------------------------------------------------- between real and complex


@row("view_as_real")
def view_as_real(g: Graph, z: Var) -> Any:
    return _raw(z)


@row("view_as_complex")
def view_as_complex(g: Graph, x: Var) -> Any:
    return Var(x.name, g.dtype, g.shape)


@row("complex")
def complex_(g: Graph, re: Var, im: Var) -> Any:
    shape = g.sizes([*g.shape]) if None not in g.shape else None
    re, im = (each if shape is None or each.shape == g.shape else g.expand(each, shape) for each in (re, im))
    return _join(g, re, im)


@row("polar")
def polar(g: Graph, size: Var, angle: Var) -> Any:
    return _join(g, *(g.op("Mul", size, g.op(name, angle)) for name in ("Cos", "Sin")))


@_of_complex("real")
def real(g: Graph, z: Var) -> Any:
    return _parts(g, z)[0]


@row("imag")
def imag(g: Graph, z: Var) -> Any:
    return _parts(g, z)[1]


@row("conj_physical")
@_of_complex("conj")
def conj(g: Graph, z: Var) -> Any:
    return Var(g.op("Mul", _raw(z), g.constant([1.0, -1.0], real_dtype(z.dtype))).name, z.dtype, z.shape)


# What is resolved was a view that is recorded as its value already.
COMPLEX["resolve_conj"] = lambda g, z: z


@_of_complex("H", "mH", "adjoint")
def adjoint(g: Graph, z: Var) -> Any:
    return COMPLEX["mT"](g, conj(g, z)) if z.rank > 1 else conj(g, z)


@_of_complex("to", "type", "type_as")
def to(g: Graph, z: Var, *_: Any, **__: Any) -> Any:
    re, im = _parts(g, z)
    return _join(g, re, im) if g.dtype.is_complex else re


# ---------------------------------------------------------------------- arithmetic


@_of_complex("abs", "absolute")
def absolute(g: Graph, z: Var) -> Any:
    return g.reduce("ReduceL2", _raw(z), [-1], False)


@_of_complex("angle")
def angle_of_complex(g: Graph, z: Var) -> Any:
    re, im = _parts(g, z)
    return TABLE["atan2"].function(g, im, re)


@row("angle")
def angle(g: Graph, x: Var) -> Any:
    x = g.cast(x, g.dtype)
    negative = g.op("Where", g.op("Less", x, 0), g.constant(math.pi, x.dtype), g.constant(0.0, x.dtype), dtype=x.dtype)
    return g.op("Where", g.op("IsNaN", x), x, negative, dtype=x.dtype)


def _divided(g: Graph, numerator: Any, denominator: Any) -> Any:
    kind = real_dtype(common_type(numerator, denominator))
    (a, b), (c, d) = _parts(g, numerator, kind), _parts(g, denominator, kind)
    if not is_complex(denominator):
        return _join(g, g.op("Div", a, c), g.op("Div", b, c))
    square = g.op("Add", g.op("Mul", c, c), g.op("Mul", d, d))
    re = g.op("Add", g.op("Mul", a, c), g.op("Mul", b, d))
    im = g.op("Sub", g.op("Mul", b, c), g.op("Mul", a, d))
    return _join(g, g.op("Div", re, square), g.op("Div", im, square))


@_of_complex("div", "divide", "true_divide")
def div(g: Graph, a: Any, b: Any, **_: Any) -> Any:
    return _divided(g, a, b)


@_of_complex("rdiv")
def rdiv(g: Graph, a: Any, b: Any) -> Any:
    return _divided(g, b, a)


@_of_complex("reciprocal")
def reciprocal(g: Graph, z: Var) -> Any:
    return _divided(g, 1, z)


@_of_complex("square")
def square(g: Graph, z: Var) -> Any:
    return COMPLEX["mul"](g, z, z)


@_of_complex("pow")
def power(g: Graph, z: Any, exponent: Any) -> Any:
    if exponent != 2:
        raise NotImplementedError("powers of complex numbers other than squares")
    return square(g, z)


@_of_complex("exp")
def exp(g: Graph, z: Var) -> Any:
    re, im = _parts(g, z)
    return polar(g, g.op("Exp", re), im)


@_of_complex("log")
def log(g: Graph, z: Var) -> Any:
    return _join(g, g.op("Log", absolute(g, z)), angle_of_complex(g, z))


@_of_complex("where")
def where(g: Graph, condition: Var, a: Any, b: Any) -> Any:
    kind = real_dtype(g.dtype)
    pairs = zip(_parts(g, a, kind), _parts(g, b, kind), strict=True)
    return _join(g, *(g.op("Where", condition, one, two, dtype=kind) for one, two in pairs))


@_of_complex("masked_fill")
def masked_fill(g: Graph, z: Var, mask: Var, value: Any) -> Any:
    return where(g, mask, value, z)


@_of_complex("zeros_like")
def zeros_like(g: Graph, z: Var, **_: Any) -> Any:
    return Var(g.op("Mul", _raw(z), 0).name, z.dtype, z.shape)


# ---------------------------------------------------------------------- transforms


def _add_transform(name: str, **options: int) -> None:
    @row(name)
    def transform(g: Graph, x: Var, n: Any = None, dim: int = -1, norm: str | None = None) -> Any:
        inverse = "inverse" in options
        axis = dim % x.rank
        length = g.size_of(x, axis) if n is None else n
        signal = _raw(x) if x.dtype.is_complex else g.unsqueeze(g.cast(x, real_dtype(g.dtype)), [-1])
        count = None if n is None else g.number(n)
        if g.opset < 20:
            made = g.op("DFT", signal, count, axis=axis, **options)
        else:
            made = g.op("DFT", signal, count, g.constant(axis), **options)
        made = _scaled(g, made, length, norm or "backward", inverse)
        return Var(made.name, g.dtype, g.shape)


def _scaled(g: Graph, x: Var, length: Any, norm: str, inverse: bool) -> Var:
    """With the factor that `norm` asks for; DFT divides by the length when it goes back."""
    share = {"backward": 0.0, "ortho": 0.5, "forward": 1.0}[norm]
    if not share:
        return x
    size = g.cast(g.number(length), x.dtype)
    return g.op("Mul", x, g.op("Pow", size, g.constant(share if inverse else -share, x.dtype)))  # type: ignore[no-any-return]


_add_transform("fft_fft")
_add_transform("fft_ifft", inverse=1)
_add_transform("fft_rfft", onesided=1)


@row("stft")
def stft(
    g: Graph,
    x: Var,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Var | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    if align_to_window:
        raise NotImplementedError("align_to_window")
    if window is not None and window.dtype.is_complex:
        raise NotImplementedError("a complex window")
    kind = real_dtype(x.dtype)
    width = n_fft if win_length is None else win_length
    shape = window if window is not None else g.constant(torch.ones(width, dtype=kind))
    if width < n_fft:
        before = (n_fft - width) // 2
        shape = g.pad(shape, [before], [n_fft - width - before], value=0)
    signal = _raw(x) if x.dtype.is_complex else g.unsqueeze(x, [-1])
    signal = signal if x.rank == 2 else g.unsqueeze(signal, [0])
    half = not x.dtype.is_complex if onesided is None else onesided
    step = n_fft // 4 if hop_length is None else hop_length
    made = g.op("STFT", signal, g.number(step), g.cast(shape, kind), g.constant(n_fft), onesided=int(half))
    made = g.transpose(made, [0, 2, 1, 3])
    made = g.op("Mul", made, n_fft**-0.5) if normalized else made
    made = made if x.rank == 2 else g.squeeze(made, [0])
    return Var(made.name, g.dtype, g.shape) if g.dtype.is_complex else made
