"""`torch.save` and `torch.load`: PyTorch's `.pt` files, which real PyTorch reads and writes, too.

A file is a zip archive without compression: NAME/data.pkl (the object, with a persistent id in place of each storage),
NAME/data/0, 1, ... (the storages' bytes), NAME/byteorder and NAME/version.
"""

from __future__ import annotations

import io
import mmap as _mmap
import os
import pickle
import struct
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import torch
from torch import _legacy_format, _load_options, _utils
from torch._load_options import (
    LoadEndianness,
    SourceChangeWarning as SourceChangeWarning,
    check_module_version_greater_or_equal as check_module_version_greater_or_equal,
    default_restore_location,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    location_tag as location_tag,
    normalize_storage_type as normalize_storage_type,
    register_package,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
    storage_to_tensor_type as storage_to_tensor_type,
    validate_cuda_device as validate_cuda_device,
    validate_hpu_device as validate_hpu_device,
)
from torch._utils import _get_layout as _get_layout  # pickles name it here
from torch._weights_only_unpickler import (
    Unpickler as _WeightsOnlyUnpickler,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
    unsafe_globals,
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

StorageType: TypeAlias = Any
DEFAULT_PROTOCOL = 2

__all__ = [
    "LoadEndianness",
    "add_safe_globals",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]


@contextmanager
def mkdtemp() -> Iterator[str]:
    """A block with a folder of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield folder


_VERSION = b"3\n"
_ALIGNMENT = 64  # so that storages can be mapped into memory and read with vector instructions
_LOCAL_HEADER_SIZE = 30  # of a zip entry, without its name and extra field
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same object gives the same bytes
_UNTYPED = "torch.storage.UntypedStorage"


# ---------------------------------------------------------------------------------------------------- save


@cache
def _pickler_class(base: Any) -> Any:
    """A subclass of the pickler `base`, made once, which takes time."""

    class Pickler(base):  # type: ignore[misc]
        def persistent_id(self, value: Any) -> Any:
            if isinstance(value, TypedStorage):
                untyped, numel = value.untyped(), value.size()
                kind: type[object] = typed_storage_class(value.dtype)
            elif isinstance(value, torch.UntypedStorage):
                untyped, kind, numel = value, torch.UntypedStorage, value.nbytes()
            else:
                return None
            location = location_tag(untyped)
            # An empty storage has no address of its own; sharing one entry for all of a size is harmless.
            identity = (location, untyped.data_ptr(), untyped.nbytes())
            key = self.keys.setdefault(identity, str(len(self.keys)))
            self.storages[key] = untyped  # also keeps it alive, so that no other storage gets its address meanwhile
            self.itemsizes.setdefault(key, untyped.nbytes() // numel if numel else 1)
            return ("storage", kind, key, location, numel, *self.tail)

    return Pickler


def _pickler(base: Any, file: IO[bytes], protocol: int, tail: tuple[None, ...] = ()) -> Any:
    """A pickler of module `base` that pickles everything but storages, which it collects by key in `storages`.

    `tail` ends each storage's id.
    """
    pickler = _pickler_class(base.Pickler)(file, protocol=protocol)
    pickler.keys, pickler.storages, pickler.itemsizes, pickler.tail = {}, {}, {}, tail
    return pickler


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
    share it after loading, too. `pickle_module` is one whose `Pickler` calls `persistent_id`, as Python's and dill's
    do. Without `_use_new_zipfile_serialization` the file is in the format that PyTorch 1.5 and older read.
    """
    _check_pickle_module(pickle_module)
    write = _write if _use_new_zipfile_serialization else _write_legacy
    if not isinstance(f, (str, os.PathLike)):
        if not hasattr(f, "write"):
            raise AttributeError(
                "expected 'f' to be string, path, or a file-like object with a 'write' attribute, "
                f"not {type(f).__name__}"
            )
        write(obj, f, "archive", pickle_module, pickle_protocol)
        return
    path = Path(f)
    if not path.parent.is_dir():
        raise RuntimeError(f"Parent directory {path.parent} does not exist.")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            write(obj, file, path.stem or "archive", pickle_module, pickle_protocol)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _check_pickle_module(pickle_module: Any) -> None:
    for name in ("Pickler", "Unpickler"):
        if not hasattr(pickle_module, name):
            raise TypeError(f"pickle_module has no {name}: it is {pickle_module!r}")


def _write(obj: object, file: IO[bytes], name: str, base: Any, protocol: int) -> None:
    buffer = io.BytesIO()
    pickler = _pickler(base, buffer, protocol)
    pickler.dump(obj)
    archive = _Archive(file, name)
    archive.add("data.pkl", buffer.getvalue())
    archive.add("byteorder", sys.byteorder.encode())
    for key, storage in pickler.storages.items():
        if _load_options.options.skip_data:
            archive.add(f"data/{key}", bytes(storage.nbytes()))
            continue
        on_cpu = storage if storage.device.type == "cpu" else _utils.clone_storage(storage, "cpu")
        archive.add(f"data/{key}", memoryview(on_cpu) if on_cpu.nbytes() else b"")
    archive.add("version", _VERSION)
    archive.close()


def _write_legacy(obj: object, file: IO[bytes], name: str, base: Any, protocol: int) -> None:
    _legacy_format.write(obj, file, lambda stream: _pickler(base, stream, protocol, (None,)), protocol)


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

    Raises FileNotFoundError, RuntimeError for a file that is truncated or damaged, pickle.UnpicklingError for one that
    is no such file, or whose contents are malformed or not allowed.

    With `mmap` (a path only) the elements stay in the file, and come into memory where they are looked at; what is
    written to the tensors does not reach the file. Files of PyTorch 1.5 and older are read, too.
    """
    weights_only = _load_options.forced_weights_only(weights_only, pickle_module is None)
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    base: Any = pickle if pickle_module is None else pickle_module
    _check_pickle_module(base)
    if not set(pickle_load_args) <= {"encoding", "errors", "fix_imports"}:
        raise TypeError(f"torch.load() got unexpected arguments {sorted(pickle_load_args)}")
    pickle_load_args.setdefault("encoding", "utf-8")
    unpickler = partial(_full_unpickler, base, pickle_load_args)
    if isinstance(f, (str, os.PathLike)):
        with Path(f).open("rb") as file:
            return _load(file, str(f), map_location, unpickler, weights_only, bool(mmap))
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not all(hasattr(f, name) for name in ("read", "seek", "tell")):
        raise AttributeError(
            "torch.load needs a path or a binary file that can read, seek and tell; read a stream into io.BytesIO first"
        )
    return _load(f, getattr(f, "name", "<file>"), map_location, unpickler, weights_only, False)


def _load(
    file: IO[bytes],
    name: str,
    map_location: MapLocation,
    unpickler: Callable[..., Any],
    weights_only: bool,
    mapped: bool,
) -> Any:
    if weights_only:
        try:
            return _read_file(file, name, map_location, unpickler, weights_only, mapped)
        except pickle.UnpicklingError as error:
            raise pickle.UnpicklingError(f"Weights only load failed. {error}") from None
    return _read_file(file, name, map_location, unpickler, weights_only, mapped)


def _read_file(
    file: IO[bytes],
    name: str,
    map_location: MapLocation,
    unpickler: Callable[..., Any],
    weights_only: bool,
    mapped: bool,
) -> Any:
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    if not magic:
        raise EOFError(f"{name} is empty: nothing to load")
    if magic[:1] == b"\x80":
        if mapped:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`, "
                "please torch.save your checkpoint with this option in order to use mmap."
            )
        unpickle = _unpickle_weights if weights_only else partial(_legacy_format.unpickle_fully, unpickler=unpickler)
        return _legacy_format.Reader(file, name, partial(_place, map_location), unpickle).load()
    return _Reader(file, name, map_location, mapped).load(weights_only, unpickler)


def _unpickle_weights(data: memoryview, persistent_load: Callable[[Any], Any]) -> tuple[Any, int]:
    reader = _WeightsOnlyUnpickler(data, persistent_load)
    return reader.load(), reader.position


def get_unsafe_globals_in_checkpoint(f: PathOrFile) -> list[str]:
    """The names in a file that a load of weights only refuses, unless `add_safe_globals` lists them."""
    if isinstance(f, (str, os.PathLike)):
        with Path(f).open("rb") as file:
            return unsafe_globals(_Reader(file, str(f), None).pickled())
    return unsafe_globals(_Reader(f, "<file>", None).pickled())


def _place(target: Any, storage: UntypedStorage, location: str) -> UntypedStorage:
    """The storage where `map_location` wants it."""
    if callable(target) and not isinstance(target, torch.device):
        answer = target(TypedStorage(wrap_storage=storage, dtype=torch.uint8), location)
        if answer is not None:
            return answer.untyped() if isinstance(answer, TypedStorage) else answer
        target = location
    if isinstance(target, dict):
        target = target.get(location, location)
    device = location if target is None else str(target)
    if device == "meta":
        return torch.UntypedStorage(storage.nbytes(), device=device)
    return default_restore_location(storage, device)  # type: ignore[no-any-return]


@cache
def _unpickler_class(base: Any) -> Any:
    """A subclass of the unpickler `base`, made once, which takes time."""

    class Unpickler(base):  # type: ignore[misc]
        def find_class(self, module: str, name: str) -> Any:
            # Where PyTorch keeps what our files name elsewhere.
            if module == "torch._tensor" and name == "_rebuild_from_type_v2":
                module = "torch._utils"
            return super().find_class(module, name)

    return Unpickler


def _full_unpickler(base: Any, arguments: Any, file: IO[bytes], persistent_load: Callable[[Any], Any]) -> Any:
    """An unpickler of module `base`, for weights_only=False."""
    unpickler = _unpickler_class(base.Unpickler)(file, **arguments)
    unpickler.persistent_load = persistent_load
    return unpickler


# What zipfile raises for a file that was cut or overwritten: it seeks and unpacks wherever the bytes tell it to.
_DAMAGE = (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError, OverflowError, struct.error)


class _Reader:
    def __init__(self, file: IO[bytes], name: str, map_location: MapLocation, mapped: bool = False) -> None:
        self._name = name
        self._map_location = map_location
        self._storages: dict[str, UntypedStorage] = {}
        self._file = file
        start = file.tell()
        magic = file.read(4)
        file.seek(start)
        if magic != b"PK\x03\x04":
            raise pickle.UnpicklingError(
                f"{name} is not a file of torch.save: it starts with {magic!r}, not a zip archive"
            )
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise RuntimeError(
                f"{name}: the zip archive is damaged or truncated; copy or download the file again"
            ) from error
        self._prefix = self._find_prefix()
        order = (
            self._text("byteorder")
            if f"{self._prefix}byteorder" in self._zip.NameToInfo
            else _load_options.byte_order()
        )
        if order not in ("little", "big"):
            raise RuntimeError(f"{name}: unknown byte order {order!r}")
        if order != sys.byteorder:
            raise NotImplementedError(f"{name} was written on a {order}-endian machine, which is not supported")
        self._map: _mmap.mmap | None = None
        if mapped:
            shared = _load_options.options.mmap_flags == getattr(_mmap, "MAP_SHARED", None)
            access = _mmap.ACCESS_WRITE if shared else _mmap.ACCESS_COPY
            if shared:
                with Path(name).open("r+b") as writable:
                    self._map = _mmap.mmap(writable.fileno(), 0, access=access)
            else:
                self._map = _mmap.mmap(file.fileno(), 0, access=access)

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
        if nbytes and self._map is not None:
            start = self._data_offset(f"data/{key}")
            storage = torch.frombuffer(
                memoryview(self._map)[start : start + nbytes], dtype=torch.uint8
            ).untyped_storage()
        else:
            storage = torch.UntypedStorage(nbytes)
            if nbytes:
                self._read_into(f"data/{key}", memoryview(storage).cast("B"))
        return _place(self._map_location, storage, location)

    def _data_offset(self, name: str) -> int:
        """Where a record's bytes begin in the file: behind its name and what else stands before them."""
        info = self._info(name)
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER_SIZE)
        start = info.header_offset + _LOCAL_HEADER_SIZE + sum(struct.unpack("<HH", header[26:30]))
        if header[:4] != b"PK\x03\x04" or start + info.file_size > self._zip.start_dir:
            raise RuntimeError(f"{self._name}: the file is damaged; copy or download it again")
        return start

    def pickled(self) -> bytes:
        """The object's pickle."""
        return self._read("data.pkl")

    def load(self, weights_only: bool, unpickler: Callable[..., Any]) -> Any:
        data = self.pickled()
        if weights_only:
            return _WeightsOnlyUnpickler(data, self._persistent_load).load()
        return unpickler(io.BytesIO(data), self._persistent_load).load()
