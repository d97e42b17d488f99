"""Names of types from before `torch.dtype`: `torch.FloatTensor(2, 3)`, `isinstance(x, torch.LongTensor)`."""

from __future__ import annotations

from typing import Any

import torch
from torch import _C
from torch._bindings import LEGACY_NAMES


class tensortype(type):
    """The type of `torch.FloatTensor`: calling it makes a tensor, and tensors of its dtype are its instances."""

    dtype: torch.dtype
    is_cuda: bool
    layout: torch.layout

    def __call__(cls, *arguments: Any, device: torch.device | str | None = None) -> torch.Tensor:
        """A tensor of the dtype: of these sizes (not set), of this sequence's values, or of a storage's memory."""
        if device is None and cls.is_cuda:
            device = torch.device("cuda")
        if cls.layout is torch.sparse_coo:
            return _make_sparse(cls.dtype, device, *arguments)
        made: torch.Tensor = _C._legacy_tensor(cls.dtype, *arguments, device=device)
        return made

    def __instancecheck__(cls, instance: object) -> bool:
        if not isinstance(instance, torch.Tensor) or instance.layout is not cls.layout:
            return False
        return instance.dtype == cls.dtype and instance.is_cuda == cls.is_cuda

    def __reduce__(cls) -> str:
        return cls.__name__


def _make_sparse(dtype: torch.dtype, device: torch.device | str | None, *arguments: Any) -> torch.Tensor:
    """A sparse tensor of indices, values and, if given, a size; or an empty one of the size."""
    if len(arguments) >= 2 and all(isinstance(each, torch.Tensor) for each in arguments[:2]):
        indices, values, *size = arguments
        if values.dtype != dtype:
            raise TypeError(f"expected values of {dtype}, got {values.dtype}")
        return torch.sparse_coo_tensor(indices, values, *size, device=device)
    return torch.sparse_coo_tensor(*arguments[:1] if len(arguments) == 1 else (arguments,), dtype=dtype, device=device)


def _make(name: str, module: str) -> tensortype:
    dtypes = (value for value in vars(_C._dtypes).values() if isinstance(value, torch.dtype))
    dtype = next(value for value in dtypes if value._type_name == name)
    sparse = module.endswith("sparse")
    facts = {
        "dtype": dtype,
        "is_cuda": module.startswith("torch.cuda"),
        "layout": torch.sparse_coo if sparse else torch.strided,
        "__module__": module,
        "__doc__": f"{'Sparse tensors' if sparse else 'Tensors'} of {dtype}.",
    }
    return tensortype(f"{name}Tensor", (), facts)


TENSOR_TYPES = {
    f"{module}.{name}Tensor": _make(name, module)
    for module in ("torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse")
    for name in LEGACY_NAMES
}
# For type checkers, which cannot follow the next line; a test compares the list with LEGACY_NAMES.
BFloat16Tensor: tensortype
BoolTensor: tensortype
ByteTensor: tensortype
CharTensor: tensortype
DoubleTensor: tensortype
FloatTensor: tensortype
HalfTensor: tensortype
IntTensor: tensortype
LongTensor: tensortype
ShortTensor: tensortype
globals().update({kind.__name__: kind for name, kind in TENSOR_TYPES.items() if name.count(".") == 1})


def set_default_tensor_type(t: str | tensortype) -> None:
    """Sets the dtype of new floating tensors to that of `t`: `torch.DoubleTensor`, or its name.

    TypeError for what is no floating type; ValueError for a name that is none. Only the CPU can be the default device.
    """
    if isinstance(t, str):
        if t not in TENSOR_TYPES:
            raise ValueError(f"invalid type: '{t}'")
        t = TENSOR_TYPES[t]
    if not isinstance(t, tensortype):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if t.is_cuda:
        raise NotImplementedError(
            "set_default_tensor_type supports CPU types only: pass device= where tensors are made"
        )
    _C._set_default_dtype(t.dtype)
