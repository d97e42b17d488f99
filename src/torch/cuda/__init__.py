"""CUDA devices. Nothing is loaded until a function here is called; without the plug-in or a driver `is_available()` is
False and `unavailable_reason()` says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from torch import Generator, Tensor

    Device = int | str | torch.device | None

OutOfMemoryError = _C.OutOfMemoryError


def is_available() -> bool:
    """Whether a CUDA device can be used. Never raises."""
    return _C._cuda_unavailable_reason() is None and _C._cuda_device_count() > 0


def unavailable_reason() -> str | None:
    """Why CUDA cannot be used here, in a sentence; None if it can."""
    reason = _C._cuda_unavailable_reason()
    if reason is None and _C._cuda_device_count() == 0:
        return "the CUDA driver works, but shows no device (look at CUDA_VISIBLE_DEVICES)"
    return reason


def is_initialized() -> bool:
    """Whether this process has started to use CUDA."""
    return _C._cuda_is_loaded()


def init() -> None:
    """Starts CUDA; RuntimeError with the reason where it cannot be used. Other functions call it."""
    reason = unavailable_reason()
    if reason is not None:
        raise RuntimeError(f"CUDA cannot be used: {reason}")


def device_count() -> int:
    """The number of devices; 0 where CUDA cannot be used."""
    return _C._cuda_device_count() if _C._cuda_unavailable_reason() is None else 0


def _index(device: Device) -> int:
    """The number of a device; None is the current one."""
    init()
    if isinstance(device, int):
        return device if device >= 0 else _C._cuda_current_device()
    if device is None:
        return _C._cuda_current_device()
    parsed = torch.device(device)
    if parsed.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return _C._cuda_current_device() if parsed.index is None else parsed.index


def current_device() -> int:
    """The device that new CUDA tensors go to."""
    return _index(None)


def set_device(device: Device) -> None:
    """Makes a device the current one."""
    _C._cuda_set_device(_index(device))


class device:
    """Makes a device the current one inside a `with` block; None or a negative number leaves it."""

    def __init__(self, device: Any) -> None:
        self.idx = _index(device)

    def __enter__(self) -> None:
        self._before = current_device()
        _C._cuda_set_device(self.idx)

    def __exit__(self, *exception: object) -> None:
        _C._cuda_set_device(self._before)


def synchronize(device: Device = None) -> None:
    """Waits until the device has done all its work."""
    _C._cuda_synchronize(_index(device))


def get_device_name(device: Device = None) -> str:
    """For example "NVIDIA H100"."""
    return _C._cuda_device_name(_index(device))


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """The compute capability, major and minor."""
    return _C._cuda_device_capability(_index(device))


class _DeviceProperties:
    """`name`, `major`, `minor`, `total_memory` (bytes) of a device."""

    def __init__(self, index: int) -> None:
        self.name = _C._cuda_device_name(index)
        self.major, self.minor = _C._cuda_device_capability(index)
        self.total_memory = _C._cuda_total_memory(index)

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB)"
        )


def get_device_properties(device: Device = None) -> _DeviceProperties:
    """What a device is."""
    return _DeviceProperties(_index(device))


# ---------------------------------------------------------------------------------------------------- memory


def _memory(device: Device, key: str) -> int:
    if not is_initialized():
        return 0
    return _C._cuda_memory_stats(_index(device))[key]


def memory_allocated(device: Device = None) -> int:
    """Bytes in tensors."""
    return _memory(device, "allocated")


def max_memory_allocated(device: Device = None) -> int:
    """The most bytes that were in tensors since the start or `reset_peak_memory_stats`."""
    return _memory(device, "max_allocated")


def memory_reserved(device: Device = None) -> int:
    """Bytes that the caching allocator holds."""
    return _memory(device, "reserved")


def max_memory_reserved(device: Device = None) -> int:
    """The most bytes that the caching allocator held."""
    return _memory(device, "max_reserved")


def reset_peak_memory_stats(device: Device = None) -> None:
    """Starts the two maxima anew."""
    _C._cuda_reset_peak_memory_stats(_index(device))


def empty_cache() -> None:
    """Gives cached memory that no tensor uses back to the driver."""
    if is_initialized():
        _C._cuda_empty_cache()


# ---------------------------------------------------------------------------------------------------- random numbers


def _generator(device: Device) -> Generator:
    return _C._cuda_default_generator(_index(device))


def manual_seed(seed: int) -> None:
    """Seeds the current device's generator; nothing without CUDA."""
    if is_available():
        _generator(None).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all devices, at once or when CUDA is first used."""
    _C._cuda_manual_seed_all(int(seed))


def initial_seed() -> int:
    """The seed that the current device's generator started from."""
    return _generator(None).initial_seed()


def get_rng_state(device: Device = None) -> Tensor:
    """The state of a device's generator, a uint8 tensor on the CPU."""
    return _generator(device).get_state()


def set_rng_state(new_state: Tensor, device: Device = None) -> None:
    """Continues a device's random numbers from what `get_rng_state` gave."""
    _generator(device).set_state(new_state)


class _Unsupported:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"torch.cuda.{type(self).__name__} is not supported")


class CUDAGraph(_Unsupported):
    """Work on a device that is recorded once and run again: NotImplementedError."""


class Stream(_Unsupported):
    """A queue of work on a device: NotImplementedError; all work is in the default one."""


class StreamContext(_Unsupported):
    """A block whose work goes into a queue: NotImplementedError."""


class graph(_Unsupported):
    """A block whose work is recorded: NotImplementedError."""


class Event(_Unsupported):
    """A point in such a queue: NotImplementedError; `synchronize()` waits for all work."""


def __getattr__(name: str) -> Any:
    if name == "amp":
        from importlib import import_module

        return import_module("torch.cuda.amp")
    raise AttributeError(f"module 'torch.cuda' has no attribute '{name}'")
