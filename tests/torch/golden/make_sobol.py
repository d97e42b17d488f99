"""Writes what Sobol's sequences begin with, from real PyTorch: python tests/torch/golden/make_sobol.py

src/torch/_sobol_numbers.py: the initial numbers of Joe and Kuo for the polynomials of degree 13 and less.
"""

from __future__ import annotations

import base64
import textwrap
from pathlib import Path

import torch

SOURCE = Path(__file__).resolve().parents[3] / "src" / "torch"

DIMENSIONS = 1111
BITS = 30


def main() -> None:
    state = torch.quasirandom.SobolEngine(DIMENSIONS).sobolstate.tolist()
    packed, length = 0, 0
    counts = [1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630]  # primitive polynomials of degree 1, 2, ...
    degrees = [degree for degree, count in enumerate(counts, 1) for _ in range(count)]
    for row, degree in zip(state[1:], degrees, strict=True):
        for place in range(degree):
            number = row[place] >> (BITS - 1 - place)  # odd, below 2 ** (place + 1)
            packed |= (number >> 1) << length
            length += place
    text = base64.b85encode(packed.to_bytes((length + 7) // 8, "little")).decode()
    lines = [
        '"""What torch.quasirandom begins with, packed. Written by tests/torch/golden/make_sobol.py."""',
        "",
        "NUMBERS = (",
        *(f'    "{line}"' for line in textwrap.wrap(text, 110)),
        ")",
    ]
    (SOURCE / "_sobol_numbers.py").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
