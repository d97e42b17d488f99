"""CUDA devices. Nothing is loaded until a function here is called; without the plug-in or a driver `is_available()` is
False and `unavailable_reason()` says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import _C, _bindings
from torch.cuda import graphs as graphs, memory as memory, nvtx as nvtx, random as random, streams as streams
from torch.cuda._device import (
    Device,
    device_index,
    init as init,
    is_available as is_available,
    unavailable_reason as unavailable_reason,
)
from torch.cuda._nvml import (
    clock_rate as clock_rate,
    device_memory_used as device_memory_used,
    list_gpu_processes as list_gpu_processes,
    memory_usage as memory_usage,
    power_draw as power_draw,
    temperature as temperature,
    utilization as utilization,
)
from torch.cuda._properties import DeviceProperties
from torch.cuda.graphs import (
    CUDAGraph as CUDAGraph,
    graph as graph,
    graph_pool_handle as graph_pool_handle,
    is_current_stream_capturing as is_current_stream_capturing,
    make_graphed_callables as make_graphed_callables,
)
from torch.cuda.memory import (
    CUDAPluggableAllocator as CUDAPluggableAllocator,
    MemPool as MemPool,
    caching_allocator_alloc as caching_allocator_alloc,
    caching_allocator_delete as caching_allocator_delete,
    caching_allocator_disabled as caching_allocator_disabled,
    caching_allocator_enable as caching_allocator_enable,
    change_current_allocator as change_current_allocator,
    empty_cache as empty_cache,
    get_allocator_backend as get_allocator_backend,
    get_per_process_memory_fraction as get_per_process_memory_fraction,
    host_memory_stats as host_memory_stats,
    host_memory_stats_as_nested_dict as host_memory_stats_as_nested_dict,
    max_memory_allocated as max_memory_allocated,
    max_memory_cached as max_memory_cached,
    max_memory_reserved as max_memory_reserved,
    mem_get_info as mem_get_info,
    memory_allocated as memory_allocated,
    memory_cached as memory_cached,
    memory_reserved as memory_reserved,
    memory_snapshot as memory_snapshot,
    memory_stats as memory_stats,
    memory_stats_as_nested_dict as memory_stats_as_nested_dict,
    memory_summary as memory_summary,
    reset_accumulated_host_memory_stats as reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats as reset_accumulated_memory_stats,
    reset_max_memory_allocated as reset_max_memory_allocated,
    reset_max_memory_cached as reset_max_memory_cached,
    reset_peak_host_memory_stats as reset_peak_host_memory_stats,
    reset_peak_memory_stats as reset_peak_memory_stats,
    set_per_process_memory_fraction as set_per_process_memory_fraction,
    use_mem_pool as use_mem_pool,
)
from torch.cuda.random import (
    get_rng_state as get_rng_state,
    get_rng_state_all as get_rng_state_all,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    manual_seed_all as manual_seed_all,
    seed as seed,
    seed_all as seed_all,
    set_rng_state as set_rng_state,
    set_rng_state_all as set_rng_state_all,
)
from torch.cuda.streams import (
    Event as Event,
    ExternalStream as ExternalStream,
    Stream as Stream,
    StreamContext as StreamContext,
    current_stream as current_stream,
    default_stream as default_stream,
    get_stream_from_external as get_stream_from_external,
    set_stream as set_stream,
    stream as stream,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

OutOfMemoryError = _C.OutOfMemoryError
AcceleratorError = _C.AcceleratorError

has_half = True


class DeferredCudaCallError(Exception):
    """What PyTorch raises when a call that waited for CUDA to start has failed; here none waits."""


def current_blas_handle() -> int:
    """The address of cuBLAS' handle: NotImplementedError, as it stays in the library that makes products."""
    raise NotImplementedError("torch.cuda.current_blas_handle: make a handle of your own with cublasCreate")


def current_solver_handle() -> int:
    """The address of cuSOLVER's handle: NotImplementedError, see `current_blas_handle`."""
    raise NotImplementedError("torch.cuda.current_solver_handle: make a handle of your own with cusolverDnCreate")


def is_initialized() -> bool:
    """Whether this process has started to use CUDA."""
    return _C._cuda_is_loaded()


def _lazy_call(callable: Callable[[], object], **kwargs: Any) -> None:
    """Calls what needs CUDA; never where there is none."""
    if device_count():
        init()
        callable()


def device_count() -> int:
    """The number of devices; 0 where CUDA cannot be used."""
    return _C._cuda_device_count() if _C._cuda_unavailable_reason() is None else 0


def current_device() -> int:
    """The device that new CUDA tensors go to."""
    return device_index(None)


def set_device(device: Device) -> None:
    """Makes a device the current one; a negative number changes nothing."""
    if not isinstance(device, int) or device >= 0:
        _C._cuda_set_device(device_index(device))


class device:
    """Makes a device the current one inside a `with` block; None or a negative number leaves it."""

    def __init__(self, device: Any) -> None:
        self.idx = device_index(device)

    def __enter__(self) -> None:
        self._before = current_device()
        _C._cuda_set_device(self.idx)

    def __exit__(self, *exception: object) -> None:
        _C._cuda_set_device(self._before)


class device_of:
    """Makes the device of a CUDA tensor the current one inside a `with` block; a tensor elsewhere changes nothing."""

    def __init__(self, obj: Tensor) -> None:
        self._device = device(obj.device) if obj.is_cuda else None

    def __enter__(self) -> None:
        if self._device is not None:
            self._device.__enter__()

    def __exit__(self, *exception: object) -> None:
        if self._device is not None:
            self._device.__exit__(*exception)


def synchronize(device: Device = None) -> None:
    """Waits until the device has done all its work."""
    _C._cuda_synchronize(device_index(device))


def get_device_name(device: Device = None) -> str:
    """For example "NVIDIA H100"."""
    return _C._cuda_device_name(device_index(device))


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """The compute capability, major and minor."""
    return _C._cuda_device_capability(device_index(device))


def get_device_properties(device: Device = None) -> DeviceProperties:
    """What a device is: its name, memory, multiprocessors, ..."""
    return DeviceProperties(device_index(device))


def get_arch_list() -> list[str]:
    """The architectures that the plug-in holds code for, such as "sm_90"; empty where CUDA cannot be used."""
    return _C._cuda_arch_list().split() if is_available() else []


def get_gencode_flags() -> str:
    """nvcc's options for `get_arch_list`."""
    names = [name.split("_") for name in get_arch_list()]
    return " ".join(f"-gencode compute=compute_{number},code={kind}_{number}" for kind, number in names)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current device computes with bfloat16; any does by way of float32."""
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


def is_tf32_supported() -> bool:
    """Whether the current device has TF32."""
    return is_available() and get_device_capability()[0] >= 8


def ipc_collect() -> None:
    """Frees memory that other processes are done with: none is ever shared with them."""
    init()


def can_device_access_peer(device: Device, peer_device: Device) -> bool:
    """Whether a device reads and writes another one's memory directly."""
    index, peer = device_index(device), device_index(peer_device)
    return _C._cuda_can_access_peer(index, peer)


def get_sync_debug_mode() -> int:
    """0: nothing is said when the host waits for a device."""
    return 0


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Says that nothing is to be said when the host waits for a device; NotImplementedError for the other modes."""
    if debug_mode not in (0, "default"):
        if debug_mode not in (1, 2, "warn", "error"):
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`")
        raise NotImplementedError("torch.cuda.set_sync_debug_mode: waiting is not noticed here")


_OF_THE_RUNTIME = ("CudaError", "check_error", "cudaStatus", "cudart")


def __getattr__(name: str) -> Any:
    if name == "_initialized":
        return is_initialized()
    if name == "has_magma":
        return _C._cuda_has_magma()
    if name == "_compile_kernel":
        from torch.cuda._kernels import compile_kernel

        return compile_kernel
    if name in _OF_THE_RUNTIME:
        from torch.cuda import _runtime

        return getattr(_runtime, name)
    if name.endswith("Tensor"):
        from torch._legacy import TENSOR_TYPES

        kind = TENSOR_TYPES.get(f"torch.cuda.{name}")
        if kind is not None:
            return kind
    if name.endswith("Storage"):
        from torch.cuda._storages import storage_class

        kind = storage_class(name)
        if kind is not None:
            return kind
    if name == "GreenContext":
        from torch.cuda import green_contexts

        return green_contexts.GreenContext
    if name == "default_generators":
        return tuple(_C._cuda_default_generator(index) for index in range(device_count()))
    return _bindings.submodules(__name__)(name)
