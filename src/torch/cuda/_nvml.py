"""How busy, warm and full a device is, as its driver's management library tells. It needs the package nvidia-ml-py."""

from __future__ import annotations

import os
from typing import Any

from torch.cuda._device import Device, device_index

_GRAPHICS_CLOCK = 1
_TEMPERATURE_OF_THE_CHIP = 0


def _load() -> Any:
    try:
        import pynvml
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("nvidia-ml-py does not seem to be installed or it can't be imported.") from error
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_DriverNotLoaded as error:
        raise RuntimeError("cuda driver can't be loaded, is cuda enabled?") from error
    return pynvml


def _handle(pynvml: Any, device: Device) -> Any:
    """The library numbers all devices of the machine, CUDA those that CUDA_VISIBLE_DEVICES names, by number or UUID."""
    index = device_index(device)
    visible = [word.strip() for word in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if word.strip()]
    if not visible:
        return pynvml.nvmlDeviceGetHandleByIndex(index)
    if visible[index].isdigit():
        return pynvml.nvmlDeviceGetHandleByIndex(int(visible[index]))
    for number in range(pynvml.nvmlDeviceGetCount()):
        handle = pynvml.nvmlDeviceGetHandleByIndex(number)
        if pynvml.nvmlDeviceGetUUID(handle).startswith(visible[index]):
            return handle
    raise RuntimeError(f"no device has the UUID {visible[index]}, which CUDA_VISIBLE_DEVICES names")


def utilization(device: Device = None) -> int:
    """The share of the last while in which a kernel ran, in percent."""
    pynvml = _load()
    return int(pynvml.nvmlDeviceGetUtilizationRates(_handle(pynvml, device)).gpu)


def memory_usage(device: Device = None) -> int:
    """The share of the last while in which device memory was read or written, in percent."""
    pynvml = _load()
    return int(pynvml.nvmlDeviceGetUtilizationRates(_handle(pynvml, device)).memory)


def device_memory_used(device: Device = None) -> int:
    """Bytes of device memory that all processes use."""
    pynvml = _load()
    return int(pynvml.nvmlDeviceGetMemoryInfo(_handle(pynvml, device)).used)


def temperature(device: Device = None) -> int:
    """Degrees Celsius of the chip."""
    pynvml = _load()
    return int(pynvml.nvmlDeviceGetTemperature(_handle(pynvml, device), _TEMPERATURE_OF_THE_CHIP))


def power_draw(device: Device = None) -> int:
    """Milliwatts."""
    pynvml = _load()
    return int(pynvml.nvmlDeviceGetPowerUsage(_handle(pynvml, device)))


def clock_rate(device: Device = None) -> int:
    """Megahertz of the multiprocessors."""
    pynvml = _load()
    return int(pynvml.nvmlDeviceGetClockInfo(_handle(pynvml, device), _GRAPHICS_CLOCK))


def list_gpu_processes(device: Device = None) -> str:
    """The processes on a device and the memory of each, as a text."""
    try:
        pynvml = _load()
    except ModuleNotFoundError:
        return "pynvml module not found, please install nvidia-ml-py"
    lines = [f"GPU:{device_index(device)}"]
    processes = pynvml.nvmlDeviceGetComputeRunningProcesses(_handle(pynvml, device))
    if not processes:
        lines.append("no processes are running")
    for process in processes:
        lines.append(f"process {process.pid:>10d} uses {process.usedGpuMemory / 2**20:>12.3f} MB GPU memory")
    return "\n".join(lines)
