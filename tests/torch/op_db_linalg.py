"""Rows of op_db: linear algebra on LAPACK, and Fourier transforms; test_linalg has factors that are not unique."""

from __future__ import annotations

from op_sample import FLOATS, T, call, op

COMPLEX = ("float64", "float32", "complex64")
A = T((3, 3), 0.5, 3.0)
STACK = T((2, 3, 3), 0.5, 3.0)
TALL = T((4, 3))
WIDE = T((3, 4))
V = T((3,))
B = T((3, 2))
SIGNAL = T((3, 8))

# What comes of inverses loses as many digits as the samples' matrices have of condition.
LOSSY = {"scale": 400.0, "gradient_scale": 4000.0}
# Only a triangle is read, but the gradient is that of the whole matrix, as in PyTorch.
TRIANGLE = {**LOSSY, "differences": False}


def _square(path: str, *more: object, **options: object):  # type: ignore[no-untyped-def]
    return op(path, call(A, *more), call(STACK, *more), dtypes=COMPLEX, **LOSSY, **options)  # type: ignore[arg-type]


OPS = (
    *(
        _square(path)
        for path in ("linalg.inv", "torch.inverse", "linalg.det", "torch.det", "linalg.pinv", "torch.pinverse")
    ),
    op("linalg.inv_ex", call(A), dtypes=COMPLEX, **LOSSY),
    op("linalg.slogdet", call(A), call(STACK), **LOSSY),
    op("torch.slogdet", call(A), **LOSSY),
    op("torch.logdet", call(STACK), differences=False, **LOSSY),
    op(
        "linalg.solve",
        call(A, B),
        call(STACK, V),
        call(STACK, T((2, 3, 2))),
        call(A, T((2, 3)), left=False),
        dtypes=COMPLEX,
        **LOSSY,
    ),
    op("linalg.solve_ex", call(A, B), **LOSSY),
    op(
        "linalg.solve_triangular",
        *(call(STACK, B, upper=upper, unitriangular=ones) for upper in (True, False) for ones in (True, False)),
        call(A, T((2, 2, 3)), upper=True, left=False),
        dtypes=COMPLEX,
        **LOSSY,
    ),
    op("torch.triangular_solve", call(B, A), call(B, STACK, False, True), **LOSSY),
    op("linalg.lu_factor", call(A), call(STACK), call(TALL), call(WIDE), dtypes=COMPLEX, **LOSSY),
    op("linalg.lu_factor_ex", call(A), **LOSSY),
    op("linalg.lu", call(A), call(TALL), call(WIDE), dtypes=COMPLEX, **LOSSY),
    op("linalg.lstsq", call(TALL, T((4, 2))), call(TALL, T((4,))), dtypes=COMPLEX, gradient=False, **LOSSY),
    op("linalg.eigvalsh", call(A), call(STACK, UPLO="U"), **TRIANGLE),
    op("linalg.svdvals", call(A), call(TALL), call(WIDE), dtypes=COMPLEX, **LOSSY),
    op(
        "linalg.matrix_rank",
        call(TALL),
        call(T((2, 3, 3)), hermitian=True),
        call(A, atol=1.0),
        gradient=False,
        dtypes=FLOATS,
    ),
    op(
        "linalg.vector_norm",
        *(call(TALL, p) for p in (2, 1, 0.5, float("inf"), -1)),
        call(TALL, dim=0, keepdim=True),
        dtypes=COMPLEX,
        scale=20,
        differences=False,
    ),
    op(
        "linalg.matrix_norm",
        *(call(TALL, p) for p in ("fro", "nuc", 2, -2, 1, -1, float("inf"), float("-inf"))),
        call(T((2, 3, 4)), "fro", (0, 2), True),
        dtypes=COMPLEX,
        **LOSSY,
    ),
    op("linalg.norm", call(TALL), call(V, 3), call(TALL, "nuc"), call(TALL, 1), call(T((2, 3, 4)), 2, 1), **LOSSY),
    op("torch.frobenius_norm", call(TALL, (0, 1)), scale=8),
    op("torch.nuclear_norm", call(TALL), call(T((2, 3, 4)), (0, 2)), **LOSSY),
    op("linalg.cond", call(A), call(A, 1), call(A, "fro"), call(TALL, -2), scale=20000, gradient=False),
    op("linalg.matrix_power", call(A, 3), call(A, -2), dtypes=FLOATS, scale=4000, gradient_scale=40000),
    op("torch.matrix_power", call(A, 2), dtypes=(*FLOATS, "int64"), scale=8),
    op(
        "linalg.matrix_exp", call(T((3, 3), -1, 1)), call(T((2, 2, 2), -2, 2)), dtypes=("float64", "complex64"), **LOSSY
    ),
    op("torch.matrix_exp", call(T((3, 3), -1, 1)), dtypes=("float64",), **LOSSY),
    op("linalg.matmul", call(TALL, WIDE), scale=8),
    op("linalg.multi_dot", call((TALL, WIDE, T((4, 2)))), call((T((4,)), TALL, T((3,)))), gradient=False, scale=40),
    op("linalg.diagonal", call(TALL), call(STACK, offset=1)),
    op("linalg.vecdot", call(TALL, T((4, 3))), call(TALL, V, dim=-1), dtypes=COMPLEX, scale=8),
    op("linalg.vander", call(V), call(TALL, N=5), dtypes=(*FLOATS, "int64"), scale=8),
    op("linalg.cross", call(TALL, TALL), call(T((3, 2)), T((3, 2)), dim=0), dtypes=(*COMPLEX, "int64"), scale=8),
    op("torch.cross", call(T((3, 2)), T((3, 2))), call(TALL, T((1, 3)), dim=-1), dtypes=(*FLOATS, "int64"), scale=8),
    op("linalg.tensorinv", call(T((2, 3, 6)), 2), **LOSSY),
    op("linalg.tensorsolve", call(T((2, 3, 6)), T((2, 3))), **LOSSY),
    op("torch.cholesky_solve", call(B, A), call(B, STACK, True), dtypes=COMPLEX, **TRIANGLE),
    op("torch.cholesky_inverse", call(A), call(STACK, True), dtypes=("float64",), **TRIANGLE),
    op(
        "torch.addmv",
        call(T((4,)), TALL, V),
        call(T(()), TALL, V, beta=0.5, alpha=2),
        dtypes=(*FLOATS, "int64"),
        scale=8,
    ),
    op("torch.addr", call(TALL, T((4,)), V), call(V, T((4,)), V, beta=2, alpha=3), dtypes=(*FLOATS, "int64"), scale=8),
    op(
        "torch.baddbmm",
        call(T((2, 3, 5)), T((2, 3, 4)), T((2, 4, 5))),
        call(T((5,)), T((2, 3, 4)), T((2, 4, 5)), beta=2, alpha=3),
        scale=20,
    ),
    op(
        "torch.addbmm",
        call(T((3, 5)), T((2, 3, 4)), T((2, 4, 5))),
        call(T((5,)), T((2, 3, 4)), T((2, 4, 5)), beta=2, alpha=3),
        scale=20,
    ),
    # Fourier transforms
    *(
        op(
            f"fft.{name}",
            call(SIGNAL),
            call(SIGNAL, 5, 0),
            call(T((7,)), 10, norm="ortho"),
            call(T((2, 31, 2)), None, 1, "forward"),
            dtypes=FLOATS if name in ("rfft", "ihfft") else COMPLEX,
            scale=40,
        )
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    ),
    *(
        op(
            f"fft.{name}{count}",
            call(SIGNAL),
            call(T((2, 3, 4)), (5, 3), (0, 2)),
            call(T((4, 4)), norm="ortho"),
            dtypes=FLOATS if name in ("rfft", "ihfft") else COMPLEX,
            scale=80,
        )
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for count in ("2", "n")
    ),
    op("fft.fftshift", call(SIGNAL), call(T((5, 4)), 0), dtypes=COMPLEX),
    op("fft.ifftshift", call(SIGNAL), call(T((5, 4)), 0), dtypes=COMPLEX),
    op(
        "torch.stft",
        call(T((20,)), 8, return_complex=True),
        call(T((2, 20)), 8, 3, 6, T((6,)), False, return_complex=True, onesided=False),
        scale=40,
    ),
    op("torch.istft", call(T((5, 6), dtype="complex64"), 8), dtypes=("float32",), scale=40),
)
