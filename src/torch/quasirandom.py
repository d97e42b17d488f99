"""Points that fill a cube more evenly than random ones: Sobol's sequences, with the numbers of Joe and Kuo."""

from __future__ import annotations

import base64
from functools import cache

import torch
from torch import Tensor

__all__ = ["SobolEngine"]

_BITS = 30


def _is_primitive(polynomial: int, degree: int) -> bool:
    """Whether x generates all 2**degree - 1 elements of the field of a polynomial over two elements."""
    value, order = 2, 1
    if degree == 1:
        return polynomial == 3
    while value != 1:
        value <<= 1
        if value >> degree:
            value ^= polynomial
        order += 1
        if order >= 1 << degree:
            return False
    return order == (1 << degree) - 1


@cache
def _directions(dimension: int) -> tuple[tuple[int, ...], ...]:
    """The direction numbers of each dimension, of `_BITS` bits."""
    from torch._sobol_numbers import NUMBERS

    packed = int.from_bytes(base64.b85decode(NUMBERS), "little")
    rows = [tuple(1 << (_BITS - 1 - place) for place in range(_BITS))]
    degree = 0
    while len(rows) < dimension:
        degree += 1
        for polynomial in range((1 << degree) + 1, 2 << degree, 2):
            if len(rows) == dimension:
                break
            if not _is_primitive(polynomial, degree):
                continue
            numbers = []
            for place in range(degree):
                numbers.append((packed & ((1 << place) - 1)) << 1 | 1)
                packed >>= place
            for place in range(degree, _BITS):
                number = numbers[place - degree] ^ (numbers[place - degree] << degree)
                for step in range(1, degree):
                    if polynomial >> (degree - step) & 1:
                        number ^= numbers[place - step] << step
                numbers.append(number)
            rows.append(tuple(number << (_BITS - 1 - place) for place, number in enumerate(numbers)))
    return tuple(rows)


class SobolEngine:
    """Sobol's sequence in up to 1111 dimensions: `draw(n)` gives its next n points of [0, 1), (n, dimension).

    `scramble` makes it a random one of as even sequences, by `seed` or the seed of torch. ValueError for another
    dimension; PyTorch goes up to 21201.

    >>> torch.quasirandom.SobolEngine(2).draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = _BITS
    MAXDIM = 1111

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.sobolstate = torch.tensor(_directions(dimension), dtype=torch.int64)
        self.shift = torch.zeros(dimension, dtype=torch.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def _scramble(self) -> None:
        generator = None
        if self.seed is not None:
            generator = torch.Generator()
            generator.manual_seed(self.seed)
        powers = 2 ** torch.arange(_BITS)
        bits = torch.randint(2, (self.dimension, _BITS), generator=generator)
        self.shift = (bits * powers).sum(1)
        matrices = torch.randint(2, (self.dimension, _BITS, _BITS), generator=generator).tril()
        matrices.diagonal(dim1=1, dim2=2).fill_(1)
        columns = (self.sobolstate.unsqueeze(-1) >> torch.arange(_BITS - 1, -1, -1)) & 1  # the highest bit first
        mixed = (matrices.unsqueeze(1) * columns.unsqueeze(2)).sum(-1) % 2
        self.sobolstate = (mixed * powers.flip(0)).sum(-1)

    def _points(self, first: int, count: int) -> Tensor:
        """The numbers of points, of `_BITS` bits: what the Gray code of a point's place selects."""
        place = torch.arange(first, first + count)
        code = place ^ (place >> 1)
        points = self.shift.expand(count, -1).clone()
        for bit in range(max(1, (first + count).bit_length())):
            points ^= ((code >> bit) & 1).unsqueeze(1) * self.sobolstate[:, bit]
        return points

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """The next `n` points."""
        points = self._points(self.num_generated, n)
        self.fast_forward(n)
        result = (points.to(torch.get_default_dtype() if dtype is None else dtype)) / 2**_BITS
        return result if out is None else out.resize_(result.shape).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: torch.dtype | None = None) -> Tensor:
        """The next 2**m points. ValueError unless all points so far are then a power of two."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(2**m, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begins anew."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves `n` points out."""
        self.num_generated += n
        self.quasi = self._points(max(self.num_generated - 1, 0), 1)[0]
        return self

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        options += ["scramble=True"] if self.scramble else []
        options += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(options)})"
