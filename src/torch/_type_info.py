"""`torch.finfo` and `torch.iinfo`: the limits of the numeric dtypes. There is one object of each dtype."""

from __future__ import annotations

from typing import Any

import torch

# Types whose bits are not used as IEEE 754 has them: eps, max and the smallest normal number.
_NAMED = {
    "float8_e4m3fn": (0.125, 448.0, 2.0**-6),
    "float8_e4m3fnuz": (0.125, 240.0, 2.0**-7),
    "float8_e5m2": (0.25, 57344.0, 2.0**-14),
    "float8_e5m2fnuz": (0.125, 57344.0, 2.0**-15),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127),
}


def _check_dtype(name: str, dtype: object) -> None:
    if not isinstance(dtype, torch.dtype):
        raise TypeError(f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type(dtype).__name__}")


class _Limits:
    dtype: str

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.{type(self).__name__}' objects is not writable")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (getattr(torch, self.dtype),)


class finfo(_Limits):
    """Limits of a floating dtype (default: the default dtype): bits, eps, max, min, smallest_normal, resolution."""

    __module__ = "torch"
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    tiny: float
    resolution: float

    def __new__(cls, dtype: torch.dtype | None = None) -> finfo:
        return _FLOATING.get(dtype) or _find_floating(dtype)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits):
    """Limits of an integer dtype: bits, max, min."""

    __module__ = "torch"
    bits: int
    max: int
    min: int

    def __new__(cls, dtype: torch.dtype) -> iinfo:
        return _INTEGRAL.get(dtype) or _find_integral(dtype)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


_FLOATING: dict[torch.dtype | None, finfo] = {}
_INTEGRAL: dict[torch.dtype, iinfo] = {}


def _find_floating(dtype: torch.dtype | None) -> finfo:
    if dtype is None:
        return finfo(torch.get_default_dtype())
    _check_dtype("finfo", dtype)
    if dtype.is_complex:
        return _FLOATING.setdefault(dtype, finfo(dtype.to_real()))
    limits = object.__new__(finfo)
    if (named := _NAMED.get(_name(dtype))) is not None:
        eps, largest, smallest = named
        bits, resolution = 8, 1.0
    elif dtype.is_floating_point:
        fraction_bits, largest_exponent = dtype._digits - 1, dtype._max_exponent - 1
        bits = dtype.itemsize * 8
        eps = 2.0**-fraction_bits
        largest = (2 - 2.0**-fraction_bits) * 2.0**largest_exponent
        smallest = 2.0 ** (1 - largest_exponent)
        resolution = 10.0 ** -int(fraction_bits * 0.30103)
    else:
        raise TypeError(
            f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{_name(dtype)}'"
        )
    facts = {"dtype": _name(dtype), "bits": bits, "resolution": resolution, "eps": eps, "max": largest}
    least = -largest if dtype.is_signed else smallest
    limits.__dict__.update(facts, min=least, smallest_normal=smallest, tiny=smallest)
    return _FLOATING.setdefault(dtype, limits)


def _find_integral(dtype: torch.dtype) -> iinfo:
    _check_dtype("iinfo", dtype)
    if dtype.is_floating_point or dtype.is_complex or dtype is torch.bool:
        raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{_name(dtype)}'")
    limits = object.__new__(iinfo)
    bits = dtype.itemsize * 8
    least = -(2 ** (bits - 1)) if dtype.is_signed else 0
    most = 2 ** (bits - 1 if dtype.is_signed else bits) - 1
    limits.__dict__.update(dtype=_name(dtype), bits=bits, min=least, max=most)
    return _INTEGRAL.setdefault(dtype, limits)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
