"""What a device is, as its driver tells."""

from __future__ import annotations

import ctypes
from uuid import UUID

from torch import _C
from torch.cuda._driver import driver

# PyTorch's names, and the driver's numbers (CUdevice_attribute).
_ATTRIBUTES = {
    "max_threads_per_block": 1,
    "shared_memory_per_block": 8,
    "warp_size": 10,
    "clock_rate": 13,
    "multi_processor_count": 16,
    "is_integrated": 18,
    "pci_bus_id": 33,
    "pci_device_id": 34,
    "memory_clock_rate": 36,
    "memory_bus_width": 37,
    "L2_cache_size": 38,
    "max_threads_per_multi_processor": 39,
    "pci_domain_id": 50,
    "shared_memory_per_multiprocessor": 81,
    "regs_per_multiprocessor": 82,
    "is_multi_gpu_board": 84,
    "shared_memory_per_block_optin": 97,
}


class DeviceProperties:
    """`name`, `major`, `minor`, `total_memory` (bytes), `uuid`, `multi_processor_count`, `warp_size`, ...

    Memory and caches are in bytes, rates in kHz, the width of the bus in bits.
    """

    def __init__(self, index: int) -> None:
        self._index = index
        self.name = self.gcnArchName = _C._cuda_device_name(index)
        self.major, self.minor = _C._cuda_device_capability(index)
        self.total_memory = _C._cuda_total_memory(index)

    def __getattr__(self, name: str) -> int:
        if name not in _ATTRIBUTES:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        value = ctypes.c_int()
        driver().call("cuDeviceGetAttribute", ctypes.byref(value), _ATTRIBUTES[name], self._index)
        setattr(self, name, value.value)
        return value.value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_ATTRIBUTES]

    @property
    def uuid(self) -> UUID:
        """The device's number in the world, as nvidia-smi shows it behind "GPU-"."""
        number = (ctypes.c_ubyte * 16)()
        driver().call("cuDeviceGetUuid_v2", number, self._index)
        return UUID(bytes=bytes(number))

    def __repr__(self) -> str:
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count}, "
            f"uuid={self.uuid}, pci_bus_id={self.pci_bus_id}, pci_device_id={self.pci_device_id}, "
            f"pci_domain_id={self.pci_domain_id}, L2_cache_size={self.L2_cache_size // 2**20}MB)"
        )
