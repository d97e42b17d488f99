"""Element by element: arithmetic, comparisons, activations, dtypes."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.onnx._graph import DTYPES
from torch.onnx._operators.table import TABLE, Refusal, check_broadcast, operator

_UNARY = {
    "Abs": torch.abs, "Acos": torch.acos, "Acosh": torch.acosh, "Asin": torch.asin, "Asinh": torch.asinh,
    "Atan": torch.atan, "Atanh": torch.atanh, "Ceil": torch.ceil, "Cos": torch.cos, "Cosh": torch.cosh,
    "Erf": torch.erf, "Exp": torch.exp, "Floor": torch.floor, "IsNaN": torch.isnan, "Log": torch.log, "Neg": torch.neg,
    "Not": torch.logical_not, "Reciprocal": torch.reciprocal, "Relu": torch.relu, "Round": torch.round,
    "Sigmoid": torch.sigmoid, "Sign": torch.sign, "Sin": torch.sin, "Sinh": torch.sinh, "Softplus": F.softplus,
    "Softsign": F.softsign, "Sqrt": torch.sqrt, "Tan": torch.tan, "Tanh": torch.tanh, "Mish": F.mish,
    "HardSwish": F.hardswish, "Det": torch.linalg.det, "BitwiseNot": torch.bitwise_not, "Identity": lambda x: x,
}  # fmt: skip
_BINARY = {
    "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "And": torch.logical_and, "Or": torch.logical_or,
    "Xor": torch.logical_xor, "Equal": torch.eq, "Greater": torch.gt, "GreaterOrEqual": torch.ge, "Less": torch.lt,
    "LessOrEqual": torch.le, "BitwiseAnd": torch.bitwise_and, "BitwiseOr": torch.bitwise_or,
    "BitwiseXor": torch.bitwise_xor,
}  # fmt: skip


_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)


def _widened(function: Any) -> Any:
    """`function`, which computes with unsigned integers that torch only stores as with int64."""

    @functools.wraps(function)
    def compute(*tensors: Any, **options: Any) -> Any:
        kind = next((each.dtype for each in tensors if isinstance(each, Tensor) and each.dtype in _UNSIGNED), None)
        if kind is None:
            return function(*tensors, **options)
        wide = [each.to(torch.int64) for each in tensors]
        if kind == torch.uint64 and any(bool((each < 0).any()) for each in wide):
            raise Refusal("numbers of 2**63 or more")
        result = function(*wide, **options)
        return result.to(kind) if result.dtype == torch.int64 else result

    return compute


def _one_operand(function: Any) -> Any:
    return _widened(lambda x: function(x))


def _two_operands(function: Any) -> Any:
    @_widened
    def compute(a: Tensor, b: Tensor, *, axis: int = 0, broadcast: int = 0) -> Tensor:
        if broadcast and b.dim() < a.dim() - axis:  # before opset 7
            b = b.reshape(*b.shape, *([1] * (a.dim() - axis - b.dim())))
        check_broadcast(a, b)
        return function(a, b)  # type: ignore[no-any-return]

    return compute


for _name, _function in _UNARY.items():
    operator(_name)(_one_operand(_function))
for _name, _function in _BINARY.items():
    operator(_name)(_two_operands(_function))


@operator("PRelu")
def p_relu(x: Tensor, slope: Tensor, *, opset: int = 16) -> Tensor:
    if opset < 7 and slope.numel() > 1:  # one for each channel
        slope = slope.reshape(-1, *([1] * (x.dim() - 2)))
    return torch.where(x < 0, slope * x, x)


@operator("Div")
@_widened
def div(a: Tensor, b: Tensor) -> Tensor:
    check_broadcast(a, b)
    return torch.div(a, b) if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


@operator("Mod")
@_widened
def mod(a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    check_broadcast(a, b)
    return torch.fmod(a, b) if fmod else torch.remainder(a, b)


@operator("Pow")
def power(a: Tensor, b: Tensor) -> Tensor:
    check_broadcast(a, b)
    return torch.pow(a.to(torch.promote_types(a.dtype, b.dtype)), b).to(a.dtype)


@operator("BitShift")
def bit_shift(a: Tensor, b: Tensor, *, direction: str) -> Tensor:
    wide = a.to(torch.int64), b.to(torch.int64)
    return (wide[0] << wide[1] if direction == "LEFT" else wide[0] >> wide[1]).to(a.dtype)


def _many(function: Any) -> Any:
    @_widened
    def compute(*tensors: Tensor) -> Tensor:
        total = tensors[0]
        for each in tensors[1:]:
            check_broadcast(total, each)
            total = function(total, each)
        return total

    return compute


operator("Sum")(_many(torch.add))
operator("Max")(_many(torch.maximum))
operator("Min")(_many(torch.minimum))


@operator("Mean")
def mean(*tensors: Tensor) -> Tensor:
    return TABLE["", "Sum"].function(*tensors) / len(tensors)  # type: ignore[no-any-return]


@operator("Where")
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    check_broadcast(condition, x, y)
    return torch.where(condition, x, y)


@operator("IsInf")
def is_inf(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    found = torch.zeros_like(x, dtype=torch.bool)
    found = found | (x == -math.inf) if detect_negative else found
    return found | (x == math.inf) if detect_positive else found


@operator("Clip")
def clip(
    x: Tensor, low: Tensor | None = None, high: Tensor | None = None, *, min: float = -math.inf, max: float = math.inf
) -> Tensor:
    x = x if low is None else torch.maximum(x, low)
    x = x if high is None else torch.minimum(x, high)
    if low is None and high is None and (min != -math.inf or max != math.inf):
        return torch.clamp(x, min, max)
    return x


@operator("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    return F.leaky_relu(x, alpha)


@operator("Elu")
def elu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.elu(x, alpha)


@operator("Celu")
def celu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return F.celu(x, alpha)


@operator("Selu")
def selu(x: Tensor, *, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805) -> Tensor:
    return gamma * torch.where(x > 0, x, alpha * torch.expm1(x))


@operator("Gelu")
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    return F.gelu(x, approximate=approximate)


@operator("Swish")
def swish(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return x * torch.sigmoid(alpha * x)


@operator("SwiGLU")
def swi_glu(a: Tensor, b: Tensor, *, alpha: float = 1.0) -> Tensor:
    return swish(a, alpha=alpha) * b


@operator("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    return torch.clamp(alpha * x + beta, 0, 1)


@operator("ThresholdedRelu")
def thresholded_relu(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    return torch.where(x > alpha, x, torch.zeros_like(x))


@operator("Shrink")
def shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    zero = torch.zeros_like(x)
    return torch.where(x < -lambd, x + bias, torch.where(x > lambd, x - bias, zero)).to(x.dtype)


def _dtype(number: int) -> torch.dtype:
    if number not in DTYPES:
        raise Refusal(f"type {number} is none of torch's")
    return DTYPES[number]


@operator("Cast")
def cast(x: Tensor, *, to: int, saturate: int = 1, round_mode: str = "up") -> Tensor:
    return x.to(_dtype(to))


@operator("CastLike")
def cast_like(x: Tensor, like: Tensor, *, saturate: int = 1, round_mode: str = "up") -> Tensor:
    return x.to(like.dtype)


@operator("BitCast")
def bit_cast(x: Tensor, *, to: int) -> Tensor:
    return x.view(_dtype(to))


# ---------------------------------------------------------------------- quantization


def _by_axis(parameter: Tensor, x: Tensor, axis: int, block: int) -> Tensor:
    if parameter.dim() == 0 or parameter.numel() == 1:
        return parameter.reshape(())
    if block:
        return parameter.repeat_interleave(block, axis).narrow(axis, 0, x.shape[axis])
    shape = [1] * x.dim()
    shape[axis] = -1
    return parameter.reshape(shape)


@operator("QuantizeLinear")
def quantize(
    x: Tensor,
    scale: Tensor,
    zero: Tensor | None = None,
    *,
    axis: int = 1,
    saturate: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
) -> Tensor:
    dtype = zero.dtype if zero is not None else _dtype(output_dtype) if output_dtype else torch.uint8
    limits = torch.iinfo(dtype)
    steps = torch.round(x / _by_axis(scale, x, axis, block_size).to(x.dtype))
    if zero is not None:
        steps = steps + _by_axis(zero, x, axis, block_size).to(x.dtype)
    return steps.clamp(limits.min, limits.max).to(torch.int32).to(dtype)


@operator("DequantizeLinear")
def dequantize(
    x: Tensor, scale: Tensor, zero: Tensor | None = None, *, axis: int = 1, block_size: int = 0, output_dtype: int = 0
) -> Tensor:
    wide = x.to(scale.dtype)
    if zero is not None:
        wide = wide - _by_axis(zero, x, axis, block_size).to(scale.dtype)
    result = wide * _by_axis(scale, x, axis, block_size)
    return result.to(_dtype(output_dtype)) if output_dtype else result


@operator("DynamicQuantizeLinear")
def dynamic_quantize(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    low, high = x.min().clamp(max=0), x.max().clamp(min=0)
    scale = (high - low) / 255
    zero = torch.round(-low / scale).clamp(0, 255)
    return torch.round(x / scale).add(zero).clamp(0, 255).to(torch.uint8), scale, zero.to(torch.uint8)
