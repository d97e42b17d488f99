"""Every operator once: sample calls, dtypes, whether it has gradients, tolerances. See op_sample for the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import op_db_functions
import op_db_linalg
import op_db_nn
import op_db_rearrange
from op_sample import ALL, FLOATS, MORE_TYPES, NUMBERS, PREDICATES, B, Call, I, Op, T, call, op

if TYPE_CHECKING:
    from collections.abc import Iterator

M = (3, 4)
X = T(M)
POSITIVE = T(M, 0.3, 3.0)
S = T(M, strided=True)


def _binary(
    name: str, dtypes: tuple[str, ...] = NUMBERS, *, low: float = -3.0, numbers: bool = True, **more: Any
) -> Op:
    """Same shape, broadcast both ways, strided, empty, and with `numbers`."""
    x, y = T(M), T(M, low)
    calls = [
        call(x, y),
        call(T((3, 1, 4)), T((5, 1), low)),
        call(S, T((4,), low)),
        call(T((), -3.0), T(M, low)),
        call(T((0, 4)), T((1,), low)),
        *([call(x, 2)] if numbers else []),
    ]
    return op(f"torch.{name}", *calls, dtypes=dtypes, **more)


def _unary(name: str, dtypes: tuple[str, ...] = FLOATS, x: T = X, **more: Any) -> Op:
    other = T((2, 5), x.low, x.high, strided=True)
    return op(f"torch.{name}", call(x), call(other), call(T((), x.low, x.high)), call(T((0,))), dtypes=dtypes, **more)


def _reduction(name: str, dtypes: tuple[str, ...], **more: Any) -> Op:
    cube = T((2, 3, 4))
    return op(
        f"torch.{name}",
        call(X),
        call(cube, dim=1),
        call(cube, dim=-1, keepdim=True),
        call(T((2, 3, 4), strided=True), dim=0),
        call(T(())),
        dtypes=dtypes,
        **more,
    )


OPS: tuple[Op, ...] = (
    # creation: no gradient; the dtype is passed on by the table `creation` of test_creation
    op("torch.tril", call(X), call(T((2, 3, 4)), 1), call(X, -1), dtypes=ALL),
    op("torch.triu", call(X), call(T((2, 3, 4)), 1), call(X, -1), dtypes=ALL),
    # arithmetic
    _binary("add", ALL),
    op("torch.add", call(X, X, alpha=2), call(X, 3, alpha=2), dtypes=NUMBERS),
    _binary("sub"),
    op("torch.sub", call(X, X, alpha=2), dtypes=NUMBERS),
    op("torch.rsub", call(X, T(M)), call(X, 2), dtypes=FLOATS),
    _binary("mul", ALL, second_gradient=True),
    _binary("div", (*FLOATS, "int64"), low=0.5, second_gradient=True),
    op(
        "torch.div",
        *(call(X, T(M, 1, 4), rounding_mode=m) for m in ("floor", "trunc", None)),
        dtypes=NUMBERS,
        gradient=False,
    ),
    _binary("floor_divide", (*FLOATS, "int64", "int32", "uint8"), low=1, gradient=False),
    _binary("remainder", (*FLOATS, "int64", "int32"), low=1, gradient=False),
    op("torch.remainder", call(X, T(M, 1, 4)), call(X, 1.7), dtypes=FLOATS, differences=False),
    op(
        "torch.pow",
        call(T(M, 0.3, 2), T(M)),
        call(X, 2),
        call(X, 3),
        call(T(M, 0.3, 2), 0.5),
        call(T(M, 0.3, 2), -1.5),
        dtypes=FLOATS,
    ),
    op("torch.pow", call(2, X), call(X, 2), dtypes=("float64", "float32")),
    op("torch.pow", call(X, 2), call(X, 0), call(T(M), T(M, 0, 4)), dtypes=("int64", "int32"), gradient=False),
    _binary("maximum", ("float32", "float64", "int64", "uint8"), numbers=False),
    _binary("minimum", ("float32", "float64", "int64", "uint8"), numbers=False),
    op("torch.addcmul", call(X, X, T((4,))), call(X, X, X, value=0.5), dtypes=FLOATS),
    op("torch.addcdiv", call(X, X, POSITIVE), call(X, X, T((4,), 0.5), value=-2.0), dtypes=FLOATS),
    op("torch.lerp", call(X, X, 0.3), call(X, T((4,)), 0.8), dtypes=FLOATS),
    # comparison and logic
    *(
        _binary(name, ("float32", "float64", "int64", "bool"), gradient=False)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    *(
        _binary(name, PREDICATES, numbers=False, gradient=False)
        for name in ("logical_and", "logical_or", "logical_xor")
    ),
    op("torch.logical_not", call(X), call(T(M, 0, 2)), dtypes=PREDICATES, gradient=False),
    *(
        _binary(name, ("int64", "int32", "uint8", "bool"), gradient=False)
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor")
    ),
    op("torch.bitwise_not", call(X), dtypes=("int64", "uint8", "bool"), gradient=False),
    op("torch.where", call(B(M), X, X), call(B((4,)), X, T((3, 1))), call(B(M), X, 1.0), dtypes=(*FLOATS, "int64")),
    op("torch.where", call(B(M)), dtypes=("float32",), gradient=False),
    *(
        op(f"torch.{name}", call(X), dtypes=("float32", "int64"), gradient=False)
        for name in ("isnan", "isinf", "isfinite")
    ),
    op("torch.equal", call(X, X), call(X, T((4,))), dtypes=("float32", "int64"), gradient=False),
    op("torch.isclose", call(X, X), call(X, X, rtol=0.5, atol=0.5), dtypes=("float32", "float64"), gradient=False),
    op("torch.allclose", call(X, X), call(X, X, rtol=9.0, atol=9.0), gradient=False),
    # element by element
    _unary("neg", NUMBERS),
    _unary("abs", NUMBERS),
    *(
        _unary(name, (*FLOATS, "int64") if name == "sign" else FLOATS, differences=False)
        for name in ("sign", "floor", "ceil", "round", "trunc")
    ),
    _unary("reciprocal", x=POSITIVE),
    _unary("square", (*FLOATS, "int64")),
    *(_unary(name) for name in ("expm1", "sin", "cos", "erf")),
    _unary("exp", (*FLOATS, "int64")),
    _unary("tanh", second_gradient=True),
    _unary("sigmoid", (*FLOATS, "int64"), second_gradient=True),
    *(_unary(name, x=POSITIVE) for name in ("log", "log2", "log10", "log1p", "rsqrt")),
    _unary("sqrt", (*FLOATS, "int64"), x=POSITIVE),
    _unary("relu", (*FLOATS, "int64")),
    op("torch.clamp", call(X, -1, 1), call(X, min=0.5), call(X, max=0.5), dtypes=(*FLOATS, "int64")),
    op("torch.clamp_min", call(X, 0.25)),
    op("torch.clamp_max", call(X, 0.25)),
    op("F.gelu", call(X), call(X, approximate="tanh"), dtypes=FLOATS),
    op("F.silu", call(X), dtypes=FLOATS),
    op("F.leaky_relu", call(X), call(X, 0.2), dtypes=FLOATS),
    op("F.elu", call(X), call(X, 0.5)),
    op("F.softplus", call(X), call(X, 2.0, 3.0)),
    op("F.logsigmoid", call(X)),
    op("F.hardtanh", call(X), call(X, -0.5, 2.0)),
    # reductions
    _reduction("sum", ALL),
    op(
        "torch.sum",
        call(T((2, 3, 4)), dim=(0, 2)),
        call(T((2, 3, 4)), dim=(0, 1), keepdim=True),
        call(T((0, 3)), dim=0),
        dtypes=(*FLOATS, "int64"),
    ),
    op(
        "torch.sum",
        call(T((700, 33))),
        call(T((33, 700)), dim=1),
        call(T((700, 33)), dim=0),
        dtypes=FLOATS,
        gradient=False,
        scale=20,
    ),
    _reduction("mean", FLOATS),
    op("torch.mean", call(T((2, 3, 4)), dim=(0, 2)), dtypes=FLOATS),
    _reduction("prod", ("float32", "float64", "int64", "int32")),
    *(
        op(
            f"torch.{name}",
            call(X),
            call(X, dim=1),
            call(X, dim=0, correction=0),
            call(X, False),
            call(T((2, 3, 4)), (0, 2), True, keepdim=True),
        )
        for name in ("var", "std")
    ),
    *(
        op(
            f"torch.{name}",
            call(X),
            call(T((2, 3, 4)), 1),
            call(T((2, 3, 4)), (0, 2), True),
            dtypes=(*FLOATS, "int64", "uint8"),
        )
        for name in ("amax", "amin")
    ),
    *(
        op(f"torch.{name}", call(X), call(X, 1), call(X, 0, True), call(X, X), dtypes=(*FLOATS, "int64", "uint8"))
        for name in ("max", "min")
    ),
    *(
        op(f"torch.{name}", call(X), call(X, 1), call(X, 0, True), dtypes=("float32", "int64"), gradient=False)
        for name in ("argmax", "argmin")
    ),
    *(
        op(
            f"torch.{name}",
            call(T(M, 0, 2)),
            call(T(M, 0, 2), 1),
            call(T(M, 0, 2), 0, True),
            call(T((0, 3)), 0),
            dtypes=("bool", "float32", "int64", "uint8"),
            gradient=False,
        )
        for name in ("any", "all")
    ),
    op("torch.logsumexp", call(X, 1), call(T((2, 3, 4)), (0, 2), True)),
    op("torch.cumsum", call(X, 0), call(X, 1), call(T((2, 3, 4)), -2), dtypes=(*FLOATS, "int64", "int32")),
    op("torch.sort", call(T((3, 7))), call(T((3, 7)), 0), call(T((3, 7)), 1, True), dtypes=(*FLOATS,)),
    op("torch.argsort", call(T((3, 7))), call(T((3, 7)), 0, True), dtypes=FLOATS, gradient=False),
    op("torch.topk", call(T((3, 7)), 3), call(T((3, 7)), 2, 0, False), dtypes=FLOATS),
    # linear algebra
    op(
        "torch.mm",
        call(X, T((4, 5))),
        call(T((4, 3), strided=True), T((3, 2), strided=True)),
        call(T((0, 4)), T((4, 2))),
        dtypes=FLOATS,
        scale=8,
        second_gradient=True,
    ),
    op("torch.mm", call(X, T((4, 5))), dtypes=("int64", "int32"), gradient=False),
    op("torch.bmm", call(T((2, 3, 4)), T((2, 4, 5))), scale=8),
    op("torch.addmm", call(T((3, 5)), X, T((4, 5))), call(T((5,)), X, T((4, 5)), beta=0.5, alpha=2.0), scale=8),
    op("torch.mv", call(X, T((4,))), scale=8),
    op("torch.dot", call(T((6,)), T((6,))), scale=8),
    op("torch.outer", call(T((3,)), T((4,)))),
    op("torch.ger", call(T((3,)), T((4,)))),
    op(
        "torch.matmul",
        call(X, T((4, 5))),
        call(T((4,)), T((4,))),
        call(X, T((4,))),
        call(T((4,)), T((4, 2))),
        call(T((2, 1, 3, 4)), T((5, 4, 2))),
        call(T((2, 3, 4)), T((4, 2))),
        scale=8,
    ),
    op(
        "F.linear",
        call(X, T((5, 4))),
        call(T((2, 3, 4)), T((5, 4)), T((5,))),
        call(T((4,)), T((5, 4)), T((5,))),
        scale=8,
    ),
    # shape and views
    op("torch.as_strided", call(X, (2, 2), (1, 2)), call(X, (2, 3), (4, 1), 1), dtypes=("float64", "int64")),
    op("Tensor.view", call(X, 2, 6), call(X, -1), call(X, (4, 3)), dtypes=("float64", "bool")),
    op("torch.reshape", call(S, (2, 6)), call(X, (-1,)), call(X, (2, -1)), dtypes=("float64", "int64")),
    op("torch.flatten", call(T((2, 3, 4))), call(T((2, 3, 4)), 1), call(T((2, 3, 4)), 0, 1), call(T(()))),
    op("torch.ravel", call(S)),
    op("Tensor.expand", call(T((3, 1)), 3, 4), call(T((3, 1)), -1, 2), call(T((4,)), (2, 4))),
    op("Tensor.expand_as", call(T((4,)), X)),
    op("torch.broadcast_to", call(T((4,)), (3, 4))),
    op("torch.broadcast_tensors", call(T((4,)), T((3, 1)))),
    op("torch.permute", call(T((2, 3, 4)), (2, 0, 1)), call(T((2, 3, 4)), (0, -1, 1))),
    op("torch.transpose", call(X, 0, 1), call(T((2, 3, 4)), -1, 0)),
    op("torch.t", call(X), call(T((3,)))),
    op("torch.squeeze", call(T((1, 3, 1))), call(T((1, 3, 1)), 0), call(T((1, 3, 1)), 1)),
    op("torch.unsqueeze", call(X, 0), call(X, -1)),
    op("torch.select", call(X, 0, 1), call(X, 1, -1)),
    op("torch.narrow", call(X, 1, 1, 2)),
    op("torch.diagonal", call(X), call(X, 1), call(T((2, 3, 3)), 0, 1, 2)),
    op("Tensor.unfold", call(T((7,)), 0, 3, 2), call(X, 1, 2, 1)),
    op("torch.unbind", call(X), call(X, 1)),
    op("torch.split", call(T((7, 2)), 3), call(T((7, 2)), [2, 5]), call(X, 2, 1)),
    op("torch.chunk", call(T((7, 2)), 3), call(X, 2, 1)),
    op("torch.flip", call(X, (0,)), call(X, (0, 1))),
    op("torch.movedim", call(T((2, 3, 4)), 0, 2), call(T((2, 3, 4)), (0, -1), (1, 0))),
    op("Tensor.repeat", call(X, 2, 1), call(T((3,)), 2, 2)),
    op("Tensor.sum_to_size", call(X, 1, 4), call(X, 4)),
    # indexing
    op("torch.index_select", call(X, 0, I((5,), 3)), call(X, 1, I((2,), 4))),
    op("Tensor.index_add_", call(T((5, 4)), 0, I((3,), 5), X), call(T((5, 4)), 0, I((3,), 5), X, alpha=2)),
    op("Tensor.index_put_", call(T((5,)), (I((3,), 5),), T((3,)), True), dtypes=("float64", "int64")),
    op("torch.gather", call(X, 1, I((3, 2), 4)), call(X, 0, I((2, 4), 3))),
    op(
        "Tensor.scatter_",
        call(X, 0, T((1, 4), 0, 3, "int64", gradient=False), T((1, 4))),
        call(X, 0, T((1, 4), 0, 3, "int64", gradient=False), 1.5),
    ),
    op("Tensor.scatter_add_", call(X, 1, I((3, 2), 4), T((3, 2)))),
    op("torch.masked_fill", call(X, B(M), 2.0), call(X, B((4,)), 0.0)),
    op("Tensor.masked_fill_", call(X, B(M), 2.0)),
    op("torch.masked_select", call(X, B(M)), call(X, B((4,)))),
    op("torch.nonzero", call(T(M, 0, 2)), dtypes=("int64", "bool", "float32"), gradient=False),
    op("torch.take_along_dim", call(X, I((3, 2), 4), 1)),
    op("F.embedding", call(I((2, 3), 5), T((5, 4)))),
    op("F.embedding", call(I((2, 3), 5), T((5, 4)), padding_idx=1), differences=False),
    op("F.one_hot", call(I((2, 3), 5)), call(I((4,), 3), 6), gradient=False, dtypes=("float32",)),
    *op_db_linalg.OPS,
    *op_db_functions.OPS,
    *op_db_nn.OPS,
    *op_db_rearrange.OPS,
    # lists of tensors
    op("torch.clone", call(S), dtypes=ALL),
    op("Tensor.contiguous", call(S), dtypes=("float64", "bool")),
    op("Tensor.fill_", call(X, 2), dtypes=NUMBERS),
    op("Tensor.copy_", call(X, T((4,))), call(X, T(M, 0, 3, "int64", gradient=False)), dtypes=(*FLOATS, "int64")),
    op("Tensor.zero_", call(X), dtypes=ALL),
    # in place, where the functional face exists
    *(
        op(f"Tensor.{name}_", call(X, T(M, 0.5)), call(X, T((4,), 0.5)), call(X, 2))
        for name in ("add", "sub", "mul", "div")
    ),
    *(
        op(f"Tensor.{name}_", call(POSITIVE))
        for name in (
            "neg",
            "abs",
            "exp",
            "log",
            "sqrt",
            "rsqrt",
            "sin",
            "cos",
            "tanh",
            "sigmoid",
            "relu",
            "reciprocal",
            "floor",
            "round",
        )
    ),
    op("Tensor.clamp_", call(X, -1, 1)),
    op("Tensor.pow_", call(POSITIVE, 2), call(POSITIVE, X)),
    op("Tensor.addcmul_", call(X, X, X, value=0.5)),
    op("Tensor.addcdiv_", call(X, X, POSITIVE, value=0.5)),
    op("Tensor.lerp_", call(X, X, 0.25)),
    op("Tensor.type_as", call(X, T((1,), dtype="float32", gradient=False)), gradient=False),
)

LISTS: tuple[tuple[str, tuple[T, ...], int], ...] = (
    ("cat", (X, T((2, 4))), 0),
    ("cat", (X, T((3, 1)), T((3, 0))), 1),
    ("stack", (X, X), 0),
    ("stack", (X, X, X), -1),
    ("vstack", (X, T((4,))), 0),
    ("hstack", (T((2,)), T((3,))), 0),
    ("column_stack", (T((3,)), X), 0),
)


# What PyTorch makes of complex numbers here depends on its ways inside: it averages them where a window is all there
# is, and convolves them in conv2d alone.
HALVES_ONLY = ("F.adaptive_avg_pool2d", "torch.convolution")


def samples(dtype_filter: str | None = None) -> Iterator[tuple[str, Op, Call, str]]:
    """(key, row, sample, dtype) of everything in the table; keys are unique.

    The first sample of a row for float32 is asked in the small floating and the complex dtypes, too: where PyTorch
    refuses them, its error is the answer.
    """
    seen: dict[str, int] = {}
    for row in OPS:
        for number, sample in enumerate(row.calls):
            asked = MORE_TYPES[:2] if row.path in HALVES_ONLY else MORE_TYPES
            more = () if number or "float32" not in row.dtypes else tuple(d for d in asked if d not in row.dtypes)
            for dtype in (*row.dtypes, *more):
                if dtype_filter in (None, dtype):
                    key = f"{row.path}-{number}-{dtype}"
                    again = seen[key] = seen.get(key, -1) + 1
                    yield (f"{key}-{again}" if again else key), row, sample, dtype
