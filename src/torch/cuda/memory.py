"""Memory of CUDA devices: what tensors use, what the caching allocator keeps, what is left."""

from __future__ import annotations

import pickle
import warnings
from collections import OrderedDict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.cuda._device import device_index, init
from torch.cuda._nvml import list_gpu_processes as list_gpu_processes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.cuda._device import Device

_HOST = -1  # the device that pinned memory is counted under


def _numbers(index: int) -> dict[str, Any]:
    return OrderedDict(sorted(_C._cuda_memory_stats(index).items()))


def _nested(numbers: dict[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in numbers.items():
        *outer, last = name.split(".")
        inner = nested
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return nested


def memory_stats(device: Device = None) -> dict[str, Any]:
    """What the caching allocator counts, by PyTorch's names: `allocated_bytes.all.current`, `num_ooms`, ...

    Of `allocation`, `segment`, `active`, `inactive_split`, the same with `_bytes` (`allocated_bytes`, `reserved_bytes`)
    and `requested_bytes` there are `all`, `large_pool` and `small_pool`, and of each `current`, `peak`, `allocated` and
    `freed`. Empty as long as this process has not used CUDA.
    """
    return _numbers(device_index(device)) if _C._cuda_is_loaded() else OrderedDict()


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """`memory_stats` by the parts of the names."""
    return _nested(memory_stats(device))


def host_memory_stats() -> dict[str, Any]:
    """What the allocator of pinned memory counts: `active_bytes.current`, `segments.current`, ...

    Empty as long as this process has not used CUDA.
    """
    return _numbers(_HOST) if _C._cuda_is_loaded() else OrderedDict()


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """`host_memory_stats` by the parts of the names."""
    return _nested(host_memory_stats())


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
    """Starts the maxima anew."""
    _C._cuda_reset_memory_stats(device_index(device), False)


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Starts the sums over time anew: `allocated`, `freed` and the counts of events."""
    _C._cuda_reset_memory_stats(device_index(device), True)


def reset_peak_host_memory_stats() -> None:
    """Starts the maxima of pinned memory anew."""
    init()
    _C._cuda_reset_memory_stats(_HOST, False)


def reset_accumulated_host_memory_stats() -> None:
    """Starts the sums over time of pinned memory anew."""
    init()
    _C._cuda_reset_memory_stats(_HOST, True)


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


_ROWS = (
    ("Allocated memory", "allocated_bytes"),
    ("Active memory", "active_bytes"),
    ("Requested memory", "requested_bytes"),
    ("GPU reserved memory", "reserved_bytes"),
    ("Non-releasable memory", "inactive_split_bytes"),
    ("Allocations", "allocation"),
    ("Active allocs", "active"),
    ("GPU reserved segments", "segment"),
    ("Non-releasable allocs", "inactive_split"),
)
_POOLS = (("", "all"), ("      from large pool", "large_pool"), ("      from small pool", "small_pool"))
_MOMENTS = (("Cur Usage", "current"), ("Peak Usage", "peak"), ("Tot Alloc", "allocated"), ("Tot Freed", "freed"))


def _size(amount: int, is_bytes: bool) -> str:
    if not is_bytes:
        return str(amount)
    units = iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while abs(amount) >= 10 * 1024 and (larger := next(units, None)):
        amount, unit = amount // 1024, larger
    return f"{amount} {unit}"


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """A table of `memory_stats`, to be printed; `abbreviated` leaves out the two pools."""
    index = device_index(device)
    numbers = _numbers(index)
    line = "|" + "-" * 23 + ("+" + "-" * 14) * len(_MOMENTS) + "|"
    title = f"PyTorch CUDA memory summary, device ID {index}"
    events = f"CUDA OOMs: {numbers['num_ooms']}, cudaMalloc retries: {numbers['num_alloc_retries']}"
    rows = [f"|{text:^{len(line) - 2}}|" for text in (title, events)]
    rows += [line, "|" + f"{'Metric':^23}" + "".join(f"|{title:^14}" for title, _ in _MOMENTS) + "|", line]
    for title, name in _ROWS:
        for label, pool in _POOLS[:1] if abbreviated else _POOLS:
            values = (_size(numbers[f"{name}.{pool}.{moment}"], "bytes" in name) for _, moment in _MOMENTS)
            rows.append(f"| {label or title:22}" + "".join(f"|{value:>13} " for value in values) + "|")
        rows.append(line)
    return "\n".join(rows)


def memory_snapshot(mempool_id: tuple[int, int] | None = None, include_traces: bool = True) -> list[dict[str, Any]]:
    """The segments of device memory that the allocator holds, and the blocks that each consists of.

    A block's state is `active_allocated`, `active_awaiting_free` (other streams may still read it) or `inactive`. With
    `mempool_id` those of one pool only. Where memory was asked for is not recorded.
    """
    if not _C._cuda_is_loaded():
        return []
    segments = []
    for index, address, stream, pool, is_small, blocks in _C._cuda_memory_segments():
        if mempool_id is not None and mempool_id[1] != pool:
            continue
        parts: list[dict[str, Any]] = []
        position = address
        for size, requested, state in blocks:
            parts.append({"address": position, "size": size, "requested_size": requested, "state": state, "frames": []})
            position += size
        in_state = [
            sum(part[key] for part in parts if part["state"] in states)
            for key, states in (
                ("size", ("active_allocated",)),
                ("size", ("active_allocated", "active_awaiting_free")),
                ("requested_size", ("active_allocated", "active_awaiting_free")),
            )
        ]
        segments.append(
            {
                "device": index,
                "address": address,
                "total_size": position - address,
                "allocated_size": in_state[0],
                "active_size": in_state[1],
                "requested_size": in_state[2],
                "stream": stream,
                "segment_type": "small" if is_small else "large",
                "segment_pool_id": (0, pool),
                "is_expandable": False,
                "frames": [],
                "blocks": parts,
            }
        )
    return segments


def _snapshot(device: Device = None, augment_with_fx_traces: bool = False) -> dict[str, Any]:
    """`memory_snapshot` of all devices, or of one, as PyTorch's viewers of memory read it; there are no traces."""
    chosen = None if device is None else device_index(device)
    segments = [segment for segment in memory_snapshot() if chosen is None or segment["device"] == chosen]
    traces: list[Any] = [[] for _ in range(_C._cuda_device_count())] if _C._cuda_is_loaded() else []
    return {"segments": segments, "device_traces": traces, "allocator_settings": {}, "external_annotations": []}


def _dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    """Writes `_snapshot` to a file, which PyTorch's memory_viz shows."""
    Path(filename).write_bytes(pickle.dumps(_snapshot()))


def _record_memory_history(enabled: str | None = "all", *options: Any, **more: Any) -> None:
    """NotImplementedError, unless `enabled` is None: where memory was asked for is not recorded."""
    if enabled is not None:
        raise NotImplementedError(
            "torch.cuda.memory: where memory was asked for is not recorded; memory_snapshot() and _dump_snapshot() "
            "tell what there is now"
        )


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Lets this process take no more than `fraction`, from 0 to 1, of a device's memory; beyond is out of memory."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _C._cuda_limit_memory(device_index(device), fraction)


def get_per_process_memory_fraction(device: Device = None) -> float:
    """The share of a device's memory that this process may take."""
    return _C._cuda_memory_limit(device_index(device))


_raw: dict[int, torch.Tensor] = {}


def caching_allocator_alloc(size: int, device: Device = None, stream: Any = None) -> int:
    """The address of `size` bytes of device memory, for libraries; `caching_allocator_delete` gives them back."""
    index = device_index(device)
    handle = getattr(stream, "cuda_stream", stream)
    if handle is not None and not isinstance(handle, int):
        raise TypeError("Invalid type for stream argument, must be `torch.cuda.Stream` or `int` representing a pointer")
    before = _C._cuda_current_stream(index)
    _C._cuda_set_stream(before if handle is None else handle, index)
    try:
        memory = torch.empty(size, dtype=torch.uint8, device=f"cuda:{index}")
    finally:
        _C._cuda_set_stream(before, index)
    _raw[memory.data_ptr()] = memory
    return memory.data_ptr()


def caching_allocator_delete(mem_ptr: int) -> None:
    """Gives memory of `caching_allocator_alloc` back."""
    if _raw.pop(mem_ptr, None) is None and mem_ptr:
        raise ValueError(f"{mem_ptr:#x} is not memory of caching_allocator_alloc")


def caching_allocator_enable(value: bool = True) -> None:
    """Asks for freed memory to be kept for the next tensors, as it is. NotImplementedError where that is to end."""
    if not value:
        raise NotImplementedError(
            "the caching allocator is chosen when a process begins: set PYTORCH_NO_CUDA_MEMORY_CACHING=1 to do without"
        )


@contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """A block without the caching allocator: NotImplementedError, see `caching_allocator_enable`."""
    caching_allocator_enable(value=False)
    yield


class CUDAPluggableAllocator:
    """An allocator from a library of one's own. There is one allocator here: NotImplementedError."""

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        raise NotImplementedError(
            f"torch.cuda.CUDAPluggableAllocator: {path_to_so_file} cannot take the place of the caching allocator; "
            "use torch.cuda.MemPool, or memory of another library through DLPack"
        )


def change_current_allocator(allocator: object) -> None:
    """Takes device memory from another allocator: NotImplementedError, as there is no other."""
    raise NotImplementedError("torch.cuda.change_current_allocator: there is one allocator here")


class MemPool:
    """A pool that device memory is taken from within `use_mem_pool`; it goes when the pool and its tensors are gone."""

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> None:
        if allocator is not None or use_on_oom or no_split:
            raise NotImplementedError("torch.cuda.MemPool: there is one allocator, and no settings for a pool")
        init()
        self._number = _C._cuda_new_pool()

    @property
    def id(self) -> tuple[int, int]:
        """What `memory_snapshot` and graphs call it."""
        return (0, self._number)

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        """The segments of this pool, as `memory_snapshot` has them."""
        return memory_snapshot(self.id, include_traces)

    def __del__(self) -> None:
        if "_number" in self.__dict__:
            _C._cuda_release_pool(self._number)


@contextmanager
def use_mem_pool(pool: MemPool, device: Device = None) -> Iterator[None]:
    """A block in which this thread's memory on a device comes from `pool`."""
    index = device_index(device)
    _C._cuda_enter_pool(index, pool.id[1])
    try:
        yield
    finally:
        _C._cuda_leave_pool(index)


def get_allocator_backend() -> str:
    """How memory is kept: PyTorch's word for the caching allocator."""
    return "native"
