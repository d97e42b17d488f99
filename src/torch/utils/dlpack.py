"""Tensors shared with other libraries by DLPack, without a copy."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import torch
from torch import _C

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
    """A DLPack capsule, in the form from before DLPack 1.0, of a tensor's memory. Whoever takes it shares that."""
    return _C._to_dlpack(tensor)


def _numbers_of(device: torch.device) -> tuple[int, int]:
    """DLPack's type and index of a device; ValueError for one that it has no number for."""
    if device.type == "cpu":
        return DLDeviceType.kDLCPU, 0
    if device.type == "cuda":
        return DLDeviceType.kDLCUDA, torch.cuda.current_device() if device.index is None else device.index
    raise ValueError(f"Unknown device type {device.type} for Dlpack")


def _device_of(numbers: tuple[int, int]) -> torch.device:
    kind, index = numbers
    if kind in (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost):
        return torch.device("cpu")
    if kind == DLDeviceType.kDLCUDA:
        return torch.device("cuda", index)
    raise BufferError(f"DLPack's device type {int(kind)} is not known here: the CPU (1) and CUDA (2) are")


def _wait_for(device: torch.device, stream: int | None) -> None:
    """Let a CUDA stream of the taker, by its number in the array API, wait for what writes the tensor now."""
    if stream == 2:
        raise BufferError("per-thread default stream is not supported.")
    with torch.cuda.device(device):
        taking = torch.cuda.default_stream() if stream in (None, 0, 1) else torch.cuda.ExternalStream(stream)
        writing = torch.cuda.current_stream()
        if taking != writing:
            taking.wait_event(writing.record_event())


def _export(
    tensor: torch.Tensor,
    stream: int | None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """What `Tensor.__dlpack__` answers."""
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.layout != torch.strided:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    shared = tensor
    if dl_device is not None and tuple(dl_device) != _numbers_of(tensor.device):
        target = _device_of(dl_device)
        if copy is False:
            raise ValueError(f"cannot move (i.e. copy=False) tensor from {tensor.device} to {target} without copying.")
        shared = tensor.to(target)
    elif copy:
        shared = tensor.clone()
    if tensor.is_cuda and stream != -1:
        _wait_for(tensor.device, stream)
    if tensor.is_cpu and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    return _C._to_dlpack(shared, max_version is not None and max_version[0] >= 1, shared is not tensor)


def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> torch.Tensor:
    """A tensor of the memory of another library's array, which has `__dlpack__`, or of a capsule.

    Args:
        device: where the tensor is to be; the array's library copies if it is elsewhere.
        copy: True copies, False refuses to.

    Raises:
        BufferError: memory of another kind of device, or elements that no dtype has.
        RuntimeError: a capsule that was taken before, or no capsule.
        ValueError: negative strides; `copy=False` where a copy is needed.
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        return _C._from_dlpack(ext_tensor)
    options: dict[str, Any] = {}
    if copy is not None:
        options["copy"] = copy
    if device is not None:
        options["dl_device"] = _numbers_of(torch.device(device))
    kind, index = ext_tensor.__dlpack_device__()
    if kind == DLDeviceType.kDLCUDA:
        # The array API's standard calls the default stream 1.
        options["stream"] = torch.cuda.current_stream(index).cuda_stream or 1
    try:
        capsule = ext_tensor.__dlpack__(max_version=(1, 0), **options)
    except TypeError:  # a library from before DLPack 1.0
        capsule = ext_tensor.__dlpack__(**options)
    return _C._from_dlpack(capsule)
