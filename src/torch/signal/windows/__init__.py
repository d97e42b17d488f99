"""Windows to weigh a signal's samples with.

Each gives a vector of `M` numbers: symmetric with `sym`, else one period of a periodic window. ValueError for a
negative `M`, and for dtypes that are not float32 or float64.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _window(name: str, M: int, sym: bool, options: dict[str, Any], shape: Callable[[Tensor, float], Tensor]) -> Tensor:
    """`shape` of the places 0, 1, ..., M - 1 and of the number of steps from one end to the other."""
    dtype = options.pop("dtype", None)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    requires_grad = options.pop("requires_grad", False)
    layout = options.pop("layout", torch.strided)
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not torch.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M == 0:
        return torch.empty((0,), dtype=dtype, requires_grad=requires_grad, **options)
    if M == 1:
        return torch.ones((1,), dtype=dtype, requires_grad=requires_grad, **options)
    places = torch.arange(M, dtype=torch.float64, **options)
    return shape(places, float(M - 1 if sym else M)).to(dtype).requires_grad_(requires_grad)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """exp(-abs(k - center) / tau), the centre being the middle unless it is given (which `sym` must be False for).

    >>> torch.signal.windows.exponential(3, tau=0.5)
    tensor([0.1353, 1.0000, 0.1353])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def shape(places: Tensor, steps: float) -> Tensor:
        return torch.exp(-(places - (steps / 2 if center is None else center)).abs() / tau)

    return _window("exponential", M, sym, options, shape)


def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Half a wave: sin(pi (k + 1/2) / M).

    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return _window("cosine", M, sym, options, lambda k, steps: torch.sin(math.pi * (k + 0.5) / (steps + 1)))


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """A bell curve of standard deviation `std` around the middle.

    >>> torch.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _window("gaussian", M, sym, options, lambda k, steps: torch.exp(-(((k - steps / 2) / std) ** 2) / 2))


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:
    """i0(beta * sqrt(1 - x * x)) / i0(beta), x going from -1 to 1.

    >>> torch.signal.windows.kaiser(3, beta=2.0)
    tensor([0.4387, 1.0000, 0.4387])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def shape(places: Tensor, steps: float) -> Tensor:
        place = 2 * places / steps - 1
        return torch.i0(beta * (1 - place * place).clamp(min=0).sqrt()) / torch.i0(torch.full_like(place, beta))

    return _window("kaiser", M, sym, options, shape)


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Tensor:
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - ..., x going from 0 to 2 pi.

    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    if not hasattr(a, "__iter__"):
        raise TypeError("Coefficients must be a list/tuple")
    coefficients = list(a)
    if not coefficients:
        raise ValueError("Coefficients cannot be empty")

    def shape(places: Tensor, steps: float) -> Tensor:
        terms = [(-1) ** i * each * torch.cos(2 * math.pi * i / steps * places) for i, each in enumerate(coefficients)]
        return torch.stack(terms).sum(0)

    return _window("general_cosine", M, sym, options, shape)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """alpha - (1 - alpha) cos(x), x going from 0 to 2 pi.

    >>> torch.signal.windows.general_hamming(3, alpha=0.5)
    tensor([0., 1., 0.])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Hamming's window, `general_hamming` with alpha 0.54.

    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Hann's window, a raised cosine.

    >>> torch.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Blackman's window, of three cosines.

    >>> torch.signal.windows.blackman(5).argmax()
    tensor(2)
    """
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Nuttall's window of four cosines, whose side lobes are lowest.

    >>> torch.signal.windows.nuttall(5).argmax()
    tensor(2)
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A triangle with its tip in the middle.

    >>> torch.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _window("bartlett", M, sym, options, lambda k, steps: 1 - (2 * k / steps - 1).abs())
