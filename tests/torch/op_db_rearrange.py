"""The rows of op_db for what moves elements, multiplies tensors of any shape, counts values, and for second names."""

from __future__ import annotations

from op_sample import I, Op, T, call, op

M = (3, 4)
X = T(M)
CUBE = T((2, 3, 4))
COUNTS = T((3,), 0, 3, "int64", gradient=False)
ROW = T((1, 4), 0, 3, "int64", gradient=False)

# Second names, with what they are called on.
COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "not_equal")
ARITHMETIC = ("multiply", "subtract", "divide", "true_divide")

OPS: tuple[Op, ...] = (
    # rearranging
    op("torch.roll", call(X, 1), call(X, -1, 0), call(CUBE, (1, 5), (0, 2)), call(T((0, 2)), 1), call(T(()), 1)),
    op("torch.tile", call(X, (2,)), call(T((3,)), (2, 2))),
    op("torch.repeat_interleave", call(X, 2), call(X, 3, 1), call(X, COUNTS, 0)),
    op("torch.repeat_interleave", call(COUNTS), call(I((3,), 2), output_size=1), gradient=False),
    op("torch.diag", call(T((3,))), call(T((3,)), -1), call(X), call(X, 1)),
    op("torch.diff", call(X), call(X, 2), call(X, 1, 0), dtypes=("float64", "int64", "bool")),
    op("torch.diff", call(X, 1, 0, T((1, 4)), T((2, 4))), call(X, 2, -1, append=T((3, 1))), call(X, 7)),
    op("torch.fliplr", call(X)),
    op("torch.flipud", call(X)),
    op("torch.tril_indices", call(3, 4), call(3, 4, -1), call(2, 5, 2), dtypes=("float32",), gradient=False),
    op("torch.triu_indices", call(3, 4), call(3, 4, -1), call(2, 5, 9), dtypes=("float32",), gradient=False),
    op("torch.atleast_1d", call(T(())), call(X), call(T(()), X)),
    op("torch.atleast_2d", call(T(())), call(T((3,))), call(X), call((T((2,)), X))),
    op("torch.atleast_3d", call(T(())), call(T((3,))), call(X), call(CUBE), call((T((2,)), X))),
    op("torch.dstack", call((X, X)), call((T((3,)), T((3,))))),
    op("torch.row_stack", call((X, T((4,))))),
    op("torch.meshgrid", call(T((3,)), T((2,)), indexing="ij"), call(T((3,)), T((2,)), indexing="xy")),
    op("torch.meshgrid", call((T((3,)), T((2,)), T(()))), call((T((3,)), T((2,)), T((2,))), indexing="xy")),
    # copies
    op("torch.scatter", call(X, 0, ROW, T((1, 4))), call(X, 0, ROW, 1.5)),
    op("torch.scatter_add", call(X, 1, I((3, 2), 4), T((3, 2)))),
    op("torch.index_add", call(T((5, 4)), 0, I((3,), 5), X, alpha=2)),
    op("torch.index_put", call(T((5,)), (I((3,), 5),), T((3,)), True)),
    op("Tensor.index_put", call(T((5,)), (I((3,), 5),), T((3,)), True)),
    # reductions
    op("torch.trace", call(X), call(T((3, 3)))),
    op(
        "torch.count_nonzero",
        call(T(M, 0, 2)),
        call(T(M, 0, 2), 1),
        call(T((2, 3, 4), 0, 2), (0, -1)),
        dtypes=("int64", "bool", "float32"),
        gradient=False,
    ),
    op("torch.aminmax", call(X), call(X, dim=1), call(X, dim=0, keepdim=True), call(T(())), call(T(()), dim=0)),
    op("torch.nan_to_num", call(X), dtypes=("float64", "int64")),
    op("torch.median", call(X), call(X, 1), call(X, 0, True), call(CUBE, -2), call(T(()))),
    op("torch.median", call(T((3, 5))), call(T((3, 5)), 1), dtypes=("uint8", "int32"), gradient=False),
    op("torch.var_mean", call(X), call(X, 1, keepdim=True), call(X, False), call(CUBE, (0, 2), True)),
    op("torch.std_mean", call(X), call(X, 0, correction=0), call(X, False), call(CUBE, (0, 2), True, keepdim=True)),
    op("torch.norm", call(X), call(X, 1), call(X, 3), call(X, 2, 1), call(X, float("inf")), call(X, 1, 0, True)),
    op("torch.norm", call(X, float("-inf"), 1), call(CUBE, 2.5, (0, 2)), call(X, "fro", (0, 1), True)),
    op(
        "torch.norm",
        call(X, 0),
        call(X, 0, 1),
        call(X, dtype="float64"),
        call(X, 1, 0, dtype="float64"),
        gradient=False,
    ),
    op("torch.is_nonzero", call(T((1,))), call(T((), 0, 1)), dtypes=("int64", "bool"), gradient=False),
    op("torch.is_inference", call(T((2,))), call(T(())), gradient=False),
    # products
    op("torch.vdot", call(T((4,)), T((4,))), scale=8),
    op("torch.inner", call(X, T((2, 4))), call(T(()), X), call(CUBE, T((4,))), scale=8),
    op("torch.kron", call(X, T((2, 2))), call(T((2,)), X), call(T(()), X)),
    op("torch.tensordot", call(CUBE, T((3, 4, 5))), call(X, T((4, 3)), ((1, 0), (0, 1))), scale=8),
    op("torch.tensordot", call(X, T((2,)), 0), call(X, X, ((-1,), (1,))), scale=8),
    op("torch.cdist", call(X, T((5, 4))), call(X, T((5, 4)), 1.0), call(CUBE, T((2, 5, 4)), 3.0), scale=8),
    op(
        "torch.einsum",
        call("ij,jk->ik", X, T((4, 5))),
        call("ij,jk", X, T((4, 2))),
        call("ij->", X),
        call("ji", X),
        call("ii->i", T((3, 3))),
        call("i,i,i->", T((3,)), T((3,)), T((3,))),
        call("bij,bjk,bkl->bil", CUBE, T((2, 4, 2)), T((2, 2, 3))),
        call("i,j->ji", T((2,)), T((3,))),
        call("...ij,...jk->...ik", CUBE, T((4, 2))),
        call("b...->...b", CUBE),
        call("...,...", X, T((4,))),
        call("ij,ij->j", X, T((1, 4))),
        scale=16,
    ),
    # different values
    op("torch.bincount", call(I((9,), 5)), call(I((9,), 5), T((9,)), 8), call(I((0,), 5), minlength=2), gradient=False),
    op("torch.bincount", call(T((9,), 0, 5)), call(T((9,), 0, 5), T((9,))), dtypes=("int32", "uint8"), gradient=False),
    op("torch.unique", call(I((9,), 5)), call(I((3, 4), 5), return_inverse=True, return_counts=True), gradient=False),
    op("torch.unique", call(T((7,))), call(T((0,)), return_inverse=True), dtypes=("float32", "bool"), gradient=False),
    op(
        "torch.unique",
        call(I((6, 2), 2), dim=0),
        call(I((2, 6), 2), return_inverse=True, return_counts=True, dim=-1),
        gradient=False,
    ),
    op("Tensor.unique", call(I((9,), 5), return_counts=True), gradient=False),
    # second names
    *(op(f"torch.{name}", call(X, T(M, 0.5)), call(X, 2), gradient=name in ARITHMETIC) for name in ARITHMETIC),
    *(op(f"torch.{name}", call(X, T(M)), call(X, 0.5), gradient=False) for name in COMPARISONS),
    *(op(f"Tensor.{name}_", call(X, T(M, 0.5)), call(X, 2)) for name in ARITHMETIC),
    *(op(f"{home}.{name}", call(X)) for name in ("absolute", "negative") for home in ("torch", "Tensor")),
    op("torch.divide", call(X, T(M, 1, 4), rounding_mode="floor"), gradient=False),
    op("torch.clip", call(X, -1, 1), call(X, min=0.5)),
    *(op(f"torch.{name}", call((X, T((2, 4))))) for name in ("concat", "concatenate")),
    op("torch.moveaxis", call(CUBE, 0, 2)),
    *(op(f"torch.{name}", call(CUBE, 0, 2)) for name in ("swapaxes", "swapdims")),
)
