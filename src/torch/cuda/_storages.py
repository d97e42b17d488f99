"""`torch.cuda.FloatStorage` and its like: typed storages in the memory of a CUDA device."""

from __future__ import annotations

from functools import cache
from typing import Any

from torch.storage import STORAGE_CLASSES, TypedStorage


class _OnDevice(type):
    """Any storage of the dtype on a CUDA device is an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        on_device = isinstance(instance, TypedStorage) and instance.is_cuda
        return on_device and instance.dtype == cls.dtype  # type: ignore[attr-defined]


def _init(self: Any, data: Any = None, *, wrap_storage: Any = None, device: Any = None, **_: Any) -> None:
    TypedStorage.__init__(self, data, wrap_storage=wrap_storage, device="cuda" if device is None else device)


@cache
def storage_class(name: str) -> Any:
    """The class of that name, such as "FloatStorage"; None if there is none."""
    for kind in STORAGE_CLASSES:
        if kind.__name__ == name:
            facts = {
                "dtype": kind.dtype,
                "__init__": _init,
                "__module__": "torch.cuda",
                "__doc__": f"{kind.__doc__}, on a device",
            }
            return _OnDevice(name, (TypedStorage,), facts)
    return None
