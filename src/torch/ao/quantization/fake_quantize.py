"""Modules that round numbers as quantization would, and learn while they do."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor, _unavailable
from torch.ao.quantization.observer import (
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PartialConstructor,
)
from torch.nn import Module

__all__ = ["FakeQuantize", "FakeQuantizeBase"]


class FakeQuantizeBase(Module):
    """What can be switched on and off: the observer, and the rounding."""

    fake_quant_enabled: Tensor
    observer_enabled: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", torch.tensor([1], dtype=torch.uint8))
        self.register_buffer("observer_enabled", torch.tensor([1], dtype=torch.uint8))

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Rounds, or does not."""
        self.fake_quant_enabled[0] = int(enabled)

    def disable_fake_quant(self) -> None:
        """Rounds no more."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Looks at the numbers, or does not."""
        self.observer_enabled[0] = int(enabled)

    def disable_observer(self) -> None:
        """Keeps the scale."""
        self.enable_observer(False)

    @classmethod
    def with_args(cls, **kwargs: Any) -> PartialConstructor:
        """The class with some arguments given; a call makes an instance."""
        return PartialConstructor(functools.partial(cls, **kwargs))


class FakeQuantize(FakeQuantizeBase):
    """Rounds numbers by the scale that an observer finds for them; gradients go through where nothing was clamped.

    observer: a class of `torch.ao.quantization.observer`, made with `observer_kwargs` and the bounds of integers.

    >>> layer = torch.ao.quantization.FakeQuantize(quant_min=0, quant_max=10)
    >>> layer(torch.tensor([0.0, 0.14, 1.0]))
    tensor([0.0000, 0.1000, 1.0000])
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        observer: Any = MovingAverageMinMaxObserver,
        quant_min: int | None = None,
        quant_max: int | None = None,
        is_dynamic: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        observer_kwargs["is_dynamic"] = is_dynamic
        self.activation_post_process = observer(**observer_kwargs)
        self.quant_min, self.quant_max = self.activation_post_process.quant_min, self.activation_post_process.quant_max
        self.is_dynamic = self.activation_post_process.is_dynamic
        self.register_buffer("scale", torch.tensor([1.0]))
        self.register_buffer("zero_point", torch.tensor([0], dtype=torch.int32))
        self.dtype, self.qscheme = self.activation_post_process.dtype, self.activation_post_process.qscheme
        self.ch_axis = getattr(self.activation_post_process, "ch_axis", -1)
        self.is_per_channel = self.qscheme in (
            torch.per_channel_affine,
            torch.per_channel_symmetric,
            torch.per_channel_affine_float_qparams,
        )

    def calculate_qparams(self) -> Any:
        """The observer's scale and zero point."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Tensor) -> Tensor:
        """`X`, rounded."""
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            scale, zero_point = self.calculate_qparams()
            self.scale.resize_(scale.shape).copy_(scale)
            self.zero_point.resize_(zero_point.shape).copy_(zero_point)
        if self.fake_quant_enabled[0] == 1:
            bounds = (self.activation_post_process.quant_min, self.activation_post_process.quant_max)
            if self.is_per_channel:
                X = torch.fake_quantize_per_channel_affine(X, self.scale, self.zero_point, self.ch_axis, *bounds)
            else:
                X = torch.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, *bounds)
        return X

    def extra_repr(self) -> str:
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"quant_min={self.activation_post_process.quant_min}, quant_max={self.activation_post_process.quant_max}, "
            f"dtype={self.dtype}, qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, "
            f"zero_point={self.zero_point}"
        )

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name in ("scale", "zero_point"):  # of as many channels as were seen
            value = state_dict.get(prefix + name)
            if value is not None:
                getattr(self, name).resize_(value.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


def enable_fake_quant(module: Any) -> None:
    """For `model.apply`: rounds."""
    if isinstance(module, FakeQuantizeBase):
        module.enable_fake_quant()


def disable_fake_quant(module: Any) -> None:
    """For `model.apply`: rounds no more."""
    if isinstance(module, FakeQuantizeBase):
        module.disable_fake_quant()


def enable_observer(module: Any) -> None:
    """For `model.apply`: looks at the numbers."""
    if isinstance(module, FakeQuantizeBase):
        module.enable_observer()


def disable_observer(module: Any) -> None:
    """For `model.apply`: keeps the scales."""
    if isinstance(module, FakeQuantizeBase):
        module.disable_observer()


default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=torch.quint8, reduce_range=True
)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=torch.qint8,
    qscheme=torch.per_tensor_symmetric,
    reduce_range=False,
)
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=torch.qint8,
    qscheme=torch.per_channel_symmetric,
    reduce_range=False,
    ch_axis=0,
)

__getattr__ = _unavailable.define(__name__, "this module is not supported: FakeQuantize is")
