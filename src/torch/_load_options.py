"""The settings of `torch.save` and `torch.load`, and what libraries add to them. `torch.serialization` shows them."""

from __future__ import annotations

import mmap
import os
import sys
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class LoadEndianness(Enum):
    """The byte order of files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class SourceChangeWarning(Warning):
    """That a class has changed since a module was saved."""


class _Options:
    endianness: LoadEndianness | None = None
    mmap_flags: int = getattr(mmap, "MAP_PRIVATE", 2)
    crc32: bool = True
    skip_data: bool = False


options = _Options()


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files that do not say theirs; None: this machine's."""
    return options.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Sets it."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    options.endianness = endianness


def get_default_mmap_options() -> int:
    """How `torch.load(mmap=True)` maps: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`."""
    return options.mmap_flags


class set_default_mmap_options:
    """Sets how `torch.load(mmap=True)` maps; in a `with` block, until its end. MAP_SHARED changes the file, too."""

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                f"mmap.MAP_SHARED, but got {flags}"
            )
        self._before, options.mmap_flags = options.mmap_flags, flags

    def __enter__(self) -> None:
        """The setting holds already."""

    def __exit__(self, *exception: object) -> None:
        options.mmap_flags = self._before


def get_crc32_options() -> bool:
    """Whether `torch.save` computes checksums."""
    return options.crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Accepted: checksums are always computed, and are cheap."""
    options.crc32 = compute_crc32


@contextmanager
def skip_data(materialize_fake_tensors: bool = False) -> Iterator[None]:
    """A block in which `torch.save` leaves room for the elements of tensors, and writes zeros there."""
    before, options.skip_data = options.skip_data, True
    try:
        yield
    finally:
        options.skip_data = before


def forced_weights_only(given: bool | None, default: bool) -> bool:
    """Whether to load weights only: as given, or as TORCH_FORCE_WEIGHTS_ONLY_LOAD and its opposite say."""
    yes = ("1", "y", "yes", "true")
    only = os.environ.get("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0") in yes
    everything = os.environ.get("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0") in yes
    if only and everything:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if only:
        return True
    if everything and given is None:
        return False
    return default if given is None else given


# ---------------------------------------------------------------------- where storages go

_packages: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = []


def register_package(
    priority: int, tagger: Callable[[Any], str | None], deserializer: Callable[[Any, str], Any]
) -> None:
    """Devices of a program's own: `tagger(storage)` names one, `deserializer(storage, name)` moves there; or None."""
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """What a file says of where a storage is: "cpu", "cuda:0", ..."""
    for _, tagger, _ in _packages:
        tag = tagger(storage)
        if tag:
            return tag
    return str(storage.device)


def default_restore_location(storage: Any, location: str) -> Any:
    """The storage at a location. RuntimeError if there is no such device."""
    for _, _, deserializer in _packages:
        moved = deserializer(storage, location)
        if moved is not None:
            return moved
    from torch import _utils
    from torch.storage import TypedStorage

    untyped = storage.untyped() if isinstance(storage, TypedStorage) else storage
    device = torch.device(location)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise RuntimeError(
            f"Attempting to deserialize object on a CUDA device ('{location}'), but it cannot be used here: "
            f"{torch.cuda.unavailable_reason()}. Use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        )
    return untyped if device.type == "cpu" else _utils.clone_storage(untyped, device)


def validate_cuda_device(location: str) -> int:
    """The number of a CUDA device. RuntimeError if there is none of it."""
    index = torch.device(location).index or 0
    if index >= torch.cuda.device_count():
        raise RuntimeError(f"Attempting to deserialize object on CUDA device {index}, of {torch.cuda.device_count()}")
    return index


def validate_hpu_device(location: str) -> int:
    """Raises RuntimeError: there are no devices of Habana here."""
    raise RuntimeError(
        "The HPU device module is not registered. If you are running on a CPU-only machine, please use torch.load with "
        "map_location=torch.device('cpu') to map your storages to the CPU."
    )


def normalize_storage_type(storage_type: type) -> type:
    """The class of storages, of whichever device, that files name."""
    return getattr(torch, storage_type.__name__)  # type: ignore[no-any-return]


def storage_to_tensor_type(storage: Any) -> type:
    """`torch.FloatTensor` of a `torch.FloatStorage`."""
    return getattr(torch, type(storage).__name__.replace("Storage", "Tensor"))  # type: ignore[no-any-return]


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Whether a module's `__version__` is at least a tuple."""
    from torch.torch_version import TorchVersion

    return TorchVersion(module.__version__) >= ".".join(map(str, req_version_tuple))


def byte_order() -> str:
    """That of files that do not say theirs: "little" or "big"."""
    order = options.endianness
    return sys.byteorder if order in (None, LoadEndianness.NATIVE) else order.name.lower()  # type: ignore[union-attr]
