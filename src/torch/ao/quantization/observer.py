"""Observers: modules that watch the numbers that go through them, and say which scale and zero point fit them."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import torch
from torch import Tensor, _unavailable
from torch.nn import Module

__all__ = [
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "UniformQuantizationObserverBase",
]

_SYMMETRIC = (torch.per_tensor_symmetric, torch.per_channel_symmetric)
_EPS = 2.0**-23  # of float32
_RANGES = {
    torch.qint8: (-128, 127),
    torch.int8: (-128, 127),
    torch.quint8: (0, 255),
    torch.uint8: (0, 255),
    torch.int16: (-(2**15), 2**15 - 1),
    torch.uint16: (0, 2**16 - 1),
    torch.qint32: (-(2**31), 2**31 - 1),
    torch.int32: (-(2**31), 2**31 - 1),
}


class PartialConstructor:
    """A class with some of its arguments, as `with_args` makes it: a call makes an instance."""

    def __init__(self, make: Any) -> None:
        self.p = make

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.p(*args, **kwargs)

    def __repr__(self) -> str:
        return repr(self.p)

    def with_args(self, **kwargs: Any) -> PartialConstructor:
        """This one with further arguments."""
        return PartialConstructor(functools.partial(self.p, **kwargs))


class ObserverBase(Module):
    """Base of observers: `forward` looks and gives its input, `calculate_qparams` gives a scale and a zero point."""

    def __init__(self, dtype: torch.dtype, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    def calculate_qparams(self, **kwargs: Any) -> Any:
        """The scale and the zero point for the numbers seen."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it finds a scale")

    @classmethod
    def with_args(cls, **kwargs: Any) -> PartialConstructor:
        """The class with some arguments given: `MinMaxObserver.with_args(dtype=torch.qint8)()`."""
        return PartialConstructor(functools.partial(cls, **kwargs))


class UniformQuantizationObserverBase(ObserverBase):
    """Base of those whose integers are equally far apart.

    dtype: of the integers, whose range `quant_min` and `quant_max` narrow. qscheme: one scale, or one for each channel;
    symmetric ones put the zero in the middle. reduce_range: half of the range. eps: the smallest scale.
    """

    eps: Tensor
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self,
        dtype: torch.dtype = torch.quint8,
        qscheme: Any = torch.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype, is_dynamic)
        if dtype not in _RANGES:
            raise AssertionError(f"observers of {dtype} are not supported: it is none of {list(map(str, _RANGES))}")
        made = factory_kwargs or {}
        self.qscheme, self.reduce_range = qscheme, reduce_range
        self.register_buffer("eps", torch.tensor([eps], **made))
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if quant_min is not None and quant_max is not None:
            if not quant_min <= 0 <= quant_max:
                raise AssertionError("the range between quant_min and quant_max must hold 0")
            self.quant_min, self.quant_max = quant_min, quant_max
        else:
            low, high = _RANGES[dtype]
            self.quant_min, self.quant_max = (low // 2, high // 2) if reduce_range else (low, high)
        self.register_buffer("min_val", torch.tensor(float("inf"), **made))
        self.register_buffer("max_val", torch.tensor(float("-inf"), **made))

    def reset_min_max_vals(self) -> None:
        """Forgets what was seen."""
        self.min_val = torch.full_like(self.min_val.reshape(-1)[:1].sum(), float("inf"))
        self.max_val = torch.full_like(self.min_val, float("-inf"))

    @torch.jit.export
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """The scale (float32) and the zero point, one of each or one per channel."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def _calculate_qparams(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        if min_val.numel() == 0 or bool((min_val.isinf() & max_val.isinf()).any()):
            warnings.warn("must run observer before calling calculate_qparams. Returning default values.", stacklevel=3)
            return torch.tensor([1.0], device=min_val.device), torch.tensor([0], device=min_val.device)
        low, high = min_val.clamp(max=0), max_val.clamp(min=0)
        steps = float(self.quant_max - self.quant_min)
        if self.qscheme in _SYMMETRIC:
            scale = torch.maximum(torch.maximum(-low, high) / (steps / 2), self.eps)
            unsigned = self.dtype in (torch.quint8, torch.uint8)
            middle = (self.quant_min + self.quant_max) // 2 if self.has_customized_qrange else 128
            zero_point = torch.full(scale.shape, middle if unsigned else 0, dtype=torch.int64, device=scale.device)
        elif self.qscheme == torch.per_channel_affine_float_qparams:
            scale = (max_val - min_val) / steps
            scale = torch.where(scale > self.eps, scale, torch.ones_like(scale))
            zero_point = -min_val / scale
        else:
            scale = torch.maximum((high - low) / steps, self.eps)
            zero_point = self.quant_min - torch.round(low / scale).to(torch.int32)
            zero_point = zero_point.clamp(self.quant_min, self.quant_max)
        return scale.reshape(-1), zero_point.reshape(-1)


class MinMaxObserver(UniformQuantizationObserverBase):
    """Keeps the smallest and the largest number seen.

    >>> observer = torch.ao.quantization.MinMaxObserver()
    >>> _ = observer(torch.tensor([0.0, 2.55]))
    >>> observer.calculate_qparams()
    (tensor([0.0100]), tensor([0], dtype=torch.int32))
    """

    def forward(self, x_orig: Tensor) -> Tensor:
        """`x_orig`, which is looked at."""
        if x_orig.numel():
            low, high = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
            self.min_val.copy_(torch.minimum(low, self.min_val))
            self.max_val.copy_(torch.maximum(high, self.max_val))
        return x_orig

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"


class MovingAverageMinMaxObserver(MinMaxObserver):
    """Moves the bounds towards those of each tensor by `averaging_constant`."""

    def __init__(
        self,
        averaging_constant: float = 0.01,
        dtype: torch.dtype = torch.quint8,
        qscheme: Any = torch.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        self.averaging_constant = averaging_constant
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, eps=eps, is_dynamic=is_dynamic, **kwargs)

    def forward(self, x_orig: Tensor) -> Tensor:
        """`x_orig`, which is looked at."""
        if x_orig.numel():
            low, high = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
            self.min_val.copy_(_moved(self.min_val, low, self.averaging_constant))
            self.max_val.copy_(_moved(self.max_val, high, self.averaging_constant))
        return x_orig


def _moved(known: Tensor, seen: Tensor, share: float) -> Tensor:
    return seen if bool(known.isinf().all()) else known + share * (seen - known)


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """Keeps the smallest and the largest number of each channel, along dimension `ch_axis`."""

    def __init__(
        self,
        ch_axis: int = 0,
        dtype: torch.dtype = torch.quint8,
        qscheme: Any = torch.per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic)
        self.ch_axis = ch_axis
        self.min_val = torch.empty(0)
        self.max_val = torch.empty(0)

    def reset_min_max_vals(self) -> None:
        """Forgets what was seen."""
        self.min_val, self.max_val = self.min_val.new_empty(0), self.max_val.new_empty(0)

    def _bounds(self, x: Tensor) -> tuple[Tensor, Tensor]:
        rows = x.detach().to(self.min_val.dtype).movedim(self.ch_axis, 0).flatten(1)
        return torch.aminmax(rows, dim=1)

    def forward(self, x_orig: Tensor) -> Tensor:
        """`x_orig`, which is looked at."""
        if x_orig.numel():
            low, high = self._bounds(x_orig)
            if self.min_val.numel():
                low, high = torch.minimum(low, self.min_val), torch.maximum(high, self.max_val)
            self.min_val, self.max_val = low, high
        return x_orig

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in ("min_val", "max_val"):  # of as many channels as were seen
            value = state_dict.get(prefix + name)
            if value is not None:
                setattr(self, name, torch.empty_like(value, device=getattr(self, name).device))
        super()._load_from_state_dict(state_dict, prefix, *rest)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Moves the bounds of each channel towards those of each tensor by `averaging_constant`."""

    def __init__(self, averaging_constant: float = 0.01, ch_axis: int = 0, *args: Any, **kwargs: Any) -> None:
        self.averaging_constant = averaging_constant
        super().__init__(ch_axis, *args, **kwargs)

    def forward(self, x_orig: Tensor) -> Tensor:
        """`x_orig`, which is looked at."""
        if x_orig.numel():
            low, high = self._bounds(x_orig)
            if self.min_val.numel():
                low = _moved(self.min_val, low, self.averaging_constant)
                high = _moved(self.max_val, high, self.averaging_constant)
            self.min_val, self.max_val = low, high
        return x_orig


class PlaceholderObserver(ObserverBase):
    """Looks at nothing, and keeps what a conversion is to know."""

    def __init__(
        self,
        dtype: torch.dtype = torch.float32,
        custom_op_name: str = "",
        compute_dtype: torch.dtype | None = None,
        quant_min: int | None = None,
        quant_max: int | None = None,
        qscheme: Any = None,
        eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype, is_dynamic)
        self.qscheme = torch.per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max, self.eps = quant_min, quant_max, eps
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        """`x`."""
        return x

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Raises: nothing was looked at."""
        raise RuntimeError("calculate_qparams should not be called for PlaceholderObserver")


class NoopObserver(ObserverBase):
    """Looks at nothing."""

    def __init__(self, dtype: torch.dtype = torch.float16, custom_op_name: str = "") -> None:
        super().__init__(dtype)
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        """`x`."""
        return x

    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Raises: nothing was looked at."""
        raise RuntimeError("calculate_qparams should not be called for NoopObserver")


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_weight_observer = MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_channel_symmetric
)

__getattr__ = _unavailable.define(__name__, "this observer is not supported: MinMaxObserver and its like are")
