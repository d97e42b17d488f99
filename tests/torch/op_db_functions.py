"""The rows of op_db for functions of numbers, statistics, and more ways of rearranging and of writing by positions."""

from __future__ import annotations

from typing import Any

from op_sample import B, Call, I, Op, T, call, op

M = (3, 4)
X = T(M)
UNIT = T(M, -0.9, 0.9)
POSITIVE = T(M, 0.3, 3.0)
CUBE = T((2, 3, 4))
WHOLE = T(M, -9, 9)
INTEGRAL = ("int64", "int32", "uint8")
REAL = ("float64", "int64")


def _unary(home: str, names: str, x: T = X, **more: Any) -> tuple[Op, ...]:
    """The function on a matrix, a strided one, a number and nothing."""
    strided = T((2, 5), x.low, x.high, strided=True)
    calls = (call(x), call(strided), call(T((), x.low, x.high)), call(T((0,))))
    return tuple(
        op(f"{home}.{name}", *calls, dtypes=("float64", "float32"), scale=30, **more) for name in names.split()
    )


def _pairs(x: T, y: T) -> tuple[Call, ...]:
    return (call(x, y), call(x, T((4,), y.low, y.high)), call(T((0, 4), x.low, x.high), T((1,), y.low, y.high)))


def _binary(home: str, names: str, x: T = X, y: T = X, **more: Any) -> tuple[Op, ...]:
    keywords: dict[str, Any] = {"dtypes": ("float64", "float32"), "scale": 30, **more}
    return tuple(op(f"{home}.{name}", *_pairs(x, y), **keywords) for name in names.split())


OPS: tuple[Op, ...] = (
    # of one number
    *_unary("torch", "tan", UNIT),
    *_unary("torch", "acos arccos asin arcsin atanh arctanh erfinv", UNIT),
    *_unary("torch", "acosh arccosh", T(M, 1.1, 4.0)),
    *_unary("torch", "asinh arcsinh atan arctan cosh sinh exp2 sinc erfc i0 deg2rad rad2deg positive"),
    *_unary("torch", "lgamma", POSITIVE),
    *_unary("torch", "digamma", POSITIVE, gradient_scale=1e6),  # PyTorch's slope of it has nine digits
    *_unary("torch", "frac", differences=False),
    *_unary("torch", "signbit isposinf isneginf", gradient=False),
    op("torch.signbit", call(X), dtypes=("int64", "bool"), gradient=False),
    op("torch.logit", call(T(M, 0.1, 0.9)), call(T(M, 0.0, 1.0), 0.2), scale=10),
    op("torch.mvlgamma", call(T(M, 2.5, 6.0), 3), call(T(M, 2.5, 6.0), 1), scale=10),
    op("torch.polygamma", call(0, POSITIVE), call(1, POSITIVE), call(3, POSITIVE), scale=1e5, gradient_scale=1e6),
    op("Tensor.polygamma", call(POSITIVE, 1), call(POSITIVE, 2), scale=1e5, gradient_scale=1e6),
    op("torch.frexp", call(X), call(T((0,))), gradient=False),
    *_unary("special", "airy_ai", T(M, -1.5, 2.0), gradient=False),
    *_unary("special", "bessel_j0 bessel_j1 modified_bessel_i0 modified_bessel_i1 spherical_bessel_j0", gradient=False),
    *_unary("special", "bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1", POSITIVE, gradient=False),
    *_unary("special", "scaled_modified_bessel_k0 scaled_modified_bessel_k1", POSITIVE, gradient=False),
    *_unary("special", "erfcx i0e i1 i1e log_ndtr ndtr expit exp2 expm1 erf erfc sinc round i0", differences=False),
    *_unary("special", "entr gammaln log1p", POSITIVE),
    *_unary("special", "digamma psi", POSITIVE, gradient_scale=1e6),
    *_unary("special", "ndtri logit", T(M, 0.1, 0.9)),
    *_unary("special", "erfinv", UNIT),
    op("special.multigammaln", call(T(M, 2.5, 6.0), 3), scale=10),
    op("special.polygamma", call(2, POSITIVE), scale=1e5),
    op("special.logsumexp", call(X, 1), call(X, 0, keepdim=True)),
    op("special.softmax", call(X, 1), call(X, 0, dtype="float64")),
    op("special.log_softmax", call(X, 1), call(X, 0, dtype="float64")),
    # of two
    *_binary("torch", "atan2 arctan2 copysign hypot", y=POSITIVE),
    *_binary("torch", "logaddexp logaddexp2", dtypes=("float64",)),
    *_binary("torch", "nextafter", dtypes=("float64",), gradient=False, scale=0),
    *_binary("torch", "igamma igammac", POSITIVE, POSITIVE, gradient=False),
    *_binary("torch", "fmax fmin", dtypes=("float64", "int64")),
    *_binary("torch", "fmod", y=T(M, 1, 4), dtypes=("float64", "int64"), differences=False),
    op("torch.fmod", call(WHOLE, 3), call(X, 1.5), dtypes=("float64",), differences=False),
    *_binary("torch", "heaviside", T(M, -1, 2), dtypes=("float64", "int64"), gradient=False),
    *_binary("torch", "gcd lcm", WHOLE, WHOLE, dtypes=("int64", "int32"), gradient=False),
    *_binary(
        "torch", "bitwise_left_shift bitwise_right_shift", T(M, 0, 50), T(M, 0, 3), dtypes=INTEGRAL, gradient=False
    ),
    op("torch.bitwise_right_shift", call(WHOLE, 1), call(64, T(M, 0, 4)), dtypes=("int64",), gradient=False),
    *_binary("torch", "xlogy", y=POSITIVE),
    op("torch.xlogy", call(X, 2.0), call(2.0, POSITIVE)),
    *_binary("special", "xlogy xlog1py", y=POSITIVE),
    *_binary("special", "zeta", T(M, 1.5, 4.0), POSITIVE, gradient=False),
    *_binary("special", "gammainc gammaincc", POSITIVE, POSITIVE, gradient=False),
    *(
        op(f"special.{name}", call(X, T(M, 0, 6, "int64", gradient=False)), call(UNIT, 4), gradient=False, scale=60)
        for kind in "tuvw"
        for name in (f"chebyshev_polynomial_{kind}", f"shifted_chebyshev_polynomial_{kind}")
    ),
    *(
        op(f"special.{name}", call(X, T(M, 0, 6, "int64", gradient=False)), call(UNIT, 4), gradient=False, scale=60)
        for name in ("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p")
    ),
    op("torch.ldexp", call(X, T(M, 0, 3, "int64", gradient=False))),
    op("torch.float_power", call(POSITIVE, 2), call(POSITIVE, X), call(2, X), dtypes=("float64", "float32")),
    op("torch.float_power", call(WHOLE, 2), dtypes=("int64",), gradient=False),
    op("torch.lerp", call(X, X, T(M, 0, 1)), call(X, X, T((4,), 0, 1))),
    # copies of views
    op("torch.alias_copy", call(X)),
    op("torch.as_strided_copy", call(T((12,)), (2, 3), (4, 1)), call(T((12,)), (3,), (2,), 1)),
    op("torch.diagonal_copy", call(X), call(CUBE, 1, 0, 2)),
    op("torch.expand_copy", call(T((3, 1)), (2, 3, 4))),
    op("torch.narrow_copy", call(X, 1, 1, 2)),
    op("torch.permute_copy", call(CUBE, (2, 0, 1))),
    op("torch.split_with_sizes_copy", call(X, (1, 2)), call(X, (1, 3), 1)),
    op("torch.squeeze_copy", call(T((1, 3, 1))), call(T((1, 3, 1)), 0)),
    op("torch.t_copy", call(X)),
    op("torch.transpose_copy", call(CUBE, 0, 2)),
    op("torch.unbind_copy", call(X), call(X, 1)),
    op("torch.unfold_copy", call(X, 1, 2, 1)),
    op("torch.unsqueeze_copy", call(X, 1)),
    op("torch.view_copy", call(X, (2, 6))),
    # rearranging
    op("torch.argwhere", call(T(M, 0, 2)), dtypes=("int64", "bool"), gradient=False),
    # PyTorch gives `input` the gradient of what was written over.
    op("torch.as_strided_scatter", call(X, T((2, 2)), (2, 2), (1, 2)), gradient=False),
    op("torch.diagonal_scatter", call(X, T((3,))), call(CUBE, T((4, 2)), 0, 0, 1)),
    op("torch.select_scatter", call(X, T((4,)), 0, 1), call(X, T((3,)), -1, 2)),
    op("torch.slice_scatter", call(X, T((2, 4)), 0, 1, 3), call(X, T((3, 2)), 1, 0, 4, 2)),
    op("torch.block_diag", call(X, T((2, 2)), T((3,)), T(()))),
    op("torch.cartesian_prod", call(T((2,)), T((3,))), call(T((2,)))),
    op("torch.combinations", call(T((4,))), call(T((4,)), 3), call(T((3,)), 2, True)),
    op("torch.combinations", call(T((2,)), 0), gradient=False),
    op("torch.diag_embed", call(X), call(X, 1), call(CUBE, -1, 0, 2)),
    op("torch.diagflat", call(X), call(T((3,)), -1)),
    *(
        op(f"torch.{name}", call(T((4, 4, 4)), 2), call(T((4, 4, 4)), (1, 3)))
        for name in ("hsplit", "vsplit", "dsplit")
    ),
    op("torch.tensor_split", call(X, 3, 1), call(X, (1, 2), 1), call(T((5,)), 3)),
    op("torch.split_with_sizes", call(X, (1, 2)), call(X, (1, 3), 1)),
    op("torch.unsafe_split_with_sizes", call(X, (1, 2))),
    op("torch.unsafe_chunk", call(X, 2)),
    op("torch.unsafe_split", call(X, 2, 1)),
    op("torch.rot90", call(X), call(X, 2), call(CUBE, -1, (0, 2))),
    op("torch.vander", call(T((3,))), call(T((3,)), 2, True), gradient=False),
    op("torch.unflatten", call(X, 1, (2, 2)), call(X, 0, (-1, 1))),
    op("torch.squeeze", call(T((1, 3, 1)), (0, 2)), call(T((1, 3, 1)), (0, 1))),
    op("torch.unravel_index", call(I((3,), 6), (2, 3)), gradient=False),
    op("torch.msort", call(X)),
    op("torch.isin", call(WHOLE, T((5,), -9, 9)), call(WHOLE, 2, invert=True), dtypes=REAL, gradient=False),
    op("torch.nonzero_static", call(T(M, 0, 2), size=4), call(T(M, 0, 2), size=20), dtypes=("int64",), gradient=False),
    # that become views
    op("Tensor.squeeze_", call(T((1, 3, 1))), call(T((1, 3, 1)), 0), call(T((1, 3, 1)), (0, 2))),
    op("Tensor.unsqueeze_", call(X, 1)),
    *(op(f"Tensor.{name}_", call(CUBE, 0, 2)) for name in ("transpose", "swapdims", "swapaxes")),
    op("Tensor.t_", call(X)),
    op("Tensor.as_strided_", call(T((12,)), (2, 3), (4, 1))),
    op("torch.as_strided_", call(T((12,)), (2, 3), (4, 1)), gradient=False),
    op("Tensor.resize_", call(X, (2, 2)), call(X, (3, 4)), gradient=False),
    op("torch.resize_as_", call(X, T((2, 2))), gradient=False),
    op("torch.fill", call(X, 2.5), call(X, T(()))),
    op(
        "torch.native_layer_norm", call(X, (4,), T((4,)), T((4,)), 1e-5), call(CUBE, (3, 4), None, None, 1e-5), scale=30
    ),
    op(
        "torch.native_group_norm",
        call(T((2, 4, 3)), T((4,)), T((4,)), 2, 4, 3, 2, 1e-5),
        dtypes=("float64",),
        gradient=False,
        scale=30,
    ),
    op("torch.linspace", call(1 + 2j, 3 - 1j, 5), dtypes=("float32",), gradient=False, scale=4),
    # by positions
    op("torch.take", call(X, I((2, 3), 12))),
    op("torch.put", call(X, I((1, 2), 12), T((1, 2))), call(X, I((2, 3), 12), T((2, 3)), True)),
    op("torch.index_copy", call(T((5, 4)), 0, I((1,), 5), T((1, 4))), call(X, 1, I((1,), 4), T((3, 1)))),
    op("torch.index_fill", call(X, 0, I((2,), 3), 7.0), call(X, -1, I((2,), 4), T(()))),
    *(
        op(
            "torch.index_reduce",
            call(T((5, 4), 1, 3), 0, I((3,), 5), T(M, 1, 3), name, include_self=own),
            dtypes=("float64",),
        )
        for name in ("prod", "mean", "amax", "amin")
        for own in (True, False)
    ),
    op("torch.masked_scatter", call(X, B(M), T((12,))), call(X, B((4,)), T((12,)))),
    *(
        op(
            "torch.scatter_reduce",
            call(T(M, 1, 3), 1, I((3, 5), 4), T((3, 5), 1, 3), name, include_self=own),
            dtypes=("float64",),
        )
        for name in ("sum", "prod", "mean", "amax", "amin")
        for own in (True, False)
    ),
    op("torch.scatter", call(X, 1, I((3, 2), 4), T((3, 2)), reduce="multiply"), gradient=False),
    op("torch.scatter", call(X, 1, I((3, 2), 4), 2.0, reduce="add"), gradient=False),
    # statistics
    op(
        "torch.cumprod",
        call(X, 1),
        call(T((2, 3, 4)), 0),
        call(T(M, -1, 2, "float64"), 1),
        dtypes=("float64", "float32", "int64"),
    ),
    op("torch.logcumsumexp", call(X, 1), call(X, 0), dtypes=("float64",)),
    *(op(f"torch.{name}", call(X, 1), call(CUBE, 0), call(T(()), 0)) for name in ("cummax", "cummin")),
    op("torch.kthvalue", call(X, 2), call(X, 1, 0, True), call(T(()), 1)),
    op("torch.mode", call(X), call(CUBE, 1, True)),
    op("torch.nanmedian", call(X), call(X, 1), call(X, 0, True)),
    *(op(f"torch.{name}", call(X), call(X, 1), call(CUBE, (0, 2), True)) for name in ("nansum", "nanmean")),
    *(
        op(
            f"torch.{name}",
            call(X, 0.3),
            call(X, T((3,), 0, 1, gradient=False), 1),
            call(X, 0.6, 0, True),
            *(call(X, 0.4, 1, interpolation=way) for way in ("lower", "higher", "nearest", "midpoint")),
        )
        for name in ("quantile", "nanquantile")
    ),
    op("torch.searchsorted", call(I((5,), 1), X), call(I((3, 2), 1), T(M), right=True), gradient=False),
    op("torch.bucketize", call(X, I((3,), 1)), call(X, I((3,), 1), out_int32=True, right=True), gradient=False),
    op("torch.histc", call(X, 5, -2, 2), call(X, 4), gradient=False),
    op("torch.histogram", call(X, 4), call(X, 3, range=(-2.0, 2.0), density=True), gradient=False),
    op("torch.histogramdd", call(T((9, 2)), (2, 3)), call(T((9, 2)), 3, weight=T((9,))), gradient=False),
    op("torch.cov", call(X), call(X, correction=0), call(T((4,))), call(X, fweights=I((4,), 5)), scale=8),
    op("torch.corrcoef", call(X), scale=8),
    op("torch.dist", call(X, T(M)), call(X, X, 1), call(X, T((4,)), 3.0)),
    # The gradient is not that of the steps: formulas_nn.cpp compares it.
    op(
        "torch.fake_quantize_per_tensor_affine",
        call(X, 0.07, 3, 0, 15),
        call(CUBE, 0.1, 0, -8, 7),
        dtypes=("float32",),
        gradient=False,
    ),
    op(
        "torch.fake_quantize_per_channel_affine",
        call(X, T((4,), 0.1, 1.0, "float32"), T((4,), 0, 5, "int32"), 1, 0, 15),
        dtypes=("float32",),
        gradient=False,
    ),
    op("torch.renorm", call(X, 2, 0, 1.0), call(CUBE, 1, 1, 2.0)),
    *(op(f"torch.{name}", call(X), call(X, T((4,))), call(X, dx=0.5, dim=0)) for name in ("trapezoid", "trapz")),
    op("torch.cumulative_trapezoid", call(X), call(X, T((4,))), call(X, dx=0.5, dim=0)),
    op("torch.gradient", call(X), call(X, spacing=2.0), call(X, dim=1, edge_order=2), scale=8),
    op(
        "torch.unique_consecutive",
        call(I((9,), 2)),
        call(I((9,), 2), return_inverse=True, return_counts=True),
        gradient=False,
    ),
    op("torch.unique_consecutive", call(I((5, 2), 2), dim=0), gradient=False),
    op(
        "torch.any",
        call(T(M, 0, 2), (0, 1)),
        call(T((2, 3, 4), 0, 2), (0, 2), True),
        dtypes=("bool", "uint8"),
        gradient=False,
    ),
    op(
        "torch.all",
        call(T(M, 0, 2), (0, 1)),
        call(T((2, 3, 4), 0, 2), (0, 2), True),
        dtypes=("bool", "uint8"),
        gradient=False,
    ),
    op("torch.sort", call(X, stable=True), call(X, stable=True, dim=0, descending=True)),
    # sequences
    op("torch.logspace", call(-2, 2, 5), call(0, 3, 4, 2.0), dtypes=("float32",), gradient=False, scale=4),
    op("torch.range", call(1, 4), call(0, 2, 0.5), dtypes=("float32",), gradient=False),
    op("torch.empty_permuted", call((0, 3), (1, 0)), dtypes=("float32",), gradient=False),
    *(
        op(f"torch.{name}_window", call(8), call(7, False), call(1), dtypes=("float32",), gradient=False)
        for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
    ),
)
