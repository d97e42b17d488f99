"""Rules of functions that work element by element, of those that do not look at shapes, and of random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch import _schemas
from torch._functorch._rules import (
    aligned,
    batches,
    check_random,
    check_written,
    dynamic_shape,
    finish,
    is_random,
    is_write,
    loop,
    rank_of,
    rule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._functorch._levels import Level

_UNARY = (
    "neg negative positive abs absolute sign sgn signbit floor ceil round fix trunc frac reciprocal square exp "
    "exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh "
    "asinh acosh atanh arcsinh arccosh arctanh sinc erf erfc erfinv sigmoid logit relu gelu silu mish elu selu "
    "celu softplus hardtanh hardsigmoid hardswish hardshrink leaky_relu log_sigmoid threshold digamma lgamma "
    "mvlgamma polygamma i0 isnan isinf isfinite isreal isposinf isneginf nan_to_num logical_not bitwise_not clamp "
    "clip clamp_min clamp_max angle real imag conj conj_physical resolve_conj resolve_neg deg2rad rad2deg frexp "
    "special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_entr "
    "special_erfcx special_i0e special_i1 special_i1e special_log_ndtr special_ndtr special_ndtri "
    "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 "
    "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0 "
    "special_expit special_logit special_round special_digamma special_psi special_gammaln special_polygamma "
    "special_multigammaln special_exp2 special_expm1 special_erf special_erfc special_erfinv special_i0 "
    "special_sinc special_log1p softshrink"
)
_SEVERAL = (
    "add sub subtract rsub mul multiply div divide true_divide floor_divide remainder fmod pow float_power "
    "maximum minimum fmax fmin addcmul addcdiv lerp eq ne lt le gt ge not_equal less less_equal greater "
    "greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
    "bitwise_right_shift isclose complex polar atan2 arctan2 copysign hypot nextafter igamma igammac logaddexp "
    "logaddexp2 heaviside gcd lcm xlogy ldexp special_xlog1py special_xlogy special_zeta special_gammainc "
    "special_gammaincc where masked_fill copy special_chebyshev_polynomial_t special_chebyshev_polynomial_u "
    "special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_hermite_polynomial_h "
    "special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p "
    "special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u "
    "special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w _standard_gamma_grad "
    "_dirichlet_grad"
)


_OPERATORS = (
    " ".join(
        f"__{name}__"
        for each in ("and", "or", "xor", "lshift", "rshift", "add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
        for name in (each, f"i{each}", f"r{each}")
    )
    + " __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __invert__ __neg__ __abs__ __pos__"
)


def _with_writes(names: str) -> str:
    return " ".join(f"{name} {name}_" for name in names.split() if not name.endswith("_"))


@rule(_with_writes(_UNARY))
@rule(_with_writes(_SEVERAL))
@rule(_OPERATORS)
def elementwise(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Elements of elements: ranks are made alike, so that the batch's dimension meets none but itself."""
    name = func.__name__
    if name == "where" and len(args) + len(kwargs) == 1:
        raise dynamic_shape("nonzero")
    written = is_write(name) or (name.startswith("__i") and name != "__invert__")
    if written:
        check_written(level, name, args[0], (*args[1:], *kwargs.values()))
    if len(args) == 1 and not kwargs:
        result = func(args[0]._value)
        return args[0] if written else level.wrap(result)
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
    ranks = [rank_of(level, tensor) for tensor in tensors]
    rank = max(ranks)
    if len(tensors) > 1 and rank and not all(ranks) and name not in ("copy_", "fill_"):
        args, kwargs = _without_single_numbers(level, args, kwargs, tensors, ranks)
    if len(set(ranks)) > 1:
        args = tuple(aligned(level, value, rank) for value in args)
        kwargs = {key: aligned(level, value, rank) for key, value in kwargs.items()}
    else:
        args = tuple(map(level.value, args))
        kwargs = {key: level.value(value) for key, value in kwargs.items()}
    result = func(*args, **kwargs)
    return tensors[0] if written else level.wrap(result)


def _without_single_numbers(
    level: Level, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[Tensor], ranks: list[int]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A batch of single numbers, as no tensor of one number is, would have its say about the dtype of the result."""
    wide = [level.value(tensor) for tensor, rank in zip(tensors, ranks, strict=True) if rank]
    dtype = wide[0].dtype
    for tensor in wide[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)

    def converted(value: Any) -> Any:
        if not level.has(value) or value._value.dim() > 1 or value._value.dtype in (dtype, torch.bool):
            return value
        number = torch.empty((), dtype=value._value.dtype, device="meta")
        wanted = torch.result_type(torch.empty(1, dtype=dtype, device="meta"), number)
        return level.batched(value._value.to(wanted)) if wanted != value._value.dtype else value

    return tuple(map(converted, args)), {name: converted(value) for name, value in kwargs.items()}


# ---------------------------------------------------------------------- whatever the shape


_DIRECT = (
    "clone contiguous detach detach_ requires_grad_ retain_grad to _to_copy float double half bfloat16 int long "
    "short char byte bool cfloat cdouble cpu cuda type type_as zeros_like ones_like empty_like full_like "
    "is_floating_point is_complex is_signed is_inference is_conj is_neg element_size get_device zero_ tril triu "
    "tril_ triu_ view_as_real view_as_complex matrix_exp linalg_matrix_exp linalg_cholesky linalg_cholesky_ex "
    "cholesky linalg_qr linalg_inv linalg_inv_ex inverse linalg_det det linalg_slogdet slogdet logdet linalg_eigh "
    "linalg_eigvalsh linalg_eig linalg_eigvals linalg_svd linalg_svdvals linalg_pinv pinverse linalg_lu "
    "linalg_lu_factor linalg_lu_factor_ex linalg_matrix_power matrix_power adjoint linalg_cond linalg_matrix_rank "
    "cholesky_inverse svd qr _linalg_det _linalg_slogdet _linalg_eigh _linalg_svd bucketize"
)


@rule(_DIRECT)
def direct(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same function of the values: it does not see how many dimensions come before those that it works on."""
    name = func.__name__
    if name not in ("type_as", "to") and (not level.has(args[0]) or level.any_batched((*args[1:], *kwargs.values()))):
        return loop(level, func, args, kwargs)
    if kwargs.get("memory_format") in (torch.channels_last, torch.channels_last_3d):
        kwargs = {key: value for key, value in kwargs.items() if key != "memory_format"}  # of elements, not of batches
    result = func(*map(level.value, args), **kwargs)
    if not level.has(args[0]):
        return result
    return finish(level, name, args, result)


@rule("fill fill_")
def _fill(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, number = (*args, *kwargs.values())
    if level.has(tensor) and not isinstance(number, Tensor):
        return finish(level, func.__name__, args, func(tensor._value, number))
    if rank_of(level, number):
        raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                           f"{rank_of(level, number)} dimensions.")  # fmt: skip
    if func.__name__ == "fill":
        return loop(level, func, args, kwargs)
    with level.inside():
        return tensor.copy_(number)


@rule("equal allclose")
def _compared(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if level.uniform:
        return func(*(each._value[0] if level.has(each) else each for each in args), **kwargs)
    raise control_flow(func.__name__)


@rule("item __bool__ __int__ __float__ __index__ tolist numpy is_nonzero __complex__ __array__ __contains__")
def _looked_at(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if level.uniform and level.has(args[0]):
        return func(args[0]._value[0], *args[1:], **kwargs)
    if func.__name__ in ("__bool__", "is_nonzero", "__contains__"):
        raise control_flow(func.__name__)
    raise RuntimeError(
        f"vmap: It looks like you're calling .{func.__name__.strip('_')}() on a Tensor. We don't support vmap over "
        f"calling .{func.__name__.strip('_')}() on a Tensor: every element has a value of its own. Please try to "
        "rewrite what you're doing with other operations."
    )


def control_flow(name: str) -> RuntimeError:
    """The error for what asks a batch whether it is true."""
    return RuntimeError(
        f"vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow ({name}). That is "
        "not supported: every element has a value of its own. torch.where chooses by element."
    )


@rule("nonzero masked_select unique_consecutive _unique2 unique_dim argwhere nonzero_static_")
def _dynamic(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if level.uniform:
        return loop(level, func, args, kwargs)
    raise dynamic_shape(func.__name__)


# ---------------------------------------------------------------------- losses


_REDUCTIONS = {0: lambda losses, dims: losses, 1: lambda losses, dims: losses.mean(dims),
               2: lambda losses, dims: losses.sum(dims)}  # fmt: skip


@rule("mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits "
      "poisson_nll_loss hinge_embedding_loss kl_div")  # fmt: skip
def _elementwise_loss(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The losses of all elements, reduced for each element of the batch."""
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or (func.__name__ == "kl_div" and bound.get("reduction", 1) not in (0, 2)):
        return loop(level, func, args, kwargs)
    tensors = [value for value in bound.values() if isinstance(value, Tensor)]
    rank = max(rank_of(level, tensor) for tensor in tensors)
    reduction = bound.pop("reduction", 1)
    given = {name: aligned(level, value, rank) for name, value in bound.items()}
    if func.__name__.startswith("binary_cross_entropy"):  # which do not broadcast these
        given.update((name, level.expanded(bound[name])) for name in ("input", "target"))
    losses = func(**given, reduction=0)
    dims = tuple(range(1, losses.dim()))
    return level.batched(_REDUCTIONS[reduction](losses, dims) if dims else losses)


# ---------------------------------------------------------------------- random numbers


@rule("rand_like randn_like randint_like")
def _random_like(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    check_random(level, func.__name__)
    value = args[0]._value
    if level.randomness == "same":
        return func(value.select(0, 0) if level.size else value.new_zeros(value.shape[1:]), *args[1:], **kwargs)
    return level.batched(func(value, *args[1:], **kwargs))


@rule(
    "uniform_ normal_ random_ exponential_ geometric_ log_normal_ cauchy_ bernoulli_ bernoulli poisson _standard_gamma"
)
def _random_elements(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.__name__
    check_random(level, name)
    if level.randomness == "same" or batches((*args[1:], *kwargs.values())) or not level.has(args[0]):
        return loop(level, func, args, kwargs)
    return finish(level, name, args, func(args[0]._value, *args[1:], **kwargs))


@rule("dropout dropout_ alpha_dropout alpha_dropout_ native_dropout rrelu rrelu_")
def _dropout(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.__name__
    if is_random(func, name, args, kwargs):
        check_random(level, name)
        if level.randomness == "same":
            return loop(level, func, args, kwargs)
    return finish(level, name, args, func(args[0]._value, *args[1:], **kwargs))
