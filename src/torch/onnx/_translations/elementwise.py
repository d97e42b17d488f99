"""Functions of one tensor, element by element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.onnx._rows import row

if TYPE_CHECKING:
    from torch.onnx._graph import Graph, Var

# torch's names -> one operator, computed in the result's dtype
_SAME = {
    "abs absolute": "Abs", "ceil": "Ceil", "floor": "Floor", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
    "neg negative": "Neg", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin arcsin": "Asin", "acos arccos": "Acos",
    "atan arctan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh arcsinh": "Asinh", "acosh arccosh": "Acosh",
    "atanh arctanh": "Atanh", "sign sgn": "Sign", "reciprocal": "Reciprocal", "erf": "Erf", "sigmoid expit": "Sigmoid",
    "tanh": "Tanh", "clone alias data detach positive contiguous lift_fresh": "Identity",
    "softsign": "Softsign",
}  # fmt: skip


def _add_row(names: str, op: str) -> None:
    @row(*names.split())
    def translate(g: Graph, x: Var, **_: Any) -> Var:
        if op in ("Ceil", "Floor") and not x.dtype.is_floating_point:
            return x
        return g.op(op, g.cast(x, g.dtype))  # type: ignore[no-any-return]


for _names, _op in _SAME.items():
    _add_row(_names, _op)


@row("round")
def round(g: Graph, x: Var, *, decimals: int = 0) -> Any:
    if not x.dtype.is_floating_point:
        return x
    if not decimals:
        return g.op("Round", x)
    return g.op("Div", g.op("Round", g.op("Mul", x, 10.0**decimals)), 10.0**decimals)


@row("trunc", "fix")
def trunc(g: Graph, x: Var) -> Any:
    if not x.dtype.is_floating_point:
        return x
    return g.op("Mul", g.op("Sign", x), g.op("Floor", g.op("Abs", x)))


@row("frac")
def frac(g: Graph, x: Var) -> Any:
    return g.op("Sub", x, trunc(g, x))


@row("rsqrt")
def rsqrt(g: Graph, x: Var) -> Any:
    return g.op("Reciprocal", g.op("Sqrt", g.cast(x, g.dtype)))


@row("square")
def square(g: Graph, x: Var) -> Any:
    return g.op("Mul", x, x)


def _scaled(name: str, op: str, before: float, after: float) -> None:
    @row(name)
    def translate(g: Graph, x: Var) -> Any:
        x = g.cast(x, g.dtype)
        x = g.op("Mul", x, before) if before != 1 else x
        x = g.op(op, x)
        return g.op("Mul", x, after) if after != 1 else x


_scaled("exp2", "Exp", math.log(2), 1)
_scaled("log2", "Log", 1, 1 / math.log(2))
_scaled("log10", "Log", 1, 1 / math.log(10))
_scaled("deg2rad", "Identity", math.pi / 180, 1)
_scaled("rad2deg", "Identity", 180 / math.pi, 1)


@row("log1p")
def log1p(g: Graph, x: Var) -> Any:
    # Near zero 1 + x loses x's digits: log(u) * x / (u - 1) of what 1 + x became gives them back.
    x = g.cast(x, g.dtype)
    u = g.op("Add", x, 1.0)
    rest = g.op("Sub", u, 1.0)
    exact = g.op("Or", g.op("Equal", rest, 0.0), g.op("IsInf", u))
    quotient = g.op(
        "Div", g.op("Mul", g.op("Log", u), x), g.op("Where", exact, g.constant(1.0, x.dtype), rest, dtype=x.dtype)
    )
    return g.op(
        "Where", g.op("IsInf", u), u, g.op("Where", g.op("Equal", rest, 0.0), x, quotient, dtype=x.dtype), dtype=x.dtype
    )


@row("expm1")
def expm1(g: Graph, x: Var) -> Any:
    # 2 * sinh(x / 2) * exp(x / 2) keeps the digits near zero; far from it exp(x) - 1 overflows as it should.
    x = g.cast(x, g.dtype)
    half = g.op("Mul", x, 0.5)
    near = g.op("Mul", g.op("Mul", g.op("Sinh", half), g.op("Exp", half)), 2.0)
    return g.op("Where", g.op("Less", g.op("Abs", x), 1.0), near, g.op("Sub", g.op("Exp", x), 1.0), dtype=x.dtype)


@row("erfc")
def erfc(g: Graph, x: Var) -> Any:
    return g.op("Sub", g.constant(1.0, g.dtype), g.op("Erf", g.cast(x, g.dtype)))


@row("sinc")
def sinc(g: Graph, x: Var) -> Any:
    x = g.op("Mul", g.cast(x, g.dtype), math.pi)
    zero = g.op("Equal", x, 0.0)
    one = g.constant(1.0, x.dtype)
    safe = g.op("Where", zero, one, x, dtype=x.dtype)
    return g.op("Where", zero, one, g.op("Div", g.op("Sin", safe), safe), dtype=x.dtype)


@row("logit")
def logit(g: Graph, x: Var, eps: float | None = None) -> Any:
    x = g.cast(x, g.dtype)
    if eps is not None:
        x = g.op("Clip", x, g.constant(eps, x.dtype), g.constant(1 - eps, x.dtype))
    return g.op("Log", g.op("Div", x, g.op("Sub", g.constant(1.0, x.dtype), x)))


@row("isnan")
def isnan(g: Graph, x: Var) -> Any:
    return g.op("IsNaN", g.cast(x, torch.float32) if not x.dtype.is_floating_point else x)


@row("isinf")
def isinf(g: Graph, x: Var, positive: int = 1, negative: int = 1) -> Any:
    if x.dtype not in (torch.float32, torch.float64):
        x = g.cast(x, torch.float32)
    return g.op("IsInf", x, detect_positive=positive, detect_negative=negative)


@row("isposinf")
def isposinf(g: Graph, x: Var) -> Any:
    return isinf(g, x, negative=0)


@row("isneginf")
def isneginf(g: Graph, x: Var) -> Any:
    return isinf(g, x, positive=0)


@row("isfinite")
def isfinite(g: Graph, x: Var) -> Any:
    return g.op("Not", g.op("Or", isinf(g, x), isnan(g, x)))


@row("signbit")
def signbit(g: Graph, x: Var) -> Any:
    if not x.dtype.is_floating_point:
        return g.op("Less", g.cast(x, torch.int64), 0)
    negative_zero = g.op("Less", g.op("Reciprocal", x), 0.0)
    return g.op("Or", g.op("Less", x, 0.0), g.op("And", g.op("Equal", x, 0.0), negative_zero))


@row("nan_to_num")
def nan_to_num(
    g: Graph, x: Var, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    if not x.dtype.is_floating_point:
        return x
    limits = torch.finfo(x.dtype)

    def replace(condition: Var, value: float, x: Var) -> Any:
        return g.op("Where", condition, g.constant(value, x.dtype), x, dtype=x.dtype)

    result = replace(isposinf(g, x), limits.max if posinf is None else posinf, x)
    result = replace(isneginf(g, x), limits.min if neginf is None else neginf, result)
    return replace(isnan(g, x), 0.0 if nan is None else nan, result)


@row("logical_not")
def logical_not(g: Graph, x: Var) -> Any:
    return g.op("Not", g.cast(x, torch.bool))


@row("bitwise_not")
def bitwise_not(g: Graph, x: Var) -> Any:
    if x.dtype == torch.bool:
        return g.op("Not", x)
    return g.op("BitwiseNot", x) if g.opset >= 18 else g.op("Sub", g.constant(-1, x.dtype), x)


# ---------------------------------------------------------------------- activations


@row("relu")
def relu(g: Graph, x: Var) -> Any:
    return g.op("Relu", x) if x.dtype.is_floating_point else g.op("Max", x, 0)


@row("log_sigmoid", "logsigmoid")
def log_sigmoid(g: Graph, x: Var) -> Any:
    return g.op("Neg", g.op("Softplus", g.op("Neg", x)))


@row("softplus")
def softplus(g: Graph, x: Var, beta: float = 1.0, threshold: float = 20.0) -> Any:
    scaled = g.op("Mul", x, float(beta)) if beta != 1 else x
    smooth = g.op("Softplus", scaled)
    smooth = g.op("Div", smooth, float(beta)) if beta != 1 else smooth
    return g.op("Where", g.op("Greater", scaled, float(threshold)), x, smooth, dtype=x.dtype)


@row("silu", "swish")
def silu(g: Graph, x: Var, inplace: bool = False) -> Any:
    return g.op("Mul", x, g.op("Sigmoid", x))


@row("mish")
def mish(g: Graph, x: Var) -> Any:
    return g.op("Mul", x, g.op("Tanh", g.op("Softplus", x)))


@row("gelu")
def gelu(g: Graph, x: Var, *, approximate: str = "none") -> Any:
    if g.opset >= 20:
        return g.op("Gelu", x, approximate=approximate)
    if approximate == "tanh":
        cube = g.op("Mul", g.op("Mul", x, x), x)
        inner = g.op("Mul", g.op("Add", x, g.op("Mul", cube, 0.044715)), math.sqrt(2 / math.pi))
        return g.op("Mul", g.op("Mul", x, 0.5), g.op("Add", g.op("Tanh", inner), 1.0))
    return g.op("Mul", g.op("Mul", x, 0.5), g.op("Add", g.op("Erf", g.op("Mul", x, math.sqrt(0.5))), 1.0))


@row("selu")
def selu(g: Graph, x: Var) -> Any:
    return g.op("Selu", x, alpha=1.6732632423543772848170429916717, gamma=1.0507009873554804934193349852946)


@row("elu")
def elu(g: Graph, x: Var, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    if scale == 1 and input_scale == 1:
        return g.op("Elu", x, alpha=float(alpha))
    low = g.op("Mul", g.op("Sub", g.op("Exp", g.op("Mul", x, float(input_scale))), 1.0), float(alpha * scale))
    return g.op("Where", g.op("Greater", x, 0.0), g.op("Mul", x, float(scale)), low, dtype=x.dtype)


@row("celu")
def celu(g: Graph, x: Var, alpha: float = 1.0) -> Any:
    return elu(g, x, alpha, 1.0, 1.0 / alpha)


@row("leaky_relu")
def leaky_relu(g: Graph, x: Var, negative_slope: float = 0.01) -> Any:
    return g.op("LeakyRelu", x, alpha=float(negative_slope))


@row("prelu")
def prelu(g: Graph, x: Var, weight: Var) -> Any:
    if weight.rank == 1 and x.rank > 1:
        weight = g.reshape(weight, [-1] + [1] * (x.rank - 2))
    return g.op("PRelu", x, weight)


@row("hardtanh")
def hardtanh(g: Graph, x: Var, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    return g.op("Clip", x, g.constant(min_val, x.dtype), g.constant(max_val, x.dtype))


@row("relu6")
def relu6(g: Graph, x: Var) -> Any:
    return hardtanh(g, x, 0, 6)


@row("hardsigmoid")
def hardsigmoid(g: Graph, x: Var) -> Any:
    return g.op("HardSigmoid", x, alpha=1 / 6, beta=0.5)


@row("hardswish")
def hardswish(g: Graph, x: Var) -> Any:
    return g.op("HardSwish", x)


def _kept_where(g: Graph, condition: Var, x: Var) -> Any:
    return g.op("Where", condition, x, g.constant(0.0, x.dtype), dtype=x.dtype)


@row("hardshrink")
def hardshrink(g: Graph, x: Var, lambd: float = 0.5) -> Any:
    return _kept_where(g, g.op("Not", g.op("LessOrEqual", g.op("Abs", x), float(lambd))), x)


@row("softshrink")
def softshrink(g: Graph, x: Var, lambd: float = 0.5) -> Any:
    less = g.op("Mul", g.op("Sign", x), float(lambd))
    return _kept_where(g, g.op("Not", g.op("LessOrEqual", g.op("Abs", x), float(lambd))), g.op("Sub", x, less))


@row("threshold")
def threshold(g: Graph, x: Var, threshold: float, value: float) -> Any:
    return g.op("Where", g.op("LessOrEqual", x, threshold), g.constant(value, x.dtype), x, dtype=x.dtype)


@row("rrelu")
def rrelu(g: Graph, x: Var, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, *_: Any) -> Any:
    assert not training, "rrelu in training"
    return leaky_relu(g, x, (lower + upper) / 2)


@row("glu")
def glu(g: Graph, x: Var, dim: int = -1) -> Any:
    half = x.size(dim) // 2
    first, second = g.split(x, [half, half], dim % x.rank)
    return g.op("Mul", first, g.op("Sigmoid", second))


@row("dropout")
def dropout(
    g: Graph, x: Var, p: float = 0.5, train: bool = False, training: bool = False, inplace: bool = False
) -> Any:
    if not (train or training) or p == 0:
        return g.op("Identity", x)
    return g.op("Dropout", x, g.constant(float(p), torch.float32), g.constant(True), dtype=x.dtype)


@row("feature_dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d", "dropout3d")
def other_dropout(
    g: Graph, x: Var, p: float = 0.5, train: bool = False, training: bool = False, inplace: bool = False
) -> Any:
    if (train or training) and p:
        raise NotImplementedError("in training: ONNX drops single elements, and puts zeros there")
    return g.op("Identity", x)
