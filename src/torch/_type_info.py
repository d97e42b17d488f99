"""`torch.finfo` and `torch.iinfo`: the limits of the numeric dtypes."""

from __future__ import annotations

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


class finfo:
    """Limits of a floating dtype (default: the default dtype): bits, eps, max, min, smallest_normal, resolution."""

    __module__ = "torch"

    def __init__(self, dtype: torch.dtype | None = None) -> None:
        dtype = torch.get_default_dtype() if dtype is None else dtype
        _check_dtype("finfo", dtype)
        if (named := _NAMED.get(_name(dtype))) is not None:
            self.dtype, self.bits, self.resolution = _name(dtype), 8, 1.0
            self.eps, self.max, self.smallest_normal = named
            self.min = -self.max if dtype.is_signed else self.smallest_normal
            self.tiny = self.smallest_normal
            return
        dtype = dtype.to_real()
        if not dtype.is_floating_point:
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{_name(dtype)}'"
            )
        fraction_bits, largest_exponent = dtype._digits - 1, dtype._max_exponent - 1
        self.dtype = _name(dtype)
        self.bits = dtype.itemsize * 8
        self.eps = 2.0**-fraction_bits
        self.max = (2 - 2.0**-fraction_bits) * 2.0**largest_exponent
        self.min = -self.max
        self.smallest_normal = self.tiny = 2.0 ** (1 - largest_exponent)
        self.resolution = 10.0 ** -int(fraction_bits * 0.30103)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """Limits of an integer dtype: bits, max, min."""

    __module__ = "torch"

    def __init__(self, dtype: torch.dtype) -> None:
        _check_dtype("iinfo", dtype)
        if dtype.is_floating_point or dtype.is_complex or dtype is torch.bool:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{_name(dtype)}'")
        self.dtype = _name(dtype)
        self.bits = dtype.itemsize * 8
        self.min = -(2 ** (self.bits - 1)) if dtype.is_signed else 0
        self.max = 2 ** (self.bits - 1 if dtype.is_signed else self.bits) - 1

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
