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
from importlib import import_module
from pathlib import Path
from typing import Any

# mantissa bits with the hidden one, and the exponent of the smallest normal number
TYPES = {"float32": (24, -126), "float64": (53, -1022), "bfloat16": (8, -126), "float16": (11, -14)}

# name: the torch expression, the mpmath expression, and what x is taken from
FUNCTIONS = {
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
    "gelu": ("F.gelu(x)", "x * (1 + m.erf(x / m.sqrt(2))) / 2", (-2, 5)),
}


def evaluate(torch: Any, jobs: list[list[Any]]) -> list[list[float]]:
    """The results of each job: a function's name, a type's name, points."""
    scope = {"torch": torch, "F": torch.nn.functional}
    results = []
    for name, dtype, points in jobs:
        x = torch.tensor(points, dtype=torch.float64).to(getattr(torch, dtype))
        results.append(eval(FUNCTIONS[name][0], scope | {"x": x}).to(torch.float64).tolist())
    return results


def worst_errors(mpmath: Any, jobs: list[list[Any]], all_results: list[list[list[float]]]) -> list[list[float]]:
    """For each job the greatest error of each torch's results, in ulps."""
    mpmath.mp.prec = 160
    errors = []
    for number, (name, dtype, points) in enumerate(jobs):
        digits, smallest = TYPES[dtype]
        true_value = eval(f"lambda x: {FUNCTIONS[name][1]}", {"m": mpmath})
        worst = [0.0 for _ in all_results]
        for place, point in enumerate(points):
            true = true_value(mpmath.mpf(point))
            exponent = max(smallest, mpmath.frexp(true)[1] - 1)
            ulp = mpmath.ldexp(1, exponent - digits + 1)
            for side, results in enumerate(all_results):
                given = results[number][place]
                error = float(abs(mpmath.mpf(given) - true) / ulp) if math.isfinite(given) else math.inf
                worst[side] = max(worst[side], error)
        errors.append(worst)
    return errors


def representable(value: float, dtype: str) -> float:
    """The nearest number of the type, for values in the range of its normal numbers."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, TYPES[dtype][0])), exponent - TYPES[dtype][0])


def make_jobs(count: int, wanted: re.Pattern[str]) -> list[list[Any]]:
    """Points for each function and type: evenly over its range, and some near zero where it is in the range."""
    chance = random.Random(0)
    jobs = []
    for name, (_, _, (low, high)) in FUNCTIONS.items():
        for dtype in TYPES:
            if not wanted.search(name):
                continue
            points = [chance.uniform(low, high) for _ in range(count)]
            if low < 0:
                points += [chance.choice((-1, 1)) * 2.0 ** chance.uniform(-8, -0.5) for _ in range(count // 4)]
            inside = (representable(point, dtype) for point in points)
            jobs.append([name, dtype, [point for point in inside if low <= point <= high and point]])
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
    print(f"{'worst errors in ulps':20}" + "".join(f"{dtype:>15}" for dtype in TYPES))
    print(f"{'':20}" + f"{'ours  other':>15}" * len(TYPES))
    found = {(name, dtype): worst for (name, dtype, _), worst in zip(jobs, errors, strict=True)}
    for name in dict.fromkeys(name for name, _, _ in jobs):
        cells = (f"{found[name, dtype][0]:8.2f}{found[name, dtype][1]:7.2f}" for dtype in TYPES)
        print(f"{name:20}" + "".join(cells))


if __name__ == "__main__":
    main()
