"""Functions of two or more tensors, element by element, in promoted dtypes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._rows import both, common_type, row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph, Var


def _binary(g: Graph, op: str, a: Any, b: Any, dtype: torch.dtype | None = None) -> Any:
    kind = dtype or g.dtype
    return g.op(op, g.cast(a, kind), g.cast(b, kind))


@row("add")
def add(g: Graph, a: Any, b: Any, *, alpha: Any = 1) -> Any:
    if g.dtype == torch.bool:
        return _binary(g, "Or", a, b)
    return _binary(g, "Add", a, b if alpha == 1 else _binary(g, "Mul", b, alpha))


@row("sub", "subtract")
def sub(g: Graph, a: Any, b: Any, *, alpha: Any = 1) -> Any:
    return _binary(g, "Sub", a, b if alpha == 1 else _binary(g, "Mul", b, alpha))


@row("rsub")
def rsub(g: Graph, a: Any, b: Any, *, alpha: Any = 1) -> Any:
    return sub(g, b, a, alpha=alpha)


@row("mul", "multiply")
def mul(g: Graph, a: Any, b: Any) -> Any:
    return _binary(g, "And" if g.dtype == torch.bool else "Mul", a, b)


def _floor_division(g: Graph, a: Any, b: Any, kind: torch.dtype) -> Any:
    if kind.is_floating_point:
        return g.op("Floor", _binary(g, "Div", a, b, kind))
    a, b = g.cast(a, kind), g.cast(b, kind)
    return g.op("Div", g.op("Sub", a, g.op("Mod", a, b)), b)


@row("div", "divide", "true_divide")
def div(g: Graph, a: Any, b: Any, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return _floor_division(g, a, b, g.dtype)
    quotient = _binary(g, "Div", a, b)
    if rounding_mode == "trunc" and g.dtype.is_floating_point:
        return g.op("Mul", g.op("Sign", quotient), g.op("Floor", g.op("Abs", quotient)))
    return quotient


@row("rdiv")
def rdiv(g: Graph, a: Any, b: Any) -> Any:
    return _binary(g, "Div", b, a)


@row("floor_divide")
def floor_divide(g: Graph, a: Any, b: Any) -> Any:
    return _floor_division(g, a, b, g.dtype)


@row("rfloordiv")
def rfloordiv(g: Graph, a: Any, b: Any) -> Any:
    return _floor_division(g, b, a, g.dtype)


@row("remainder")
def remainder(g: Graph, a: Any, b: Any) -> Any:
    if not g.dtype.is_floating_point:
        return _binary(g, "Mod", a, b)
    # fmod, moved to the divisor's side: exact, unlike a - b * floor(a / b)
    a, b = both(g, a, b, g.dtype)
    rest = g.op("Mod", a, b, fmod=1)
    other_side = g.op(
        "And", g.op("Not", g.op("Equal", rest, 0.0)), g.op("Xor", g.op("Less", rest, 0.0), g.op("Less", b, 0.0))
    )
    return g.op("Where", other_side, g.op("Add", rest, b), rest, dtype=a.dtype)


@row("rmod")
def rmod(g: Graph, a: Any, b: Any) -> Any:
    return remainder(g, b, a)


@row("fmod")
def fmod(g: Graph, a: Any, b: Any) -> Any:
    a, b = both(g, a, b, g.dtype)
    return g.op("Mod", a, b, fmod=1)


@row("pow")
def pow(g: Graph, base: Any, exponent: Any) -> Any:
    base = g.cast(base, g.dtype)
    if exponent == 2 and not hasattr(exponent, "dtype"):
        return g.op("Mul", base, base)
    return g.op("Pow", base, g.cast(exponent, g.dtype))


@row("rpow")
def rpow(g: Graph, exponent: Any, base: Any) -> Any:
    return pow(g, base, exponent)


@row("float_power")
def float_power(g: Graph, base: Any, exponent: Any) -> Any:
    return pow(g, base, exponent)


@row("ldexp")
def ldexp(g: Graph, x: Any, other: Any) -> Any:
    return _binary(g, "Mul", x, g.op("Pow", g.constant(2.0, g.dtype), g.cast(other, g.dtype)))


def _extreme(g: Graph, op: str, a: Any, b: Any) -> Any:
    if g.dtype == torch.bool:
        return _binary(g, "Or" if op == "Max" else "And", a, b)
    return _binary(g, op, a, b)


@row("maximum")
def maximum(g: Graph, a: Any, b: Any) -> Any:
    return _extreme(g, "Max", a, b)


@row("minimum")
def minimum(g: Graph, a: Any, b: Any) -> Any:
    return _extreme(g, "Min", a, b)


def _number_wins(g: Graph, op: str, a: Any, b: Any) -> Any:
    a, b = both(g, a, b, g.dtype)
    result = g.op(op, a, b)
    if not g.dtype.is_floating_point:
        return result
    result = g.op("Where", g.op("IsNaN", a), b, result, dtype=g.dtype)
    return g.op("Where", g.op("IsNaN", b), a, result, dtype=g.dtype)


@row("fmax")
def fmax(g: Graph, a: Any, b: Any) -> Any:
    return _number_wins(g, "Max", a, b)


@row("fmin")
def fmin(g: Graph, a: Any, b: Any) -> Any:
    return _number_wins(g, "Min", a, b)


@row("clamp", "clip")
def clamp(g: Graph, x: Var, min: Any = None, max: Any = None) -> Any:
    result = g.cast(x, g.dtype)
    if min is not None:
        result = _binary(g, "Max", result, min)
    return result if max is None else _binary(g, "Min", result, max)


@row("clamp_min")
def clamp_min(g: Graph, x: Var, min: Any) -> Any:
    return clamp(g, x, min)


@row("clamp_max")
def clamp_max(g: Graph, x: Var, max: Any) -> Any:
    return clamp(g, x, None, max)


@row("atan2", "arctan2")
def atan2(g: Graph, y: Any, x: Any) -> Any:
    y, x = both(g, y, x, g.dtype)
    zero = g.constant(0.0, g.dtype)
    flat = g.op("Equal", x, zero)
    base = g.op("Atan", g.op("Div", y, g.op("Where", flat, g.constant(1.0, g.dtype), x, dtype=g.dtype)))
    side = g.op(
        "Where", g.op("Less", y, zero), g.constant(-math.pi, g.dtype), g.constant(math.pi, g.dtype), dtype=g.dtype
    )
    turned = g.op("Where", g.op("Less", x, zero), g.op("Add", base, side), base, dtype=g.dtype)
    upright = g.op("Mul", g.op("Sign", y), math.pi / 2)
    return g.op("Where", flat, upright, turned, dtype=g.dtype)


@row("hypot")
def hypot(g: Graph, a: Any, b: Any) -> Any:
    a, b = both(g, a, b, g.dtype)
    return g.op("Sqrt", g.op("Add", g.op("Mul", a, a), g.op("Mul", b, b)))


@row("copysign")
def copysign(g: Graph, a: Any, b: Any) -> Any:
    size, b = g.op("Abs", g.cast(a, g.dtype)), g.cast(b, g.dtype)
    negative = g.op("Or", g.op("Less", b, 0.0), g.op("Less", g.op("Reciprocal", b), 0.0))
    return g.op("Where", negative, g.op("Neg", size), size, dtype=g.dtype)


@row("heaviside")
def heaviside(g: Graph, x: Var, values: Var) -> Any:
    step = g.cast(g.op("Greater", x, 0), g.dtype)
    return g.op("Where", g.op("Equal", x, 0), values, step, dtype=g.dtype)


@row("logaddexp")
def logaddexp(g: Graph, a: Any, b: Any) -> Any:
    a, b = both(g, a, b, g.dtype)
    difference = g.op("Neg", g.op("Abs", g.op("Sub", a, b)))
    return g.op("Add", g.op("Max", a, b), g.op("Softplus", difference))


@row("xlogy")
def xlogy(g: Graph, x: Any, y: Any) -> Any:
    x, y = both(g, x, y, g.dtype)
    zero = g.op("And", g.op("Equal", x, 0.0), g.op("Not", g.op("IsNaN", y)))
    return g.op("Where", zero, g.constant(0.0, g.dtype), g.op("Mul", x, g.op("Log", y)), dtype=g.dtype)


@row("lerp")
def lerp(g: Graph, start: Var, end: Var, weight: Any) -> Any:
    difference = g.op("Sub", end, start)
    return g.op("Add", start, g.op("Mul", difference, g.cast(weight, g.dtype)))


@row("addcmul")
def addcmul(g: Graph, x: Var, a: Var, b: Var, *, value: Any = 1) -> Any:
    product = _binary(g, "Mul", a, b)
    return _binary(g, "Add", x, product if value == 1 else _binary(g, "Mul", product, value))


@row("addcdiv")
def addcdiv(g: Graph, x: Var, a: Var, b: Var, *, value: Any = 1) -> Any:
    quotient = _binary(g, "Div", a, b)
    return _binary(g, "Add", x, quotient if value == 1 else _binary(g, "Mul", quotient, value))


def _bitwise(name: str, logical: str) -> None:
    @row(f"bitwise_{name}")
    def translate(g: Graph, a: Any, b: Any) -> Any:
        if g.dtype == torch.bool:
            return _binary(g, logical, a, b)
        if g.opset < 18:
            raise NotImplementedError("of integers, ONNX has it from opset 18 on")
        return _binary(g, f"Bitwise{logical}", a, b)


for _name in ("and", "or", "xor"):
    _bitwise(_name, _name.capitalize())


@row("bitwise_left_shift")
def bitwise_left_shift(g: Graph, a: Any, b: Any) -> Any:
    a, b = both(g, a, b, common_type(a, b))
    return g.op("Mul", a, g.cast(g.op("Pow", g.constant(2.0, torch.float64), g.cast(b, torch.float64)), a.dtype))


@row("bitwise_right_shift")
def bitwise_right_shift(g: Graph, a: Any, b: Any) -> Any:
    a, b = both(g, a, b, common_type(a, b))
    power = g.cast(g.op("Pow", g.constant(2.0, torch.float64), g.cast(b, torch.float64)), a.dtype)
    return _floor_division(g, a, power, a.dtype)
