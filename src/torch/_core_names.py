"""Names of PyTorch's core that libraries ask at import, and the answers of a build without what they are about."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, NoReturn

import torch
from torch._function_schema import Argument as Argument, FunctionSchema as FunctionSchema
from torch._ops import Tag as Tag


def _log_api_usage_once(name: str) -> None:
    """Where PyTorch may count uses: nothing is."""


def _get_privateuse1_backend_name() -> str:
    """The name of devices that a program brings: none does."""
    return "privateuseone"


def _get_accelerator(check: bool | None = None) -> torch.device:
    """The accelerator's device; the CPU's without one."""
    return torch.accelerator.current_accelerator() or torch.device("cpu")


def _get_default_device() -> str:
    """The type of the device that tensors are made on."""
    return torch.get_default_device().type


def _get_cudnn_enabled() -> bool:
    """Whether cuDNN may be used."""
    return bool(torch.backends.cudnn.enabled)


def _is_alias_of(self: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors share a storage."""
    return self.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def _accept(*args: Any, **kwargs: Any) -> None:
    """For settings of TorchScript's compiler, which is not here."""


def _never(*args: Any, **kwargs: Any) -> bool:
    return False


DeviceObjType = torch.device
# PyTorch's questions about instructions of the processor; who finds none goes the general way.
_cpu = SimpleNamespace()


def _shape_as_tensor(self: torch.Tensor) -> torch.Tensor:
    """The sizes of a tensor as a vector."""
    return torch.tensor(self.shape)


def _casting(dtype: torch.dtype) -> Any:
    def cast(self: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        return self.to(dtype)

    return cast


_cast_Double, _cast_Float, _cast_Half = map(_casting, (torch.float64, torch.float32, torch.float16))
_cast_Int, _cast_Long = map(_casting, (torch.int32, torch.int64))


class _NoInstances:
    """For `isinstance`: nothing is of this class."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch._C.{cls.__name__}: there is no TorchScript here")


_CLASSES = ("Block", "Graph", "Node", "ScriptFunction", "ScriptMethod", "ScriptModule", "TensorType", "Type", "Value")
_SETTINGS = (
    "_jit_override_can_fuse_on_cpu",
    "_jit_override_can_fuse_on_gpu",
    "_jit_set_nvfuser_enabled",
    "_jit_set_nvfuser_guard_mode",
    "_jit_set_profiling_executor",
    "_jit_set_profiling_mode",
    "_jit_set_texpr_fuser_enabled",
    "_set_math_sdp_allow_fp16_bf16_reduction",
)
_REFUSALS = (
    "_are_functorch_transforms_active",
    "_is_tracing",
    "_jit_can_fuse_on_cpu",
    "_jit_can_fuse_on_gpu",
    "_jit_nvfuser_enabled",
    "_jit_texpr_fuser_enabled",
)

globals().update({name: type(name, (_NoInstances,), {"__module__": "torch._C"}) for name in _CLASSES})
globals().update(dict.fromkeys(_SETTINGS, _accept))
globals().update(dict.fromkeys(_REFUSALS, _never))

legacy_contiguous_format = torch.contiguous_format


class qscheme:
    """How numbers of a quantized tensor are scaled, of which there are none here: names to compare with."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


per_tensor_affine, per_tensor_symmetric = qscheme("per_tensor_affine"), qscheme("per_tensor_symmetric")
per_channel_affine, per_channel_symmetric = qscheme("per_channel_affine"), qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")

_vitals: dict[str, str] = {}


def vitals_enabled() -> bool:
    """Whether programs note facts about themselves: if TORCH_VITAL is ON."""
    return os.environ.get("TORCH_VITAL", "").upper() in ("ON", "1", "TRUE")


def set_vital(vital: str, attribute: str, value: str) -> None:
    """Notes a fact, if that is on."""
    if vitals_enabled():
        _vitals[f"{vital}.{attribute}"] = value


def read_vitals() -> str:
    """The facts that were noted, a line each."""
    return "\n".join(f"[TORCH_VITAL] {name}\t\t {value}" for name, value in _vitals.items())
