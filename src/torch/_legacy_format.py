"""The files that PyTorch wrote before 1.6, and writes with `_use_new_zipfile_serialization=False`.

One pickle after the other: a magic number, the format's version, facts about the machine, the object, and the keys of
its storages; then, for each key, how many elements it has (8 bytes) and their bytes.
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
from typing import IO, TYPE_CHECKING, Any

import torch
from torch import _utils
from torch.storage import STORAGE_CLASSES, typed_storage_class

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import UntypedStorage

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_SYSTEM = {
    "protocol_version": PROTOCOL_VERSION,
    "little_endian": sys.byteorder == "little",
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}


def write(obj: object, file: IO[bytes], pickler_of: Callable[[IO[bytes]], Any], protocol: int) -> None:
    """Writes `obj`; `pickler_of(file)` is a pickler that collects storages, and gives ids of six entries for them."""
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, _SYSTEM):
        pickle.dump(head, file, protocol)
    pickler = pickler_of(file)
    pickler.dump(obj)
    keys = sorted(pickler.storages)
    pickle.dump(keys, file, protocol)
    for key in keys:
        storage = pickler.storages[key]
        on_cpu = storage if storage.device.type == "cpu" else _utils.clone_storage(storage, "cpu")
        file.write(struct.pack("<q", storage.nbytes() // pickler.itemsizes[key]))
        if on_cpu.nbytes():
            file.write(memoryview(on_cpu))


class Reader:
    """Reads such a file; `unpickle(data, persistent_load)` gives an object and how many bytes its pickle has."""

    def __init__(
        self,
        file: IO[bytes],
        name: str,
        place: Callable[[UntypedStorage, str], UntypedStorage],
        unpickle: Callable[[memoryview, Callable[[Any], Any]], tuple[Any, int]],
    ) -> None:
        self._name, self._place, self._unpickle = name, place, unpickle
        self._data = memoryview(file.read())
        self._storages: dict[str, tuple[UntypedStorage, int]] = {}

    def _next(self) -> Any:
        value, length = self._unpickle(self._data, self._persistent_load)
        self._data = self._data[length:]
        return value

    def load(self) -> Any:
        """The object. RuntimeError or UnpicklingError for a file that is damaged, or none of PyTorch's."""
        if self._next() != MAGIC_NUMBER:
            raise RuntimeError(f"{self._name} is a pickle, but not of torch.save: Invalid magic number; corrupt file?")
        version = self._next()
        if version != PROTOCOL_VERSION:
            raise RuntimeError(f"Invalid protocol version: {version}")
        if self._next().get("little_endian", True) != (sys.byteorder == "little"):
            raise NotImplementedError(f"{self._name} was written on a machine of the other byte order")
        answer = self._next()
        for key in self._next():
            if key not in self._storages:
                raise RuntimeError(f"{self._name}: nothing refers to the storage {key!r}; the file is damaged")
            self._fill(key, *self._storages[key])
        return answer

    def _fill(self, key: str, storage: UntypedStorage, itemsize: int) -> None:
        nbytes = storage.nbytes()
        if len(self._data) < 8 + nbytes:
            raise RuntimeError(f"{self._name}: unexpected EOF in the storage {key}; the file might be corrupted")
        count = struct.unpack("<q", self._data[:8])[0]
        if count * itemsize != nbytes:
            raise RuntimeError(f"{self._name}: the storage {key} has {count} elements, not {nbytes // itemsize}")
        if nbytes:
            data = torch.frombuffer(bytearray(self._data[8 : 8 + nbytes]), dtype=torch.uint8)
            _utils.storage_bytes(storage).copy_(data)
        self._data = self._data[8 + nbytes :]

    def _persistent_load(self, identity: Any) -> Any:
        if isinstance(identity, tuple) and len(identity) == 4 and identity[0] == "module":
            return identity[1]  # a class of modules, with the source that it had
        if not isinstance(identity, tuple) or len(identity) not in (5, 6) or identity[0] != "storage":
            raise pickle.UnpicklingError(f"{self._name}: unknown persistent id {identity!r}")
        _, kind, key, location, numel = identity[:5]
        if len(identity) == 6 and identity[5] is not None:
            raise NotImplementedError(f"{self._name} holds views of storages, as PyTorch before 0.4 wrote them")
        known = kind is torch.UntypedStorage or kind in STORAGE_CLASSES
        if not (known and isinstance(location, str) and type(numel) is int and numel >= 0):
            raise pickle.UnpicklingError(f"{self._name}: malformed persistent id {identity!r}")
        itemsize = 1 if kind is torch.UntypedStorage else kind.dtype.itemsize
        if key not in self._storages:
            if numel * itemsize > len(self._data):
                raise RuntimeError(f"{self._name}: the storage {key!r} claims {numel} elements, more than there are")
            self._storages[key] = self._place(torch.UntypedStorage(numel * itemsize), location), itemsize
        storage = self._storages[key][0]
        return storage if kind is torch.UntypedStorage else typed_storage_class(kind.dtype)(wrap_storage=storage)


def unpickle_fully(
    data: memoryview, persistent_load: Callable[[Any], Any], unpickler: Callable[..., Any]
) -> tuple[Any, int]:
    """Python's own reader, for weights_only=False."""
    stream = io.BytesIO(data)
    try:
        return unpickler(stream, persistent_load).load(), stream.tell()
    except (EOFError, IndexError, struct.error) as error:
        raise RuntimeError("the pickle is truncated: unexpected EOF; the file might be corrupted") from error
