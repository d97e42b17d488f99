"""Writes what special functions are, to 20 digits, with mpmath: python tests/torch/golden/make_special.py

special_functions.json: name -> [[arguments, value as text], ...]; how near ours have to be says
test_special_accuracy.py.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

from mpmath import mp, mpf

if TYPE_CHECKING:
    from collections.abc import Callable

mp.dps = 40
Range = tuple[float, float]
BESSEL: tuple[Range, ...] = ((0.0, 1.0), (1.0, 17.9), (18.0, 80.0))
GAMMA: tuple[tuple[Range, ...], ...] = (
    ((0.01, 3.0), (0.01, 5.0)),
    ((3.0, 50.0), (3.0, 50.0)),
    ((80.0, 200.0), (80.0, 200.0)),
)


def _ndtr(x: mpf) -> mpf:
    return mp.erfc(-x / mp.sqrt(2)) / 2


# name -> the function, and where it is asked: ranges of its only argument, or of every argument
FUNCTIONS: dict[str, tuple[Callable[..., mpf], tuple[Range, ...] | tuple[tuple[Range, ...], ...]]] = {
    "airy_ai": (mp.airyai, ((-4.0, 2.5), (2.5, 12.0))),
    "bessel_j0": (lambda x: mp.besselj(0, x), ((0.0, 2.0), (6.0, 8.2), (9.2, 11.2))),
    "bessel_j1": (lambda x: mp.besselj(1, x), ((0.0, 3.0), (7.6, 9.6), (11.0, 12.5))),
    "bessel_y0": (lambda x: mp.bessely(0, x), ((1.0, 3.5), (7.6, 9.6))),
    "bessel_y1": (lambda x: mp.bessely(1, x), ((0.1, 2.0), (6.0, 8.2), (9.2, 11.2))),
    "digamma": (mp.digamma, ((0.01, 1.0), (2.0, 100.0), (-0.4, -0.05), (-2.5, -2.1))),
    "entr": (lambda x: -x * mp.log(x), ((0.01, 0.9), (1.1, 50.0))),
    "erfc": (mp.erfc, ((-3.0, 3.0), (3.0, 9.0))),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), ((-4.0, 0.0), (0.0, 3.0), (3.0, 50.0))),
    "erfinv": (mp.erfinv, ((-0.8, 0.8), (0.8, 0.999999))),
    "exp2": (lambda x: mp.mpf(2) ** x, ((-20.0, 20.0),)),
    "gammainc": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), GAMMA),
    "gammaincc": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), GAMMA),
    "gammaln": (lambda x: mp.log(abs(mp.gamma(x))), ((0.01, 0.9), (3.0, 100.0), (-0.9, -0.1), (-4.9, -4.1))),
    "i0": (lambda x: mp.besseli(0, x), BESSEL),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), BESSEL),
    "i1": (lambda x: mp.besseli(1, x), BESSEL),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), BESSEL),
    "log_ndtr": (lambda x: mp.log(_ndtr(x)), ((-1.0, 4.0), (-30.0, -1.0))),
    "modified_bessel_k0": (lambda x: mp.besselk(0, x), ((1e-5, 1e-3), (0.01, 2.0), (2.0, 50.0))),
    "modified_bessel_k1": (lambda x: mp.besselk(1, x), ((1e-5, 1e-3), (0.01, 2.0), (2.0, 50.0))),
    "ndtri": (lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1), ((1e-9, 0.05), (0.1, 0.45))),
    "scaled_modified_bessel_k0": (lambda x: mp.besselk(0, x) * mp.exp(x), ((0.01, 2.0), (2.0, 500.0))),
    "scaled_modified_bessel_k1": (lambda x: mp.besselk(1, x) * mp.exp(x), ((0.01, 2.0), (2.0, 500.0))),
    "spherical_bessel_j0": (lambda x: mp.sin(x) / x, ((1e-5, 1e-3), (0.01, 3.0))),
    "xlog1py": (lambda a, b: a * mp.log1p(b), (((-3.0, 3.0), (-0.9, 0.1)), ((-3.0, 3.0), (0.1, 50.0)))),
    "xlogy": (lambda a, b: a * mp.log(b), (((-3.0, 3.0), (0.01, 0.9)), ((-3.0, 3.0), (1.1, 50.0)))),
    "zeta": (mp.zeta, (((1.01, 3.0), (0.1, 20.0)), ((3.0, 30.0), (0.1, 20.0)))),
}


def main() -> None:
    generator = random.Random(0)
    table: dict[str, list[list[object]]] = {}
    for name, (function, ranges) in FUNCTIONS.items():
        rows = table[name] = []
        for asked in ranges:
            bounds = asked if isinstance(asked[0], tuple) else (asked,)
            for _ in range(12):
                arguments = [generator.uniform(*each) for each in bounds]  # type: ignore[misc]
                rows.append([arguments, mp.nstr(function(*map(mpf, arguments)), 20)])
    path = Path(__file__).with_name("special_functions.json")
    path.write_text(json.dumps(table, indent=None, separators=(",", ":")).replace("]],", "]],\n") + "\n")


if __name__ == "__main__":
    main()
