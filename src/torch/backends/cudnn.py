"""cuDNN, which computes convolutions on CUDA devices where libtorch-cuda is built with it (`is_available`). Without it,
or with `enabled` False, they are products of kernels of torch's own and of cuBLAS, and the other switches, but those
of TF32, change nothing. Recurrent networks are not cuDNN's here."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import _C, _switches

if TYPE_CHECKING:
    from collections.abc import Iterator

    enabled: bool
    benchmark: bool
    benchmark_limit: int | None
    deterministic: bool
    depthwise_kernel: str
    allow_tf32: bool
    fp32_precision: str

CUDNN_TENSOR_DTYPES = {torch.half, torch.float, torch.double}

_DEPTHWISE_KERNELS = {"auto": (False, False), "cudnn": (True, False), "native": (False, True)}
_kept_benchmark_limit: Any = None  # of a build without cuDNN


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


def _switch(name: str, setter: str) -> property:
    def read(_: ModuleType) -> bool:
        return _switches.product_switch(name)

    def write(_: ModuleType, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"{setter} expects a bool, but got {type(value).__name__}")
        _switches.set_product_switch(name, value)

    return property(read, write)


class _CuDNN(ModuleType):
    """`enabled`: cuDNN computes convolutions. `benchmark`: for sizes that it has not seen it times up to
    `benchmark_limit` of its algorithms (0: all), and keeps the fastest. `deterministic`: it takes only algorithms that
    give the same each time. `depthwise_kernel`: who convolves channels one by one, "cudnn", "native", or "auto": cuDNN
    with channels last. `allow_tf32`: float32 convolutions may use TF32, as they do at first; `fp32_precision`: that of
    all operators."""

    enabled = _switch("cudnn", "set_enabled_cudnn")
    benchmark = _switch("cudnn_benchmark", "set_benchmark_cudnn")
    deterministic = _switch("cudnn_deterministic", "set_deterministic_cudnn")

    @property
    def benchmark_limit(self) -> Any:
        return _C._cuda_cudnn_benchmark_limit() if is_available() else _kept_benchmark_limit

    @benchmark_limit.setter
    def benchmark_limit(self, value: Any) -> None:
        global _kept_benchmark_limit
        if not is_available():
            _kept_benchmark_limit = value
            return
        if not isinstance(value, int) or isinstance(value, bool):
            raise RuntimeError(f"set_benchmark_limit_cudnn expects an int, but got {type(value).__name__}")
        _C._cuda_set_cudnn_benchmark_limit(value)

    @property
    def depthwise_kernel(self) -> str:
        chosen = _switches.product_switch("cudnn_depthwise"), _switches.product_switch("native_depthwise")
        return next(name for name, switches in _DEPTHWISE_KERNELS.items() if switches == chosen)

    @depthwise_kernel.setter
    def depthwise_kernel(self, value: str) -> None:
        if not isinstance(value, str):
            raise RuntimeError(f"set_cudnn_depthwise_kernel expects a string, but got {type(value).__name__}")
        if value not in _DEPTHWISE_KERNELS:
            raise RuntimeError(
                f"Unknown cuDNN depthwise kernel mode: {value}. Expected one of: {', '.join(_DEPTHWISE_KERNELS)}"
            )
        by_cudnn, by_own = _DEPTHWISE_KERNELS[value]
        _switches.set_product_switch("cudnn_depthwise", by_cudnn)
        _switches.set_product_switch("native_depthwise", by_own)

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
    """The version of cuDNN, which this loads, as cuDNN numbers it: 91300 is 9.13.0; None without it.

    Raises:
        RuntimeError: libtorch-cuda is built with cuDNN, which cannot be loaded.
    """
    return _C._cuda_cudnn_version()


def is_available() -> bool:
    """Whether libtorch-cuda is there and built with cuDNN; says nothing about a device."""
    return _C._cuda_has_cudnn()


def is_acceptable(tensor: torch.Tensor) -> bool:
    """Whether cuDNN is there for a tensor's device and type."""
    if not _own.enabled or tensor.device.type != "cuda" or tensor.dtype not in CUDNN_TENSOR_DTYPES:
        return False
    if not is_available():
        warnings.warn("This libtorch-cuda is built without cuDNN.", stacklevel=2)
        return False
    return True


_FLAGS = (
    "enabled",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "allow_tf32",
    "fp32_precision",
    "depthwise_kernel",
)


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str | None = "none",
    _depthwise_kernel: str | None = None,
) -> tuple[Any, ...]:
    """Sets the switches that are not None. Returns what all of them were."""
    values = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32, _fp32_precision, _depthwise_kernel)
    before = tuple(getattr(_own, name) for name in _FLAGS)
    for name, value in zip(_FLAGS, values, strict=True):
        if value is not None and (name != "benchmark_limit" or is_available()):
            setattr(_own, name, value)
    return before


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> Iterator[None]:
    """Sets the switches for a block."""
    with _switches.kept_fp32_precisions():
        before = set_flags(
            enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision, depthwise_kernel
        )
        try:
            yield
        finally:
            set_flags(*before[:4], _fp32_precision=None, _depthwise_kernel=before[6])
