"""The machine's accelerator: CUDA, or none."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]

_Device = torch.device | str | int | None


def is_available() -> bool:
    """Whether there is an accelerator that can be used."""
    return torch.cuda.is_available()


def current_accelerator(check_available: bool = False) -> torch.device | None:
    """The accelerator's device, or None without one."""
    return torch.device("cuda") if torch.cuda.is_available() else None


def device_count() -> int:
    """How many accelerators there are."""
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _demand() -> None:
    if not torch.cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def synchronize(device: _Device = None) -> None:
    """Waits for the accelerator. RuntimeError without one."""
    _demand()
    torch.cuda.synchronize()


def current_device_index() -> int:
    """The number of the current device. RuntimeError without one."""
    _demand()
    return torch.cuda.current_device()


current_device_idx = current_device_index


def set_device_index(device: _Device, /) -> None:
    """Makes a device the current one. RuntimeError without one."""
    _demand()
    torch.cuda.set_device(device)


set_device_idx = set_device_index


def device_index(device: int | None, /) -> Any:
    """A block in which a device is the current one; None changes nothing."""
    from contextlib import nullcontext

    return nullcontext() if device is None else torch.cuda.device(device)


def current_stream(device: _Device = None, /) -> Any:
    """The stream that work goes to. RuntimeError without an accelerator."""
    _demand()
    return torch.cuda.current_stream(device)


def set_stream(stream: Any) -> None:
    """Makes a stream the current one. RuntimeError without an accelerator."""
    _demand()
    torch.cuda.set_stream(stream)


def empty_cache() -> None:
    """Gives memory back that no tensor uses; nothing to do without an accelerator."""
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def empty_host_cache() -> None:
    """Gives pinned memory back that no tensor uses: none is kept. RuntimeError without an accelerator."""
    _demand()


def get_device_capability(device: _Device = None, /) -> dict[str, Any]:
    """What a device can do: {"supported_dtypes": the dtypes of its tensors}. RuntimeError without an accelerator."""
    _demand()
    return {"supported_dtypes": set(torch._dtypes.values())}


class Graph:
    """Work of an accelerator to be done again as a whole. RuntimeError without one; NotImplementedError with one."""

    def __init__(self, keep_graph: bool = False, *, pool: Any = None, capture_error_mode: str = "default") -> None:
        _demand()
        raise NotImplementedError("torch.accelerator.Graph: work is not captured into graphs in this torch")


def get_memory_info(device: _Device = None, /) -> tuple[int, int]:
    """Free and total bytes of a device. RuntimeError without one."""
    _demand()
    return torch.cuda.mem_get_info(device)  # type: ignore[no-any-return]


def memory_stats(device: _Device = None, /) -> dict[str, Any]:
    """Numbers about memory; none without an accelerator."""
    return torch.cuda.memory_stats(device) if torch.cuda.is_available() else {}


def memory_allocated(device: _Device = None, /) -> int:
    """Bytes of tensors; 0 without an accelerator."""
    return torch.cuda.memory_allocated(device) if torch.cuda.is_available() else 0


def memory_reserved(device: _Device = None, /) -> int:
    """Bytes held; 0 without an accelerator."""
    return torch.cuda.memory_reserved(device) if torch.cuda.is_available() else 0


def max_memory_allocated(device: _Device = None, /) -> int:
    """The most bytes of tensors so far; 0 without an accelerator."""
    return torch.cuda.max_memory_allocated(device) if torch.cuda.is_available() else 0


def max_memory_reserved(device: _Device = None, /) -> int:
    """The most bytes held so far; 0 without an accelerator."""
    return torch.cuda.max_memory_reserved(device) if torch.cuda.is_available() else 0


def reset_peak_memory_stats(device: _Device = None, /) -> None:
    """Begins to look for the most anew."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats(device)


def reset_accumulated_memory_stats(device_index: _Device = None, /) -> None:
    """Begins to count what was asked for anew; NotImplementedError with an accelerator, whose counts stay."""
    if torch.cuda.is_available():
        raise NotImplementedError("torch.accelerator.reset_accumulated_memory_stats: what is counted is not reset")
