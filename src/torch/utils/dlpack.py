"""Tensors shared with other libraries by DLPack: without a copy, through NumPy, which has the protocol."""

from __future__ import annotations

import warnings
from enum import IntEnum
from typing import Any

import torch

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]

# DLPack's numbers of devices.
DLDeviceType = IntEnum(
    "DLDeviceType",
    {
        "kDLCPU": 1,
        "kDLCUDA": 2,
        "kDLCUDAHost": 3,
        "kDLOpenCL": 4,
        "kDLVulkan": 7,
        "kDLMetal": 8,
        "kDLVPI": 9,
        "kDLROCM": 10,
        "kDLROCMHost": 11,
        "kDLExtDev": 12,
        "kDLCUDAManaged": 13,
        "kDLOneAPI": 14,
    },
    module=__name__,
)


def to_dlpack(tensor: torch.Tensor) -> Any:
    """A DLPack capsule of a CPU tensor's memory."""
    return tensor.__dlpack__()


class _Capsule:
    """A capsule as an object with the protocol."""

    def __init__(self, capsule: Any) -> None:
        # Whoever takes a capsule's memory calls it used.
        if type(capsule).__name__ != "PyCapsule" or '"dltensor' not in repr(capsule):
            raise RuntimeError(
                "from_dlpack received an invalid capsule: it wants an object with __dlpack__, or a capsule, each of "
                "which can be taken once only"
            )
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> torch.Tensor:
    """A tensor of the memory of another library's array, which has `__dlpack__`, or of a capsule.

    BufferError for memory that is not the CPU's; `copy=True` copies.
    """
    import numpy

    if isinstance(ext_tensor, torch.Tensor):
        shared = ext_tensor.detach()
    else:
        source = ext_tensor if hasattr(ext_tensor, "__dlpack__") else _Capsule(ext_tensor)
        if source.__dlpack_device__()[0] != 1:
            raise BufferError("from_dlpack: only memory of the CPU can be shared here")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writable")
            shared = torch.from_numpy(numpy.from_dlpack(source))
    if device is not None and torch.device(device) != shared.device:
        if copy is False:
            raise ValueError(f"cannot move a tensor from {shared.device} to {device} without copying")
        return shared.to(device)
    return shared.clone() if copy else shared
