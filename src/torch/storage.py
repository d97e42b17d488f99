"""Storages that know their dtype, as `torch.save` files name them (`torch.FloatStorage`, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import UntypedStorage


class TypedStorage:
    """Memory with a dtype: `dtype`, `device`, `nbytes()`, `size()` (elements), `untyped()`, `tolist()`."""

    dtype: torch.dtype

    def __init__(self, *, wrap_storage: UntypedStorage, dtype: torch.dtype | None = None) -> None:
        if dtype is not None:
            self.dtype = dtype
        self._storage = wrap_storage

    @property
    def device(self) -> torch.device:
        return self._storage.device

    def untyped(self) -> UntypedStorage:
        return self._storage

    def nbytes(self) -> int:
        return self._storage.nbytes()

    def data_ptr(self) -> int:
        return self._storage.data_ptr()

    def size(self) -> int:
        return self._storage.nbytes() // self.dtype.itemsize

    def __len__(self) -> int:
        return self.size()

    def _as_tensor(self) -> torch.Tensor:
        tensor = torch.empty(0, dtype=self.dtype, device=self.device)
        return tensor.set_(self._storage, 0, (self.size(),), (1,))

    def tolist(self) -> list[Any]:
        values: list[Any] = self._as_tensor().tolist()
        return values

    def __getitem__(self, index: Any) -> Any:
        return self._as_tensor()[index].item() if isinstance(index, int) else self._as_tensor()[index].tolist()

    def __repr__(self) -> str:
        values = "".join(f" {value}\n" for value in self.tolist())
        return f"{values}[{type(self).__name__}(dtype={self.dtype}, device={self.device}) of size {self.size()}]"

    def __reduce__(self) -> tuple[Any, ...]:
        """Plain pickle: the bytes of a small torch.save file, as PyTorch does it."""
        import io

        buffer = io.BytesIO()
        torch.save(self, buffer)
        return _load_from_bytes, (buffer.getvalue(),)


def _make_storage_class(dtype: torch.dtype) -> type[TypedStorage]:
    """`torch.FloatStorage`, as files name it, for torch.float32."""
    facts = {"dtype": dtype, "__module__": "torch", "__doc__": f"A `TypedStorage` of {dtype} elements."}
    return type(f"{dtype._type_name}Storage", (TypedStorage,), facts)


_CLASS_OF = {
    dtype: _make_storage_class(dtype) for dtype in vars(torch._C._dtypes).values() if isinstance(dtype, torch.dtype)
}
STORAGE_CLASSES: tuple[type[TypedStorage], ...] = tuple(_CLASS_OF.values())
globals().update({storage_class.__name__: storage_class for storage_class in STORAGE_CLASSES})


def typed_storage_class(dtype: torch.dtype) -> type[TypedStorage]:
    """The class for storages of `dtype`, for example FloatStorage for torch.float32."""
    return _CLASS_OF[dtype]


def _load_from_bytes(data: bytes) -> Any:
    import io

    return torch.load(io.BytesIO(data), weights_only=False)
