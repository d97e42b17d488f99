"""Products of matrices, attention, and embeddings."""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._graph import Var
from torch.onnx._rows import row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph


@row("matmul", "bmm", "mm", "mv", "dot", "vdot", "linalg_matmul")
def matmul(g: Graph, a: Var, b: Var) -> Any:
    return g.op("MatMul", a, b)


@row("rmatmul")
def rmatmul(g: Graph, a: Var, b: Var) -> Any:
    return g.op("MatMul", b, a)


@row("linear")
def linear(g: Graph, x: Var, weight: Var, bias: Var | None = None) -> Any:
    if x.rank == 2 and weight.rank == 2 and x.dtype.is_floating_point:
        return g.op("Gemm", x, weight, bias, transB=1)
    transposed = g.transpose(weight, [1, 0]) if weight.rank == 2 else weight
    product = g.op("MatMul", x, transposed)
    return product if bias is None else g.op("Add", product, bias)


@row("bilinear")
def bilinear(g: Graph, a: Var, b: Var, weight: Var, bias: Var | None = None) -> Any:
    letters = "abcdefgh"[: a.rank - 1]
    result = g.op("Einsum", a, weight, b, equation=f"{letters}i,oij,{letters}j->{letters}o")
    return result if bias is None else g.op("Add", result, bias)


def _sum(g: Graph, x: Var, product: Any, beta: Any, alpha: Any) -> Any:
    product = product if alpha == 1 else g.op("Mul", product, g.cast(alpha, g.dtype))
    return product if beta == 0 else g.op("Add", x if beta == 1 else g.op("Mul", x, g.cast(beta, g.dtype)), product)


@row("addmm", "baddbmm", "addmv")
def addmm(g: Graph, x: Var, a: Var, b: Var, *, beta: Any = 1, alpha: Any = 1) -> Any:
    if a.rank == b.rank == 2 and g.dtype.is_floating_point:
        return g.op("Gemm", a, b, x, alpha=float(alpha), beta=float(beta))
    return _sum(g, x, g.op("MatMul", a, b), beta, alpha)


@row("addbmm")
def addbmm(g: Graph, x: Var, a: Var, b: Var, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum(g, x, g.reduce("ReduceSum", g.op("MatMul", a, b), [0], False), beta, alpha)


@row("addr")
def addr(g: Graph, x: Var, a: Var, b: Var, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum(g, x, outer(g, a, b), beta, alpha)


@row("outer", "ger")
def outer(g: Graph, a: Var, b: Var) -> Any:
    return g.op("Mul", g.unsqueeze(g.cast(a, g.dtype), [1]), g.cast(b, g.dtype))


@row("einsum")
def einsum(g: Graph, equation: Any, *operands: Any) -> Any:
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else list(operands)
    if not isinstance(equation, str):
        raise NotImplementedError("einsum of sublists")
    equation = equation.replace(" ", "")
    if "..." in equation and len({each.rank for each in tensors}) > 1:
        equation = _without_ellipsis(equation, [each.shape or () for each in tensors])
    return g.op("Einsum", *tensors, equation=equation)


def _without_ellipsis(equation: str, shapes: list[tuple[Any, ...]]) -> str:
    """With letters for the dimensions that `...` stands for, which ONNX wants to be as many in every operand."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    widths = [len(shape) - len(term.replace("...", "")) if "..." in term else 0
              for term, shape in zip(terms, shapes, strict=True)]  # fmt: skip
    dots = [letter for letter in string.ascii_letters if letter not in equation][: max(widths)]
    made = [term.replace("...", "".join(dots[len(dots) - width :])) for term, width in zip(terms, widths, strict=True)]
    sizes = [{shape[term.index(letter)] for term, shape in zip(made, shapes, strict=True) if letter in term}
             for letter in dots]  # fmt: skip
    if any(1 in each and len(each) > 1 for each in sizes):
        raise NotImplementedError("an ellipsis for dimensions of which some are repeated")
    if not arrow:
        right = "..." + "".join(sorted(each for each in set(left) - set(",.") if left.count(each) == 1))
    return f"{','.join(made)}->{right.replace('...', ''.join(dots))}"


@row("tensordot")
def tensordot(g: Graph, a: Var, b: Var, dims: Any = 2, out: Any = None) -> Any:
    first, second = (list(range(a.rank - dims, a.rank)), list(range(dims))) if isinstance(dims, int) else dims
    first, second = ([axis % rank for axis in axes] for axes, rank in ((first, a.rank), (second, b.rank)))
    letters = "abcdefghijklmnopqrstuvwxyz"
    left, right = letters[: a.rank], list(letters[a.rank : a.rank + b.rank])
    for x, y in zip(first, second, strict=True):
        right[y] = left[x]
    kept = [left[axis] for axis in range(a.rank) if axis not in first] + [
        right[axis] for axis in range(b.rank) if axis not in second
    ]
    return g.op("Einsum", a, b, equation=f"{left},{''.join(right)}->{''.join(kept)}")


@row("det", "linalg_det")
def det(g: Graph, x: Var) -> Any:
    return g.op("Det", x)


@row("linalg_cross")
def linalg_cross(g: Graph, a: Var, b: Var, *, dim: int = -1) -> Any:
    return cross(g, a, b, dim)


@row("cross")
def cross(g: Graph, a: Var, b: Var, dim: int | None = None) -> Any:
    if dim is None and 3 not in (a.shape or ()):
        raise NotImplementedError("no dimension of size 3 is known")
    axis = (a.shape or ()).index(3) - a.rank if dim is None else dim
    axis %= len(g.shape)

    def turned(x: Var, order: list[int]) -> Any:
        return g.op("Gather", x, g.constant(order), axis=axis)

    x, y = g.expand(a, g.sizes_of(b)), g.expand(b, g.sizes_of(a))
    return g.op(
        "Sub",
        g.op("Mul", turned(x, [1, 2, 0]), turned(y, [2, 0, 1])),
        g.op("Mul", turned(x, [2, 0, 1]), turned(y, [1, 2, 0])),
    )


@row("scaled_dot_product_attention")
def scaled_dot_product_attention(
    g: Graph,
    query: Var,
    key: Var,
    value: Var,
    attn_mask: Var | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if enable_gqa:
        key, value = (_repeated_heads(g, each, query.size(-3) // each.size(-3)) for each in (key, value))
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    # Half of the factor for each side, so that half precision does not overflow.
    root = math.sqrt(abs(factor))
    order = [*range(key.rank - 2), key.rank - 1, key.rank - 2]
    left, right = g.op("Mul", query, math.copysign(root, factor)), g.op("Mul", g.transpose(key, order), root)
    scores = g.op("MatMul", left, right)
    lowest = g.constant(float("-inf"), query.dtype)
    if is_causal:
        rows, columns = g.size_of(query, -2), g.size_of(key, -2)
        ones = g.expand(g.constant(1, torch.int32), g.sizes([rows, columns]))
        allowed = g.cast(g.op("Trilu", ones, g.constant(0), upper=0), torch.bool)
        scores = g.op("Where", allowed, scores, lowest, dtype=query.dtype)
    dead = None
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = g.op("Where", attn_mask, scores, lowest, dtype=query.dtype)
        living = g.cast(attn_mask, torch.int32)
        dead = g.op("Not", g.cast(g.reduce("ReduceMax", living, [-1], True), torch.bool))
    elif attn_mask is not None:
        scores = g.op("Add", scores, attn_mask)
    weights = g.op("Softmax", scores, axis=-1)
    if dead is not None:  # a row that may look at nothing sees zeros
        weights = g.op("Where", dead, g.constant(0.0, query.dtype), weights, dtype=query.dtype)
    if dropout_p:
        weights = g.op("Dropout", weights, g.constant(float(dropout_p), torch.float32), g.constant(True))
    return g.op("MatMul", weights, value)


def _repeated_heads(g: Graph, x: Var, count: int) -> Var:
    """Every head `count` times."""
    if count == 1:
        return x
    places = torch.arange(x.size(-3)).repeat_interleave(count)
    made = g.op("Gather", x, g.constant(places), axis=x.rank - 3)
    shape = x.shape or ()
    return Var(made.name, x.dtype, (*shape[:-3], len(places), *shape[-2:]))


@row("embedding")
def embedding(
    g: Graph,
    first: Var,
    second: Var,
    padding_idx: Any = None,
    max_norm: Any = None,
    *_: Any,
    **named: Any,
) -> Any:
    if max_norm is not None and not isinstance(max_norm, bool):
        raise NotImplementedError("max_norm, which writes into the weight")
    # torch.embedding takes the weight first, torch.nn.functional.embedding the indices.
    weight, indices = (second, first) if second.dtype.is_floating_point else (first, second)
    return g.op("Gather", weight, indices, axis=0)


@row("embedding_bag")
def embedding_bag(
    g: Graph,
    first: Var,
    second: Var,
    offsets: Var | None = None,
    *arguments: Any,
    mode: Any = "mean",
    per_sample_weights: Var | None = None,
    **named: Any,
) -> Any:
    weight, indices = (second, first) if second.dtype.is_floating_point else (first, second)
    if (
        len(arguments) > 1
        or indices.rank != 2
        or offsets is not None
        or len(g.results) > 1
        or named.get("padding_idx") is not None
    ):
        raise NotImplementedError("bags other than the rows of a matrix of indices")
    rows = g.op("Gather", weight, indices, axis=0)
    if per_sample_weights is not None:
        rows = g.op("Mul", rows, g.unsqueeze(per_sample_weights, [2]))
    kinds = {"sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax"}
    return g.reduce(kinds[mode], rows, [1], False)
