"""cuDNN: not used here. `allow_tf32` and `fp32_precision` say how CUDA devices multiply float32 in convolutions; the
other switches are kept and change nothing, as in PyTorch without CUDA."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

from torch import _switches

if TYPE_CHECKING:
    from collections.abc import Iterator

    allow_tf32: bool
    fp32_precision: str

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False


class _Operator:
    """`fp32_precision` of an operator: "tf32", "ieee", or "none", which takes that of torch.backends.cudnn."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def fp32_precision(self) -> str:
        return _switches.fp32_precision(self._name)

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        _switches.set_fp32_precision(self._name, value)


conv = _Operator("conv")
rnn = _Operator("rnn")  # kept: recurrent networks multiply as torch.backends.cuda.matmul says


class _CuDNN(ModuleType):
    """`allow_tf32`: float32 convolutions may use TF32, as they do at first; `fp32_precision`: that of all operators."""

    @property
    def allow_tf32(self) -> bool:
        return conv.fp32_precision == "tf32"

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        conv.fp32_precision = rnn.fp32_precision = "tf32" if value else "none"

    @property
    def fp32_precision(self) -> str:
        return _switches.fp32_precision("cuda")

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        _switches.set_fp32_precision("cuda", value)


_own: Any = sys.modules[__name__]
_own.__class__ = _CuDNN


def version() -> int | None:
    """The version of cuDNN; None without it."""
    return None


def is_available() -> bool:
    """Whether there is cuDNN: no."""
    return False


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN takes a tensor: no."""
    return False


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """Sets the switches for a block."""
    own = globals()
    new = {
        "enabled": enabled,
        "benchmark": benchmark,
        "benchmark_limit": benchmark_limit,
        "deterministic": deterministic,
    }
    before = {name: own[name] for name in new}
    own.update(new)
    try:
        with _switches.kept_fp32_precisions():
            _own.allow_tf32 = allow_tf32
            _own.fp32_precision = fp32_precision
            yield
    finally:
        own.update(before)
