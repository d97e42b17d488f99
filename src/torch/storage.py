"""Storages that know their dtype, as `torch.save` files name them (`torch.FloatStorage`, ...)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterator, Sequence


class UntypedStorage(_C.StorageBase):
    """Bytes that tensors share; on the CPU also a buffer.

    `UntypedStorage(8)` has eight bytes (not set), `UntypedStorage([1, 2])` these. Two are equal if they are the same
    memory.
    """

    __slots__ = ()
    is_sparse = is_sparse_csr = is_hpu = False

    def __repr__(self) -> str:
        values = "..." if self.device.type == "meta" else "".join(f" {value}\n" for value in self.tolist())
        return f"{values}[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        key = ("storage", self.data_ptr(), str(self.device))  # as tensors on it have it
        if not key[1] or key not in memo:
            memo[key] = self.clone()
        copied: UntypedStorage = memo[key]
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _saved(self)

    @property
    def is_cuda(self) -> builtins.bool:
        return self.device.type == "cuda"

    def get_device(self) -> builtins.int:
        """The device's index; -1 on the CPU."""
        return -1 if self.device.index is None else self.device.index

    def is_shared(self) -> builtins.bool:
        """Whether other processes can see the memory."""
        return self.is_cuda or _C._is_shared(self)

    def share_memory_(self) -> UntypedStorage:
        """Moves the bytes to where other processes can see them; returns itself."""
        if not self.is_cuda:
            _C._share_memory(self)
        return self

    def is_pinned(self, device: torch.device | str = "cuda") -> builtins.bool:
        """Whether it is in memory that CUDA devices read directly."""
        return _bytes(self).is_pinned()

    def pin_memory(self, device: torch.device | str = "cuda") -> UntypedStorage:
        """Itself if it is pinned, else a copy in memory that CUDA devices read directly."""
        return _bytes(self).pin_memory().untyped_storage()

    def new(self) -> UntypedStorage:
        """An empty one on the same device."""
        return UntypedStorage(0, device=self.device)

    def cuda(self, device: Any = None, non_blocking: builtins.bool = False) -> UntypedStorage:
        """Itself on a CUDA device, else a copy there."""
        return self.to(device=torch.device("cuda") if device is None else device)

    def to(self, *, device: Any, non_blocking: builtins.bool = False) -> UntypedStorage:
        """Itself if it is on `device`, else a copy there."""
        return _bytes(self).to(device, non_blocking=non_blocking).untyped_storage()

    def type(self, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
        """Its class's name; or the bytes converted to the elements of a storage class."""
        return "torch.storage.UntypedStorage" if dtype is None else _typed_bytes(self).type(dtype)

    def byteswap(self, dtype: torch.dtype) -> None:
        """Turns the bytes of every element round; complex numbers part by part."""
        size = dtype.itemsize // (2 if dtype.is_complex else 1)
        if self.nbytes() % dtype.itemsize:
            raise RuntimeError(f"The length of byte array is not a multiple of {dtype.itemsize}")
        elements = _bytes(self).view(-1, size)
        elements.copy_(elements.flip(1))

    @classmethod
    def from_buffer(
        cls,
        buffer: Any,
        byte_order: str | None = None,
        count: builtins.int = -1,
        offset: builtins.int = 0,
        dtype: torch.dtype | None = None,
    ) -> UntypedStorage:
        """A copy of `count` elements (-1: all) of a bytes-like object, from byte `offset` on, in this machine's order.

        `byte_order` is theirs: "little", "big" or "native"; elements of one byte need none. ValueError if the bytes are
        no whole number of elements, or fewer than `count`.
        """
        if dtype is None:
            raise RuntimeError("from_buffer: argument 'dtype' cannot be None: name the elements' dtype")
        if byte_order is None and dtype.itemsize > 1:
            raise RuntimeError("from_buffer: elements of several bytes need the argument 'byte_order'")
        if byte_order not in (None, "little", "big", "native"):
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        data = memoryview(buffer).cast("B")
        if not 0 <= offset <= len(data):
            raise ValueError(
                f"offset must be non-negative and no greater than buffer length ({len(data)}), but got {offset}"
            )
        room, rest = divmod(len(data) - offset, dtype.itemsize)
        if count < 0 and rest:
            raise ValueError(
                f"buffer size ({len(data) - offset}) must be a multiple of element size ({dtype.itemsize})"
            )
        if count > room:
            raise ValueError(f"buffer has only {room} elements after offset {offset}, but specified a size of {count}")
        made = cls((room if count < 0 else count) * dtype.itemsize)
        if made.nbytes():
            _bytes(made).copy_(torch.frombuffer(bytearray(data[offset : offset + made.nbytes()]), dtype=torch.uint8))
        if byte_order not in (None, "native", sys.byteorder):
            made.byteswap(dtype)
        return made

    def __getattr__(self, name: str) -> Any:
        # float(), long(), ...: every byte as such an element.
        if name in _CONVERSIONS:
            return getattr(_typed_bytes(self), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_CONVERSIONS = frozenset(
    "float double half bfloat16 long int short char byte bool complex_float complex_double".split()  # noqa: SIM905
)


def _bytes(storage: UntypedStorage) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, 0, (storage.nbytes(),), (1,))


def _typed_bytes(storage: UntypedStorage) -> TypedStorage:
    return TypedStorage(wrap_storage=storage, dtype=torch.uint8)


def _saved(storage: UntypedStorage | TypedStorage) -> tuple[Any, ...]:
    """Plain pickle: the bytes of a small torch.save file, in the older and shorter format, as PyTorch does it."""
    import io

    buffer = io.BytesIO()
    torch.save(storage, buffer, _use_new_zipfile_serialization=False)
    return _load_from_bytes, (buffer.getvalue(),)


class TypedStorage:
    """Memory with a dtype: a list of numbers that tensors share.

    `TypedStorage(5, dtype=torch.int32)` has five elements (not set), `TypedStorage([1, 2, 3])` these;
    `wrap_storage=` takes memory that is there. `torch.FloatStorage` and its like know their dtype.
    """

    dtype: torch.dtype

    def __init__(
        self,
        data: builtins.int | Sequence[Any] | None = None,
        *,
        wrap_storage: UntypedStorage | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
        _internal: builtins.bool = False,  # PyTorch: no warning that the class is old
    ) -> None:
        if dtype is not None:
            self.dtype = dtype
        elif not hasattr(type(self), "dtype"):
            self.dtype = torch.get_default_dtype()
        if wrap_storage is None:
            made = torch._C._legacy_tensor(self.dtype, *(() if data is None else (data,)), device=device)
            wrap_storage = made.untyped_storage()
        elif data is not None:
            raise RuntimeError("TypedStorage: got both data and 'wrap_storage'")
        self._untyped_storage = wrap_storage

    @classmethod
    def from_buffer(cls, *args: Any, **kwargs: Any) -> TypedStorage:
        """The same as `UntypedStorage.from_buffer`, with this class' dtype."""
        return cls._from_buffer(*args, **kwargs)

    @classmethod
    def _from_buffer(cls, *args: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> TypedStorage:
        dtype = getattr(cls, "dtype", dtype)
        return cls(wrap_storage=UntypedStorage.from_buffer(*args, dtype=dtype, **kwargs), dtype=dtype)

    @property
    def device(self) -> torch.device:
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> builtins.bool:
        return self.device.type == "cuda"

    def untyped(self) -> UntypedStorage:
        return self._untyped_storage

    def nbytes(self) -> builtins.int:
        return self._untyped_storage.nbytes()

    def __eq__(self, other: object) -> builtins.bool:
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self.dtype == other.dtype and self._untyped_storage == other._untyped_storage

    def __hash__(self) -> builtins.int:
        return hash(self._untyped_storage)

    @property
    def _cdata(self) -> builtins.int:
        return self._untyped_storage._cdata

    def get_device(self) -> builtins.int:
        """The device's index; -1 on the CPU."""
        return self._untyped_storage.get_device()

    def pickle_storage_type(self) -> str:
        """The name of its class in files, "FloatStorage"."""
        return _CLASS_OF[self.dtype].__name__

    def share_memory_(self) -> TypedStorage:
        """Moves the elements to where other processes can see them; returns itself."""
        self._untyped_storage.share_memory_()
        return self

    def element_size(self) -> builtins.int:
        return self.dtype.itemsize

    def data_ptr(self) -> builtins.int:
        return self._untyped_storage.data_ptr()

    def size(self) -> builtins.int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    _size = size

    def __len__(self) -> builtins.int:
        return self.size()

    def is_shared(self) -> builtins.bool:
        return self._as_tensor().is_shared()

    def is_pinned(self, device: torch.device | str = "cuda") -> builtins.bool:
        return self._untyped_storage.is_pinned(device)

    def pin_memory(self, device: torch.device | str = "cuda") -> TypedStorage:
        return TypedStorage(wrap_storage=self._untyped_storage.pin_memory(device), dtype=self.dtype)

    def _as_tensor(self) -> torch.Tensor:
        tensor = torch.empty(0, dtype=self.dtype, device=self.device)
        return tensor.set_(self._untyped_storage, 0, (self.size(),), (1,))

    def tolist(self) -> list[Any]:
        values: list[Any] = self._as_tensor().tolist()
        return values

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._as_tensor()[index].item()

    def __setitem__(self, index: Any, value: Any) -> None:
        self._as_tensor()[index] = value

    def fill_(self, value: Any) -> TypedStorage:
        """Sets every element; returns itself."""
        self._as_tensor().fill_(value)
        return self

    def copy_(self, source: TypedStorage, non_blocking: builtins.bool = False) -> TypedStorage:
        """Copies another storage's elements, converted; returns itself."""
        self._as_tensor().copy_(source._as_tensor(), non_blocking)
        return self

    def resize_(self, size: builtins.int) -> TypedStorage:
        """Gives it so many elements, the first ones kept; returns itself."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def resizable(self) -> builtins.bool:
        """Whether `resize_` may be called."""
        return self._untyped_storage.resizable()

    def clone(self) -> TypedStorage:
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def cpu(self) -> TypedStorage:
        return TypedStorage(wrap_storage=self._untyped_storage.cpu(), dtype=self.dtype)

    def to_dtype(self, dtype: torch.dtype) -> TypedStorage:
        """The elements converted, in memory of their own."""
        return self._as_tensor().to(dtype, copy=True).storage()

    def type(self, dtype: Any = None) -> Any:
        """Its class's name, "torch.FloatStorage"; or the elements converted to those of a class, or of its name."""
        if dtype is None:
            return f"torch.{_CLASS_OF[self.dtype].__name__}"
        wanted: dict[Any, builtins.type[TypedStorage]] = {
            **{kind.dtype: kind for kind in STORAGE_CLASSES},
            **{f"torch.{kind.__name__}": kind for kind in STORAGE_CLASSES},
        }
        return self.to_dtype(wanted.get(dtype, dtype).dtype)

    def float(self) -> TypedStorage:
        return self.to_dtype(torch.float32)

    def double(self) -> TypedStorage:
        return self.to_dtype(torch.float64)

    def half(self) -> TypedStorage:
        return self.to_dtype(torch.float16)

    def bfloat16(self) -> TypedStorage:
        return self.to_dtype(torch.bfloat16)

    def long(self) -> TypedStorage:
        return self.to_dtype(torch.int64)

    def int(self) -> TypedStorage:
        return self.to_dtype(torch.int32)

    def short(self) -> TypedStorage:
        return self.to_dtype(torch.int16)

    def char(self) -> TypedStorage:
        return self.to_dtype(torch.int8)

    def byte(self) -> TypedStorage:
        return self.to_dtype(torch.uint8)

    def bool(self) -> TypedStorage:
        return self.to_dtype(torch.bool)

    def complex_float(self) -> TypedStorage:
        return self.to_dtype(torch.complex64)

    def complex_double(self) -> TypedStorage:
        return self.to_dtype(torch.complex128)

    def __repr__(self) -> str:
        values = "".join(f" {value}\n" for value in self.tolist())
        return f"{values}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {self.size()}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return _saved(self)


class _LegacyStorage(type):
    """The type of `torch.FloatStorage`: any storage of its dtype is its instance."""

    dtype: torch.dtype

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype


def _make_storage_class(dtype: torch.dtype) -> type[TypedStorage]:
    """`torch.FloatStorage`, as files name it, for torch.float32."""
    facts = {"dtype": dtype, "__module__": "torch", "__doc__": f"A `TypedStorage` of {dtype} elements."}
    return _LegacyStorage(f"{dtype._type_name}Storage", (TypedStorage,), facts)


_CLASS_OF = {
    dtype: _make_storage_class(dtype) for dtype in vars(torch._C._dtypes).values() if isinstance(dtype, torch.dtype)
}
STORAGE_CLASSES: tuple[type[TypedStorage], ...] = tuple(_CLASS_OF.values())
globals().update({storage_class.__name__: storage_class for storage_class in STORAGE_CLASSES})
Storage = _CLASS_OF[torch.float32]


def typed_storage_class(dtype: torch.dtype) -> type[TypedStorage]:
    """The class for storages of `dtype`, for example FloatStorage for torch.float32."""
    return _CLASS_OF[dtype]


def _load_from_bytes(data: bytes) -> Any:
    import io

    return torch.load(io.BytesIO(data), weights_only=False)


def _map_file(filename: str, shared: bool = False, nbytes: int = 0) -> torch.UntypedStorage:
    """`UntypedStorage.from_file`: the first bytes (0: all) of a file; what is written reaches it only if `shared`."""
    import mmap

    path = Path(filename)
    if shared and (not path.exists() or path.stat().st_size < nbytes):
        with path.open("ab") as file:
            file.truncate(nbytes)
    with path.open("r+b" if shared else "rb") as file:
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        memory = mmap.mmap(file.fileno(), nbytes, access=access)
    return torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | str | None = None,
    pin_memory: bool | None = None,
    requires_grad: bool = False,
) -> torch.Tensor:
    """The first `size` elements of a file as a vector, mapped into memory; what is written reaches it only if `shared`.

    A shared file is made, or made longer, as needed. RuntimeError if another one is too short.
    """
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if layout not in (None, torch.strided) or (device is not None and torch.device(device).type != "cpu") or pin_memory:
        raise RuntimeError("from_file: a mapped file is strided memory of the CPU")
    if size == 0:
        return torch.empty(0, dtype=dtype, requires_grad=requires_grad)
    nbytes = size * dtype.itemsize
    if not shared and Path(filename).stat().st_size < nbytes:
        raise RuntimeError(
            f"unable to mmap {nbytes} bytes from file <{filename}>: it has {Path(filename).stat().st_size}"
        )
    memory = torch.UntypedStorage.from_file(filename, bool(shared), nbytes)
    return torch.empty(0, dtype=dtype).set_(memory, 0, (size,), (1,)).requires_grad_(requires_grad)


def _slice_storage(storage: torch.UntypedStorage, part: slice) -> torch.UntypedStorage:
    """`storage[part]`: those bytes, shared; RuntimeError for steps."""
    start, stop, step = part.indices(storage.nbytes())
    if step != 1:
        raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
    if stop <= start:
        return torch.UntypedStorage(0)
    return torch.frombuffer(memoryview(storage)[start:stop], dtype=torch.uint8).untyped_storage()
