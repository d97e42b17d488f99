"""Quantization: observers, modules that round as quantization would, and those that wait for a conversion.

No model is converted here: what does that refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _unavailable
from torch.ao.quantization.fake_quantize import (
    FakeQuantize,
    FakeQuantizeBase,
    default_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    disable_fake_quant,
    disable_observer,
    enable_fake_quant,
    enable_observer,
)
from torch.ao.quantization.observer import (
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    NoopObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
    UniformQuantizationObserverBase,
    default_observer,
    default_per_channel_weight_observer,
    default_weight_observer,
)
from torch.ao.quantization.qconfig import QConfig
from torch.nn import Module

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "DeQuantStub",
    "FakeQuantize",
    "FakeQuantizeBase",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "QConfig",
    "QuantStub",
    "QuantWrapper",
    "UniformQuantizationObserverBase",
    "default_fake_quant",
    "default_observer",
    "default_per_channel_weight_fake_quant",
    "default_per_channel_weight_observer",
    "default_weight_fake_quant",
    "default_weight_observer",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
]


class QuantStub(Module):
    """Where a converted model would quantize its input: gives it as it is."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        """`x`."""
        return x


class DeQuantStub(QuantStub):
    """Where a converted model would go back to floating numbers: gives its input as it is."""


class QuantWrapper(Module):
    """A module between the two."""

    quant: QuantStub
    dequant: DeQuantStub
    module: Module

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.add_module("quant", QuantStub())
        self.add_module("dequant", DeQuantStub())
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, x: Tensor) -> Tensor:
        """What the module gives."""
        return self.dequant(self.module(self.quant(x)))  # type: ignore[no-any-return]


__getattr__ = _unavailable.define(__name__, "quantization is not supported: use float32, float16 or bfloat16")
