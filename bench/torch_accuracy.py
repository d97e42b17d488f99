"""Worst errors of this torch's functions beside another one's, in ulps, against mpmath: per function and element type.

    ./slipway bench torch_accuracy --peer PYTHON [--points 4000] [--match TEXT]

PYTHON is an interpreter that imports the other torch, and mpmath, which PyTorch itself asks for. An ulp is the distance
between neighbouring numbers of the type where the true value lies; a right rounding has an error of 0.5 at most.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

# mantissa bits with the hidden one, and the exponent of the smallest normal number
TYPES = {"float32": (24, -126), "float64": (53, -1022), "bfloat16": (8, -126), "float16": (11, -14)}
# complex types, and that of their parts
PARTS = {"complex64": "float32", "complex128": "float64"}

GELU_ANGLE = "m.sqrt(2 / m.pi) * (x + m.mpf('0.044715') * x ** 3)"
GELU_ANGLE_SLOPE = "m.sqrt(2 / m.pi) * (1 + 3 * m.mpf('0.044715') * x ** 2)"
SOFTPLUS = "m.log1p(m.exp(x))"
SELU_SCALE = "m.mpf('1.0507009873554804934193349852946')"
SELU_ALPHA = "m.mpf('1.6732632423543772848170429916717')"
# name: the torch expression, the mpmath expression, and what x is taken from
Functions = Mapping[str, tuple[str, str, tuple[float, float]]]
FUNCTIONS: Functions = {
    "exp": ("torch.exp(x)", "m.exp(x)", (-9, 11)),
    "expm1": ("torch.expm1(x)", "m.expm1(x)", (-3, 10)),
    "exp2": ("torch.exp2(x)", "m.mpf(2) ** x", (-15, 15)),
    "log": ("torch.log(x)", "m.log(x)", (0.01, 30)),
    "log1p": ("torch.log1p(x)", "m.log1p(x)", (-0.9, 30)),
    "log2": ("torch.log2(x)", "m.log(x, 2)", (0.01, 30)),
    "log10": ("torch.log10(x)", "m.log(x, 10)", (0.01, 30)),
    "sin": ("torch.sin(x)", "m.sin(x)", (-20, 20)),
    "cos": ("torch.cos(x)", "m.cos(x)", (-20, 20)),
    "tan": ("torch.tan(x)", "m.tan(x)", (-20, 20)),
    "sin of large x": ("torch.sin(x)", "m.sin(x)", (3e4, 6e4)),
    "cos of large x": ("torch.cos(x)", "m.cos(x)", (3e4, 6e4)),
    "tan of large x": ("torch.tan(x)", "m.tan(x)", (3e4, 6e4)),
    "tanh": ("torch.tanh(x)", "m.tanh(x)", (-4, 4)),
    "sigmoid": ("torch.sigmoid(x)", "1 / (1 + m.exp(-x))", (-20, 20)),
    "sinh": ("torch.sinh(x)", "m.sinh(x)", (-8, 8)),
    "cosh": ("torch.cosh(x)", "m.cosh(x)", (-8, 8)),
    "asin": ("torch.asin(x)", "m.asin(x)", (-1, 1)),
    "acos": ("torch.acos(x)", "m.acos(x)", (-1, 1)),
    "asinh": ("torch.asinh(x)", "m.asinh(x)", (-10, 10)),
    "acosh": ("torch.acosh(x)", "m.acosh(x)", (1, 30)),
    "atanh": ("torch.atanh(x)", "m.atanh(x)", (-0.99, 0.99)),
    "sinc": ("torch.sinc(x)", "m.sincpi(x)", (-3, 3)),
    "erfinv": ("torch.erfinv(x)", "m.erfinv(x)", (-0.99, 0.99)),
    "atan": ("torch.atan(x)", "m.atan(x)", (-10, 10)),
    "atan2(x, 3)": ("torch.atan2(x, torch.full_like(x, 3))", "m.atan2(x, 3)", (-30, 30)),
    "hypot(x, 3)": ("torch.hypot(x, torch.full_like(x, 3))", "m.hypot(x, 3)", (-30, 30)),
    "logaddexp(x, 1)": ("torch.logaddexp(x, torch.ones_like(x))", "m.log(m.exp(x) + m.exp(1))", (-20, 20)),
    "erf": ("torch.erf(x)", "m.erf(x)", (-4, 4)),
    "erfc": ("torch.erfc(x)", "m.erfc(x)", (-3, 5)),
    "sqrt": ("torch.sqrt(x)", "m.sqrt(x)", (0, 30)),
    "rsqrt": ("torch.rsqrt(x)", "1 / m.sqrt(x)", (0.01, 30)),
    "x ** 2.75": ("x ** 2.75", "x ** m.mpf(2.75)", (0.01, 30)),
    "x ** x": ("x ** x", "x ** x", (0.01, 5)),
    "remainder(x, 0.75)": ("torch.remainder(x, 0.75)", "x - 0.75 * m.floor(x / 0.75)", (-30, 30)),
    "silu": ("F.silu(x)", "x / (1 + m.exp(-x))", (-20, 20)),
    "softplus": ("F.softplus(x)", "m.log1p(m.exp(x))", (-20, 19)),
    "logsigmoid": ("F.logsigmoid(x)", "-m.log1p(m.exp(-x))", (-20, 20)),
    "mish": ("F.mish(x)", "x * m.tanh(m.log1p(m.exp(x)))", (-10, 10)),
    "elu": ("F.elu(x)", "x if x > 0 else m.expm1(x)", (-20, 5)),
    "lgamma": ("torch.lgamma(x)", "m.log(abs(m.gamma(x)))", (0.01, 30)),
    "digamma": ("torch.digamma(x)", "m.digamma(x)", (2, 30)),
    "polygamma(1, x)": ("torch.polygamma(1, x)", "m.psi(1, x)", (0.01, 30)),
    "i0": ("torch.i0(x)", "m.besseli(0, x)", (-10, 10)),
    "i0e": ("torch.special.i0e(x)", "m.besseli(0, x) * m.exp(-abs(x))", (-20, 20)),
    "i1": ("torch.special.i1(x)", "m.besseli(1, x)", (-10, 10)),
    "i1e": ("torch.special.i1e(x)", "m.besseli(1, x) * m.exp(-abs(x))", (-20, 20)),
    "entr": ("torch.special.entr(x)", "-x * m.log(x)", (0.01, 0.9)),
    "xlogy(x, x)": ("torch.xlogy(x, x)", "x * m.log(x)", (2, 30)),
    "gelu": ("F.gelu(x)", "x * m.ncdf(x)", (-2, 5)),
    "gelu of -6 to -2": ("F.gelu(x)", "x * m.ncdf(x)", (-6, -2)),
    "gelu, tanh": ("F.gelu(x, approximate='tanh')", f"x / (1 + m.exp(-2 * {GELU_ANGLE}))", (-2, 5)),
    "selu": ("F.selu(x)", f"{SELU_SCALE} * (x if x > 0 else {SELU_ALPHA} * m.expm1(x))", (-20, 5)),
    "celu(x, 1.5)": ("F.celu(x, 1.5)", "x if x > 0 else 1.5 * m.expm1(x / 1.5)", (-20, 5)),
    "softmax of (x, 0)": ("F.softmax(pairs(x), -1)[:, 0]", "1 / (1 + m.exp(-x))", (-20, 20)),
    "log_softmax of (x, 0)": ("F.log_softmax(pairs(x), -1)[:, 0]", "-m.log1p(m.exp(-x))", (-20, 1)),
    "logsumexp of (x, 0)": ("torch.logsumexp(pairs(x), -1)", "m.log1p(m.exp(x))", (0, 20)),
    "logit": ("torch.logit(x)", "m.log(x / (1 - x))", (0.001, 0.4)),
    "log_ndtr": ("torch.special.log_ndtr(x)", "m.log(m.ncdf(x))", (-15, 5)),
    "ndtr": ("torch.special.ndtr(x)", "m.ncdf(x)", (-5, 5)),
    "ndtri": ("torch.special.ndtri(x)", "m.sqrt(2) * m.erfinv(2 * x - 1)", (0.001, 0.45)),
    "erfcx": ("torch.special.erfcx(x)", "m.exp(x * x) * m.erfc(x)", (-4, 25)),
    "logaddexp2(x, 1)": ("torch.logaddexp2(x, torch.ones_like(x))", "m.log(m.mpf(2) ** x + 2, 2)", (-20, 20)),
    "xlog1py(x, x)": ("torch.special.xlog1py(x, x)", "x * m.log1p(x)", (0.01, 30)),
    "zeta(x, 2.5)": ("torch.special.zeta(x, torch.full_like(x, 2.5))", "m.zeta(x, 2.5)", (1.5, 20)),
    "polygamma(3, x)": ("torch.polygamma(3, x)", "m.psi(3, x)", (0.01, 30)),
    "gammainc(3.5, x)": (
        "torch.special.gammainc(torch.full_like(x, 3.5), x)",
        "m.gammainc(3.5, 0, x, regularized=True)",
        (0.01, 20),
    ),
    "gammaincc(3.5, x)": (
        "torch.special.gammaincc(torch.full_like(x, 3.5), x)",
        "m.gammainc(3.5, x, m.inf, regularized=True)",
        (0.01, 20),
    ),
    "bessel_j0": ("torch.special.bessel_j0(x)", "m.besselj(0, x)", (0.01, 2)),
    "bessel_j1": ("torch.special.bessel_j1(x)", "m.besselj(1, x)", (0.01, 3)),
    "bessel_y0": ("torch.special.bessel_y0(x)", "m.bessely(0, x)", (1.2, 3)),
    "bessel_y1": ("torch.special.bessel_y1(x)", "m.bessely(1, x)", (0.01, 1.8)),
    "modified_bessel_i0": ("torch.special.modified_bessel_i0(x)", "m.besseli(0, x)", (-10, 10)),
    "modified_bessel_i1": ("torch.special.modified_bessel_i1(x)", "m.besseli(1, x)", (-10, 10)),
    "modified_bessel_k0": ("torch.special.modified_bessel_k0(x)", "m.besselk(0, x)", (0.01, 30)),
    "modified_bessel_k1": ("torch.special.modified_bessel_k1(x)", "m.besselk(1, x)", (0.01, 30)),
    "scaled_modified_bessel_k0": (
        "torch.special.scaled_modified_bessel_k0(x)",
        "m.besselk(0, x) * m.exp(x)",
        (0.01, 30),
    ),
    "spherical_bessel_j0": ("torch.special.spherical_bessel_j0(x)", "m.sin(x) / x", (0.01, 3)),
    "airy_ai": ("torch.special.airy_ai(x)", "m.airyai(x)", (-2, 8)),
    "pow(2.5, x)": ("2.5 ** x", "m.mpf(2.5) ** x", (-9, 9)),
    "x ** -0.5": ("x ** -0.5", "1 / m.sqrt(x)", (0.01, 30)),
    "x ** 3": ("x ** 3", "x ** 3", (0.01, 30)),
    "1 / x": ("torch.reciprocal(x)", "1 / x", (0.01, 30)),
    # Slopes, where their formula is not another one of these.
    "slope of tanh": ("slope(torch.tanh, x)", "m.sech(x) ** 2", (-1, 1)),
    "slope of sigmoid": ("slope(torch.sigmoid, x)", "m.exp(-x) / (1 + m.exp(-x)) ** 2", (-9, 1)),
    "slope of silu": ("slope(F.silu, x)", "{s} * (1 + x * (1 - {s}))".replace("{s}", "1 / (1 + m.exp(-x))"), (-1, 9)),
    "slope of softplus": ("slope(F.softplus, x)", "1 / (1 + m.exp(-x))", (-20, 19)),
    "slope of logsigmoid": ("slope(F.logsigmoid, x)", "1 / (1 + m.exp(x))", (-20, 20)),
    "slope of mish": (
        "slope(F.mish, x)",
        f"m.tanh({SOFTPLUS}) + x * m.sech({SOFTPLUS}) ** 2 / (1 + m.exp(-x))",
        (-1, 9),
    ),
    "slope of gelu": ("slope(F.gelu, x)", "m.ncdf(x) + x * m.npdf(x)", (-0.5, 5)),
    "slope of gelu, tanh": (
        "slope(lambda x: F.gelu(x, approximate='tanh'), x)",
        f"(1 + m.tanh({GELU_ANGLE}) + x * m.sech({GELU_ANGLE}) ** 2 * {GELU_ANGLE_SLOPE}) / 2",
        (-0.5, 5),
    ),
    "slope of erf": ("slope(torch.erf, x)", "2 / m.sqrt(m.pi) * m.exp(-x * x)", (-4, 4)),
    "slope of erfinv": ("slope(torch.erfinv, x)", "m.sqrt(m.pi) / 2 * m.exp(m.erfinv(x) ** 2)", (-0.99, 0.99)),
    "slope of elu": ("slope(F.elu, x)", "1 if x > 0 else m.exp(x)", (-20, 5)),
    "slope of asin": ("slope(torch.asin, x)", "1 / m.sqrt(1 - x * x)", (-0.99, 0.99)),
    "slope of asinh": ("slope(torch.asinh, x)", "1 / m.sqrt(1 + x * x)", (-10, 10)),
    "slope of acosh": ("slope(torch.acosh, x)", "1 / m.sqrt(x * x - 1)", (1.01, 30)),
    "slope of atanh": ("slope(torch.atanh, x)", "1 / (1 - x * x)", (-0.99, 0.99)),
    "slope of atan": ("slope(torch.atan, x)", "1 / (1 + x * x)", (-10, 10)),
    "slope of tan": ("slope(torch.tan, x)", "m.sec(x) ** 2", (-20, 20)),
    "slope of logit": ("slope(torch.logit, x)", "1 / (x * (1 - x))", (0.01, 0.99)),
    "slope of log10": ("slope(torch.log10, x)", "1 / (x * m.log(10))", (0.01, 30)),
    "slope of exp2": ("slope(torch.exp2, x)", "m.mpf(2) ** x * m.log(2)", (-15, 15)),
    "slope of x ** 2.75": ("slope(lambda x: x ** 2.75, x)", "2.75 * x ** m.mpf(1.75)", (0.01, 30)),
    "slope of i0e": ("slope(torch.special.i0e, x)", "(m.besseli(1, x) - m.besseli(0, x)) * m.exp(-x)", (0.01, 9)),
    "slope of lgamma": ("slope(torch.lgamma, x)", "m.digamma(x)", (2, 30)),
}
# Of complex numbers. What is taken from a part's error is an ulp of the greater part.
BOTH_HAVE = "exp expm1 log log1p log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh"
COMPLEX_FUNCTIONS: Functions = {
    name: (f"torch.{name}(x)", f"m.{name}(x)", (-3.0, 3.0)) for name in BOTH_HAVE.split()
} | {
    "rsqrt": ("torch.rsqrt(x)", "1 / m.sqrt(x)", (-3.0, 3.0)),
    "sigmoid": ("torch.sigmoid(x)", "1 / (1 + m.exp(-x))", (-3.0, 3.0)),
    "1 / x": ("torch.reciprocal(x)", "1 / x", (-3.0, 3.0)),
    "x * (2 - 3i)": ("x * (2 - 3j)", "x * m.mpc(2, -3)", (-3.0, 3.0)),
    "x / (2 - 3i)": ("x / torch.full_like(x, 2 - 3j)", "x / m.mpc(2, -3)", (-3.0, 3.0)),
    "x ** (1.5 - 1i)": ("x ** (1.5 - 1j)", "x ** m.mpc(1.5, -1)", (-3.0, 3.0)),
    "x ** 3": ("x ** 3", "x ** 3", (-3.0, 3.0)),
    "abs": ("torch.abs(x) + 0j", "m.mpc(abs(x))", (-3.0, 3.0)),
    "angle": ("torch.angle(x) + 0j", "m.mpc(m.arg(x))", (-3.0, 3.0)),
}


def functions_of(dtype: str) -> Functions:
    """The functions that are measured of a type."""
    return COMPLEX_FUNCTIONS if dtype in PARTS else FUNCTIONS


# The results of one function: of each point its parts; None where a torch does not have the function of that type.
Results = list[list[float]] | None


def evaluate(torch: Any, jobs: list[list[Any]]) -> list[Results]:
    """The results of each job: a function's name, a type's name, points."""

    def slope(function: Any, x: Any) -> Any:
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(function(leaf).sum(), leaf)[0]

    def pairs(x: Any) -> Any:
        return torch.stack([x, torch.zeros_like(x)], -1)

    scope = {"torch": torch, "F": torch.nn.functional, "slope": slope, "pairs": pairs}
    all_results: list[Results] = []
    for name, dtype, points in jobs:
        x = torch.tensor(points, dtype=torch.float64)
        x = (torch.view_as_complex(x) if dtype in PARTS else x[:, 0]).to(getattr(torch, dtype))
        try:
            result = eval(functions_of(dtype)[name][0], scope | {"x": x}).detach()
        except NotImplementedError:
            all_results.append(None)
            continue
        result = torch.view_as_real(result) if dtype in PARTS else result[:, None]
        all_results.append(result.to(torch.float64).tolist())
    return all_results


def worst_errors(mpmath: Any, jobs: list[list[Any]], all_results: list[list[Results]]) -> list[list[float]]:
    """For each job the greatest error of each torch's results, in ulps; NaN where there are none."""
    mpmath.mp.prec = 160
    errors = []
    for number, (name, dtype, points) in enumerate(jobs):
        digits, smallest = TYPES[PARTS.get(dtype, dtype)]
        true_value = eval(f"lambda x: {functions_of(dtype)[name][1]}", {"m": mpmath})
        per_torch = [results[number] for results in all_results]
        worst = [math.nan if results is None else 0.0 for results in per_torch]
        for place, point in enumerate(points):
            true = true_value(mpmath.mpc(*point) if dtype in PARTS else mpmath.mpf(*point))
            parts = (true.real, true.imag) if dtype in PARTS else (true,)
            exponent = max(smallest, *(mpmath.frexp(part)[1] - 1 for part in parts))
            ulp = mpmath.ldexp(1, exponent - digits + 1)
            for side, results in enumerate(per_torch):
                for given, part in zip(results[place], parts, strict=True) if results else ():
                    error = float(abs(mpmath.mpf(given) - part) / ulp) if math.isfinite(given) else math.inf
                    worst[side] = max(worst[side], error)
        errors.append(worst)
    return errors


def representable(value: float, dtype: str) -> float:
    """The nearest number of the type, for values in the range of its normal numbers."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, TYPES[dtype][0])), exponent - TYPES[dtype][0])


def make_points(count: int, dtype: str, low: float, high: float) -> list[float]:
    """Numbers evenly over the range, and some near zero where it is in the range."""
    chance = random.Random(0)
    points = [chance.uniform(low, high) for _ in range(count)]
    if low < 0 < high:
        points += [chance.choice((-1, 1)) * 2.0 ** chance.uniform(-8, -0.5) for _ in range(count // 4)]
    inside = (representable(point, dtype) for point in points)
    return [point for point in inside if low <= point <= high and point]


def make_jobs(count: int, wanted: re.Pattern[str]) -> list[list[Any]]:
    """Points for each function and type."""
    jobs: list[list[Any]] = []
    for dtype in [*TYPES, *PARTS]:
        for name, (_, _, (low, high)) in functions_of(dtype).items():
            if not wanted.search(name):
                continue
            points = make_points(count, PARTS.get(dtype, dtype), low, high)
            imaginary = random.Random(1).sample(points, len(points))
            together = zip(points, imaginary, strict=True) if dtype in PARTS else ([point] for point in points)
            jobs.append([name, dtype, list(together)])
    return jobs


def ask(python: str, part: str, content: object, *, ours: bool) -> Any:
    """What this file's function `part` gives in another process."""
    environment = {key: value for key, value in os.environ.items() if ours or not key.startswith("PYTHON")}
    command = [python, str(Path(__file__).resolve()), "--part", part]
    text = json.dumps(content)
    run = subprocess.run(command, input=text, env=environment, text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter of the other torch, with mpmath")
    parser.add_argument("--points", type=int, default=4000, help="of each function and type (default: 4000)")
    parser.add_argument("--match", default="", metavar="TEXT", help="only functions that this regular expression finds")
    parser.add_argument("--part", choices=("evaluate", "compare"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part == "evaluate":
        print(json.dumps(evaluate(import_module("torch"), json.load(sys.stdin))))
        return
    if options.part == "compare":
        print(json.dumps(worst_errors(import_module("mpmath"), *json.load(sys.stdin))))
        return
    if not options.peer:
        parser.error("--peer is needed")
    jobs = make_jobs(options.points, re.compile(options.match))
    results = [ask(sys.executable, "evaluate", jobs, ours=True), ask(options.peer, "evaluate", jobs, ours=False)]
    errors = ask(options.peer, "compare", [jobs, results], ours=False)
    found = {(name, dtype): worst for (name, dtype, _), worst in zip(jobs, errors, strict=True)}
    for dtypes in (TYPES, PARTS):
        print(f"{'worst errors in ulps':26}" + "".join(f"{dtype:>16}" for dtype in dtypes))
        print(f"{'':26}" + f"{'ours  other':>16}" * len(dtypes))
        for name in dict.fromkeys(name for name, dtype in found if dtype in dtypes):
            cells = (f"{found[name, dtype][0]:8.2f}{found[name, dtype][1]:8.2f}" for dtype in dtypes)
            print(f"{name:26}" + "".join(cells))


if __name__ == "__main__":
    main()
