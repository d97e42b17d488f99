"""Memory of CUDA devices: what tensors use, what the caching allocator keeps, what is left."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from torch import _C
from torch.cuda._device import device_index

if TYPE_CHECKING:
    from torch.cuda._device import Device

# The names of PyTorch's statistics, and what they are called in the plug-in.
_STATISTICS = {
    "allocated_bytes.all.current": "allocated",
    "allocated_bytes.all.peak": "max_allocated",
    "reserved_bytes.all.current": "reserved",
    "reserved_bytes.all.peak": "max_reserved",
}


def memory_stats(device: Device = None) -> dict[str, Any]:
    """Bytes by PyTorch's names: `allocated_bytes.all.current` and `.peak`, `reserved_bytes.all.current` and `.peak`.

    Empty as long as this process has not used CUDA.
    """
    if not _C._cuda_is_loaded():
        return OrderedDict()
    found = _C._cuda_memory_stats(device_index(device))
    return OrderedDict((name, found[key]) for name, key in _STATISTICS.items())


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """`memory_stats` by the parts of the names."""
    nested: dict[str, Any] = {}
    for name, value in memory_stats(device).items():
        kind, pool, moment = name.split(".")
        nested.setdefault(kind, {}).setdefault(pool, {})[moment] = value
    return nested


def _statistic(device: Device, name: str) -> int:
    return memory_stats(device).get(name, 0)


def memory_allocated(device: Device = None) -> int:
    """Bytes in tensors."""
    return _statistic(device, "allocated_bytes.all.current")


def max_memory_allocated(device: Device = None) -> int:
    """The most bytes that were in tensors since the start or `reset_peak_memory_stats`."""
    return _statistic(device, "allocated_bytes.all.peak")


def memory_reserved(device: Device = None) -> int:
    """Bytes that the caching allocator holds."""
    return _statistic(device, "reserved_bytes.all.current")


def max_memory_reserved(device: Device = None) -> int:
    """The most bytes that the caching allocator held."""
    return _statistic(device, "reserved_bytes.all.peak")


def reset_peak_memory_stats(device: Device = None) -> None:
    """Starts the two maxima anew."""
    _C._cuda_reset_peak_memory_stats(device_index(device))


def reset_max_memory_allocated(device: Device = None) -> None:
    """The old name of `reset_peak_memory_stats`."""
    warnings.warn(
        "torch.cuda.reset_max_memory_allocated now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak "
        "memory stats.",
        FutureWarning,
        stacklevel=2,
    )
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Device = None) -> None:
    """The old name of `reset_peak_memory_stats`."""
    warnings.warn(
        "torch.cuda.reset_max_memory_cached now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak "
        "memory stats.",
        FutureWarning,
        stacklevel=2,
    )
    reset_peak_memory_stats(device)


def memory_cached(device: Device = None) -> int:
    """The old name of `memory_reserved`."""
    text = "`torch.cuda.memory_cached` has been renamed to `torch.cuda.memory_reserved`"
    warnings.warn(text, FutureWarning, stacklevel=2)
    return memory_reserved(device)


def max_memory_cached(device: Device = None) -> int:
    """The old name of `max_memory_reserved`."""
    text = "`torch.cuda.max_memory_cached` has been renamed to `torch.cuda.max_memory_reserved`"
    warnings.warn(text, FutureWarning, stacklevel=2)
    return max_memory_reserved(device)


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """Bytes of a device that nobody uses, and all of them."""
    return _C._cuda_memory_info(device_index(device))


def empty_cache() -> None:
    """Gives cached memory that no tensor uses back to the driver."""
    if _C._cuda_is_loaded():
        _C._cuda_empty_cache()


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """A table of `memory_stats`, to be printed."""
    statistics = memory_stats(device)
    rows = [("tensors", "allocated_bytes.all"), ("held by the allocator", "reserved_bytes.all")]
    lines = [f"{'CUDA memory':22} {'now':>14} {'at most':>14}"]
    for title, name in rows:
        now, most = (statistics.get(f"{name}.{moment}", 0) / 2**20 for moment in ("current", "peak"))
        lines.append(f"{title:22} {now:10.1f} MiB {most:10.1f} MiB")
    return "\n".join(lines)


def get_allocator_backend() -> str:
    """How memory is kept: PyTorch's word for the caching allocator."""
    return "native"
