"""`torch.save` and `torch.load`: PyTorch's `.pt` files, which real PyTorch reads and writes, too.

A file is a zip archive without compression: NAME/data.pkl (the object, with a persistent id in place of each storage),
NAME/data/0, 1, ... (the storages' bytes), NAME/byteorder and NAME/version.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TypeAlias

import torch
from torch import _utils
from torch._weights_only_unpickler import (
    Unpickler as _WeightsOnlyUnpickler,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
)
from torch.storage import STORAGE_CLASSES, TypedStorage, typed_storage_class

if TYPE_CHECKING:
    from types import ModuleType

    from torch import UntypedStorage

    PathOrFile = str | os.PathLike[str] | IO[bytes]

# For annotations of programs.
FILE_LIKE: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
MAP_LOCATION: TypeAlias = "Callable[[UntypedStorage, str], UntypedStorage] | torch.device | str | dict[str, str] | None"
MapLocation: TypeAlias = Callable[[Any, str], Any] | torch.device | str | dict[str, str] | None

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "save"]

_VERSION = b"3\n"
_ALIGNMENT = 64  # so that storages can be mapped into memory and read with vector instructions
_LOCAL_HEADER_SIZE = 30  # of a zip entry, without its name and extra field
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same object gives the same bytes
_UNTYPED = "torch.storage.UntypedStorage"


# ---------------------------------------------------------------------------------------------------- save


class _Pickler(pickle.Pickler):
    """Pickles everything but storages, which it collects in `storages`: key -> storage."""

    def __init__(self, file: BinaryIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.storages: dict[str, UntypedStorage] = {}
        self._keys: dict[tuple[str, int, int], str] = {}
        self._dtypes: dict[str, torch.dtype] = {}

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, TypedStorage):
            untyped, numel = value.untyped(), value.size()
            kind: type[object] = type(value)
        elif isinstance(value, torch.UntypedStorage):
            untyped, kind, numel = value, torch.UntypedStorage, value.nbytes()
        else:
            return None
        location = str(untyped.device)
        # An empty storage has no address of its own; sharing one entry for all of a size is harmless.
        identity = (location, untyped.data_ptr(), untyped.nbytes())
        key = self._keys.setdefault(identity, str(len(self._keys)))
        self.storages[key] = untyped  # also keeps it alive, so that no other storage gets its address meanwhile
        return ("storage", kind, key, location, numel)


class _Archive:
    """Writes an uncompressed zip whose entries start at multiples of 64 bytes."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._file = file
        self._name = name

    def add(self, name: str, data: bytes | memoryview) -> None:
        info = zipfile.ZipInfo(f"{self._name}/{name}", date_time=_FIXED_DATE)
        info.file_size = len(data)
        zip64 = 20 if len(data) > zipfile.ZIP64_LIMIT else 0
        start = self._zip.start_dir + _LOCAL_HEADER_SIZE + len(info.filename.encode()) + zip64 + 4
        padding = -start % _ALIGNMENT
        info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
        with self._zip.open(info, "w", force_zip64=bool(zip64)) as entry:
            entry.write(data)

    def close(self) -> None:
        self._zip.close()


def save(
    obj: object,
    f: PathOrFile,
    pickle_module: ModuleType = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Writes `obj` to a path or a binary file.

    A path is written beside and renamed at the end, so that it never holds half a file. Tensors that share memory
    share it after loading, too. Raises NotImplementedError for the format that PyTorch 1.5 and older wrote.
    """
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("torch.save writes zip files only; PyTorch 1.6 and newer read them")
    if pickle_module is not pickle:
        raise NotImplementedError("torch.save(pickle_module=...) is not supported: storages need Python's pickle")
    if not isinstance(f, (str, os.PathLike)):
        if not hasattr(f, "write"):
            raise AttributeError(
                "expected 'f' to be string, path, or a file-like object with a 'write' attribute, "
                f"not {type(f).__name__}"
            )
        _write(obj, f, "archive", pickle_protocol)
        return
    path = Path(f)
    if not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {path.parent} does not exist.")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            _write(obj, file, path.stem or "archive", pickle_protocol)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _write(obj: object, file: IO[bytes], name: str, protocol: int) -> None:
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, protocol)
    pickler.dump(obj)
    archive = _Archive(file, name)
    archive.add("data.pkl", buffer.getvalue())
    archive.add("byteorder", sys.byteorder.encode())
    for key, storage in pickler.storages.items():
        on_cpu = storage if storage.device.type == "cpu" else _utils.clone_storage(storage, "cpu")
        archive.add(f"data/{key}", memoryview(on_cpu) if on_cpu.nbytes() else b"")
    archive.add("version", _VERSION)
    archive.close()


# ---------------------------------------------------------------------------------------------------- load


def load(
    f: PathOrFile,
    map_location: MapLocation = None,
    pickle_module: ModuleType | None = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """The object that `torch.save` wrote to a path or a seekable binary file.

    `map_location` moves tensors: a device, a mapping of locations ("cuda:0" to "cpu"), or a function of (storage,
    location). `weights_only` (default True) reads tensors, containers and numbers and never runs code of the file;
    with False the file can run any code: only for files whose author you trust.

    Raises FileNotFoundError, RuntimeError for a file that is truncated or no such archive, pickle.UnpicklingError for
    contents that are malformed or not allowed, NotImplementedError for files of PyTorch 1.5 and older.
    """
    weights_only = pickle_module is None if weights_only is None else weights_only
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if mmap:
        raise NotImplementedError("torch.load(mmap=True) is not supported: load without it")
    if pickle_module not in (None, pickle):
        raise NotImplementedError("torch.load(pickle_module=...) is not supported: storages need Python's pickle")
    encoding = pickle_load_args.pop("encoding", "utf-8")
    if pickle_load_args:
        raise TypeError(f"torch.load() got unexpected arguments {sorted(pickle_load_args)}")
    if isinstance(f, (str, os.PathLike)):
        with Path(f).open("rb") as file:
            return _Reader(file, str(f), map_location).load(weights_only, encoding)
    if not all(hasattr(f, name) for name in ("read", "seek", "tell")):
        raise AttributeError(
            "torch.load needs a path or a binary file that can read, seek and tell; read a stream into io.BytesIO first"
        )
    return _Reader(f, getattr(f, "name", "<file>"), map_location).load(weights_only, encoding)


class _FullUnpickler(pickle.Unpickler):
    """Python's own unpickler, for weights_only=False."""

    def __init__(self, file: IO[bytes], persistent_load: Callable[[Any], Any], encoding: str) -> None:
        super().__init__(file, encoding=encoding)
        self.persistent_load = persistent_load  # type: ignore[method-assign]

    def find_class(self, module: str, name: str) -> Any:
        # Where PyTorch keeps what our files name elsewhere.
        if module == "torch._tensor" and name == "_rebuild_from_type_v2":
            module = "torch._utils"
        return super().find_class(module, name)


# What zipfile raises for a file that was cut or overwritten: it seeks and unpacks wherever the bytes tell it to.
_DAMAGE = (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, OverflowError, struct.error)


class _Reader:
    def __init__(self, file: IO[bytes], name: str, map_location: MapLocation) -> None:
        self._name = name
        self._map_location = map_location
        self._storages: dict[str, UntypedStorage] = {}
        start = file.tell()
        magic = file.read(4)
        file.seek(start)
        if not magic:
            raise EOFError(f"{name} is empty: nothing to load")
        if magic != b"PK\x03\x04":
            if magic[:1] == b"\x80":
                raise NotImplementedError(
                    f"{name} is a plain pickle: load it with Python's pickle, or, if PyTorch 1.5 or older wrote it, "
                    "load and save it once with PyTorch 1.6 or newer"
                )
            raise RuntimeError(f"{name} is not a file of torch.save: it starts with {magic!r}, not a zip archive")
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise RuntimeError(
                f"{name}: the zip archive is damaged or truncated; copy or download the file again"
            ) from error
        self._prefix = self._find_prefix()
        order = self._text("byteorder") if f"{self._prefix}byteorder" in self._zip.NameToInfo else sys.byteorder
        if order not in ("little", "big"):
            raise RuntimeError(f"{name}: unknown byte order {order!r}")
        if order != sys.byteorder:
            raise NotImplementedError(f"{name} was written on a {order}-endian machine, which is not supported")

    def _find_prefix(self) -> str:
        names = [name for name in self._zip.namelist() if name.endswith("data.pkl") and name.count("/") == 1]
        if len(names) != 1:
            if any(name.endswith("constants.pkl") for name in self._zip.namelist()):
                raise NotImplementedError(f"{self._name} is a TorchScript archive, which is not supported")
            raise RuntimeError(f"{self._name} is a zip archive, but not of torch.save: it has no NAME/data.pkl")
        return names[0][: -len("data.pkl")]

    def _info(self, name: str) -> zipfile.ZipInfo:
        try:
            info = self._zip.getinfo(self._prefix + name)
        except KeyError:
            raise RuntimeError(f"{self._name}: the record {self._prefix}{name} is missing") from None
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise RuntimeError(f"{self._name}: the record {info.filename} is compressed; torch.save never compresses")
        return info

    def _text(self, name: str) -> str:
        return self._read(name).decode("ascii", "replace").strip()

    def _read(self, name: str) -> bytes:
        buffer = bytearray(self._checked_size(name))
        self._read_into(name, memoryview(buffer))
        return bytes(buffer)

    def _checked_size(self, name: str) -> int:
        """The record's size, which must not reach behind the archive's directory."""
        info = self._info(name)
        if info.header_offset + info.file_size > self._zip.start_dir:
            raise RuntimeError(
                f"{self._name}: the record {info.filename} claims {info.file_size} bytes, more than there are"
            )
        return info.file_size

    def _read_into(self, name: str, target: memoryview) -> None:
        try:
            with self._zip.open(self._info(name)) as record:
                done = 0
                while done < len(target):
                    count = record.readinto(target[done : done + (1 << 24)])  # type: ignore[attr-defined]
                    if not count:
                        raise RuntimeError(f"{self._name}: the record {self._prefix}{name} ends after {done} bytes")
                    done += count
                record.read(1)  # the end: checks the record's checksum
        except _DAMAGE as error:
            raise RuntimeError(f"{self._name}: the file is damaged; copy or download it again") from error

    # ------------------------------------------------------------------ storages

    def _persistent_load(self, identity: Any) -> Any:
        if not isinstance(identity, tuple) or len(identity) != 5 or identity[0] != "storage":
            raise pickle.UnpicklingError(f"{self._name}: unknown persistent id {identity!r}")
        _, kind, key, location, numel = identity
        known = kind is torch.UntypedStorage or kind in STORAGE_CLASSES
        if not (known and isinstance(key, str) and isinstance(location, str) and type(numel) is int):
            raise pickle.UnpicklingError(f"{self._name}: malformed persistent id {identity!r}")
        itemsize = 1 if kind is torch.UntypedStorage else kind.dtype.itemsize
        if key not in self._storages:
            self._storages[key] = self._load_storage(key, location)
        storage = self._storages[key]
        if numel * itemsize != storage.nbytes():
            # Entries shared by storages of several dtypes have one size in bytes.
            raise RuntimeError(
                f"{self._name}: storage {key} should have {numel} elements of {itemsize} bytes, "
                f"but its record has {storage.nbytes()} bytes"
            )
        return storage if kind is torch.UntypedStorage else typed_storage_class(kind.dtype)(wrap_storage=storage)

    def _load_storage(self, key: str, location: str) -> UntypedStorage:
        if not key.isalnum():
            raise pickle.UnpicklingError(f"{self._name}: malformed storage key {key!r}")
        nbytes = self._checked_size(f"data/{key}")
        storage = torch.UntypedStorage(nbytes)
        if nbytes:
            self._read_into(f"data/{key}", memoryview(storage).cast("B"))
        return self._place(storage, location)

    def _place(self, storage: UntypedStorage, location: str) -> UntypedStorage:
        target: Any = self._map_location
        if callable(target) and not isinstance(target, torch.device):
            answer = target(TypedStorage(wrap_storage=storage, dtype=torch.uint8), location)
            if answer is not None:
                return answer.untyped() if isinstance(answer, TypedStorage) else answer
            target = location
        if isinstance(target, dict):
            target = target.get(location, location)
        device = torch.device(location if target is None else target)
        if device.type == "cpu":
            return storage
        if device.type == "meta":
            raise NotImplementedError("torch.load(map_location='meta') is not supported")
        if device.type == "cuda" and not torch.cuda.is_available():
            raise RuntimeError(
                f"Attempting to deserialize object on a CUDA device ('{location}'), but it cannot be used here: "
                f"{torch.cuda.unavailable_reason()}. Use torch.load with map_location=torch.device('cpu') to map your "
                "storages to the CPU."
            )
        return _utils.clone_storage(storage, device)

    def load(self, weights_only: bool, encoding: str) -> Any:
        data = self._read("data.pkl")
        if weights_only:
            return _WeightsOnlyUnpickler(data, self._persistent_load).load()
        return _FullUnpickler(io.BytesIO(data), self._persistent_load, encoding).load()
