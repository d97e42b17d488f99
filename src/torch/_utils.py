"""What pickles of tensors call when they are read, and how tensors are taken apart for them.

The names and the arguments of the `_rebuild_*` functions are part of the file format of `torch.save`.
"""

from __future__ import annotations

import copyreg
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from torch import Tensor
    from torch.storage import TypedStorage


def check_extent(numel: int, offset: int, size: Sequence[int], stride: Sequence[int]) -> None:
    """Raises ValueError unless a tensor of `size` and `stride` (elements) fits into `numel` elements."""
    for name, values in (("size", size), ("stride", stride)):
        if not all(type(value) is int and value >= 0 for value in values):
            raise ValueError(f"a tensor's {name} must be non-negative integers, not {values!r}")
    if len(size) != len(stride):
        raise ValueError(f"a tensor has {len(size)} sizes but {len(stride)} strides")
    if type(offset) is not int or offset < 0:
        raise ValueError(f"a tensor's storage offset must be a non-negative integer, not {offset!r}")
    if 0 in size:
        return
    last = offset + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    if last >= numel:
        raise ValueError(
            f"a tensor of size {list(size)}, stride {list(stride)} and offset {offset} needs {last + 1} elements, "
            f"but its storage has {numel}"
        )


def _rebuild_tensor(storage: TypedStorage, storage_offset: int, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    numel = storage.nbytes() // storage.dtype.itemsize
    check_extent(numel, storage_offset, size, stride)
    tensor = torch.empty(0, dtype=storage.dtype, device=storage.device)
    return tensor.set_(storage.untyped(), storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(
    storage: TypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: object,
    metadata: object = None,
) -> Tensor:
    if metadata:
        raise NotImplementedError(f"tensor metadata {metadata!r} in a pickle is not supported")
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    # Hooks are code: PyTorch writes an empty mapping unless the user pickled hooks on purpose.
    if backward_hooks:
        raise NotImplementedError("this pickle holds backward hooks; register them again after loading instead")
    return tensor.requires_grad_(requires_grad)


def _rebuild_tensor_v3(
    storage: torch.UntypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: object,
    dtype: torch.dtype,
    metadata: object = None,
) -> Tensor:
    """As v2, of a dtype that has no storage class in PyTorch: uint16, uint32, uint64, those of float8."""
    from torch.storage import TypedStorage

    typed = TypedStorage(wrap_storage=storage, dtype=dtype)
    return _rebuild_tensor_v2(typed, storage_offset, size, stride, requires_grad, backward_hooks, metadata)


def _rebuild_meta_tensor_no_storage(
    dtype: torch.dtype, size: Sequence[int], stride: Sequence[int], requires_grad: bool
) -> Tensor:
    tensor = torch.empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta")
    return tensor.requires_grad_(requires_grad)


def make_wrapper_subclass(
    cls: type[Tensor],
    size: Sequence[int],
    strides: Sequence[int] | None = None,
    storage_offset: int | None = None,
    memory_format: torch.memory_format | None = None,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: torch.device | str | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    **policies: Any,
) -> Any:
    """`Tensor._make_wrapper_subclass`."""
    if layout is not torch.strided:
        raise NotImplementedError(f"_make_wrapper_subclass: a tensor of the layout {layout}")
    named = sorted(name for name, value in policies.items() if value not in (None, False))
    if named:
        raise NotImplementedError(f"_make_wrapper_subclass: {named[0]} is not supported")
    if strides is None:
        with torch._C._DisableTorchDispatch():
            order = memory_format or torch.contiguous_format
            strides = torch.empty(tuple(size), device="meta", memory_format=order).stride()
    place = torch.device(device) if device is not None else torch.get_default_device()
    wanted = dtype or torch.get_default_dtype()
    return torch._C._make_wrapper(cls, tuple(size), tuple(strides), storage_offset or 0, wanted, place, requires_grad)


def _rebuild_wrapper_subclass(
    cls: Any,
    dtype: torch.dtype,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int,
    layout: torch.layout,
    device: torch.device | str,
    requires_grad: bool,
) -> Tensor:
    """A tensor of a class with `__torch_dispatch__`; what it is made of are its attributes."""
    options: dict[str, Any] = {"storage_offset": storage_offset, "layout": layout, "requires_grad": requires_grad}
    made: Tensor = torch.Tensor._make_wrapper_subclass(cls, size, strides=stride, dtype=dtype, device=device, **options)
    return made


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: object) -> Tensor:
    if backward_hooks:
        raise NotImplementedError("this pickle holds backward hooks; register them again after loading instead")
    parameter: Tensor = torch.nn.Parameter(data, requires_grad)
    return parameter


def _rebuild_from_type_v2(function: Any, new_type: type[Tensor], arguments: tuple[Any, ...], state: Any) -> Tensor:
    """A tensor of a subclass, or one with attributes of its own."""
    tensor: Tensor = function(*arguments)
    if type(tensor) is not new_type:
        tensor = torch._C._make_subclass(new_type, tensor.detach(), tensor.requires_grad)
    if state is not None:
        dictionary = state[0] if isinstance(state, tuple) else state
        tensor.__dict__.update(dictionary or {})
    return tensor


def _get_layout(name: str) -> torch.layout:
    """`torch.sparse_coo` of "torch.sparse_coo"."""
    layout = getattr(torch, name.removeprefix("torch."), None)
    if not isinstance(layout, torch.layout):
        raise ValueError(f"{name!r} is no layout")
    return layout


_get_layout.__module__ = "torch.serialization"  # where PyTorch's files look for it
copyreg.pickle(torch.layout, lambda layout: (_get_layout, (str(layout),)))


def _rebuild_sparse_tensor(layout: torch.layout, data: tuple[Any, ...]) -> Tensor:
    # A file may say anything: its indices are checked.
    if layout is torch.sparse_coo:
        indices, values, size, *rest = data
        coalesced = bool(rest and rest[0])
        return torch.sparse_coo_tensor(indices, values, size, check_invariants=True, is_coalesced=coalesced)
    return torch.sparse_compressed_tensor(*data, layout=layout, check_invariants=True)


def _sparse_parts(tensor: Tensor) -> tuple[Any, ...]:
    """What `_rebuild_sparse_tensor` takes."""
    if tensor.layout is torch.sparse_coo:
        return tensor._indices(), tensor._values(), tensor.size(), tensor.is_coalesced()
    if tensor.layout is torch.sparse_csr:
        return tensor.crow_indices(), tensor.col_indices(), tensor._values(), tensor.size()
    return tensor.ccol_indices(), tensor.row_indices(), tensor._values(), tensor.size()


def reduce_tensor(tensor: Tensor) -> tuple[Any, ...]:
    """`Tensor.__reduce_ex__`: a rebuild function and its arguments."""
    if isinstance(tensor, torch.nn.Parameter):
        inner = tensor.detach()
        return _rebuild_parameter, (inner, tensor.requires_grad, OrderedDict())
    if torch._C._class_dispatches(type(tensor)):
        place = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.layout, tensor.device)
        form = (type(tensor), tensor.dtype, *place, tensor.requires_grad)
        return _rebuild_from_type_v2, (_rebuild_wrapper_subclass, type(tensor), form, dict(tensor.__dict__) or None)
    if tensor.layout is not torch.strided:
        return _rebuild_sparse_tensor, (tensor.layout, _sparse_parts(tensor))
    is_float8 = tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1
    by_bytes = is_float8 or tensor.dtype in (torch.uint16, torch.uint32, torch.uint64)
    rebuild: Any
    arguments: tuple[Any, ...]
    if tensor.is_meta:
        rebuild = _rebuild_meta_tensor_no_storage
        arguments = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad)
    else:
        rebuild = _rebuild_tensor_v3 if by_bytes else _rebuild_tensor_v2
        arguments = (
            tensor.untyped_storage() if by_bytes else tensor.storage(),
            tensor.storage_offset(),
            tuple(tensor.shape),
            tensor.stride(),
            tensor.requires_grad,
            OrderedDict(),
            *((tensor.dtype,) if by_bytes else ()),
        )
    if type(tensor) is torch.Tensor and not tensor.__dict__:
        return rebuild, arguments
    return _rebuild_from_type_v2, (rebuild, type(tensor), arguments, dict(tensor.__dict__) or None)


def deepcopy_tensor(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """`copy.deepcopy(tensor)`: storage, strides, gradient and attributes; raises RuntimeError for non-leaves."""
    from copy import deepcopy

    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment: "
            "copy tensor.detach(), or a module whose attributes are parameters and buffers"
        )
    if id(tensor) in memo:
        found: Tensor = memo[id(tensor)]
        return found
    with torch.no_grad():
        if torch._C._class_dispatches(type(tensor)):
            result = tensor.clone()
        elif tensor.is_meta:
            result = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        elif tensor.layout is not torch.strided:
            result = tensor.clone()
        else:
            # Tensors that shared a storage share its copy, too.
            key = ("storage", tensor.untyped_storage().data_ptr(), str(tensor.device))
            storage = memo.get(key) if key[1] else None  # type: ignore[call-overload]
            if storage is None:
                storage = clone_storage(tensor.untyped_storage())
                memo[key] = storage  # type: ignore[index]
            result = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            result = result.set_(storage, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    if torch._C._class_dispatches(type(tensor)):
        if type(result) is not type(tensor):
            raise RuntimeError(
                f"The default implementation of __deepcopy__() for {type(tensor).__name__} needs a clone() that "
                f"returns an instance of the same type, but it returned {type(result).__name__}"
            )
        result.requires_grad_(tensor.requires_grad)
    elif type(tensor) is not torch.Tensor:
        result = torch._C._make_subclass(type(tensor), result, tensor.requires_grad)
    elif tensor.requires_grad:
        result.requires_grad_()
    memo[id(tensor)] = result
    if tensor.grad is not None:
        result.grad = deepcopy(tensor.grad, memo)
    if tensor.__dict__:
        result.__dict__.update(deepcopy(tensor.__dict__, memo))
    return result


def _has_compatible_shallow_copy_type(input: Tensor, from_: Tensor) -> bool:
    """Whether `input.data = from_` is possible: the layouts are alike."""
    return input.layout is from_.layout


def storage_bytes(storage: torch.UntypedStorage) -> Tensor:
    """A uint8 tensor over all bytes of `storage`, on its device, sharing its memory."""
    tensor = torch.empty(0, dtype=torch.uint8, device=storage.device)
    return tensor.set_(storage, 0, (storage.nbytes(),), (1,))


def clone_storage(storage: torch.UntypedStorage, device: torch.device | str | None = None) -> torch.UntypedStorage:
    """A copy of `storage` on `device` (default: its own)."""
    copy = torch.UntypedStorage(storage.nbytes(), device=storage.device if device is None else device)
    if storage.nbytes():
        storage_bytes(copy).copy_(storage_bytes(storage))
    return copy


# ---------------------------------------------------------------------------- what libraries import from here


def _element_size(dtype: torch.dtype) -> int:
    """Bytes of an element."""
    return dtype.itemsize


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device: an int, a `torch.device` or its text. -1 is the CPU's, if it is allowed."""
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type == "cpu":
            if allow_cpu:
                return -1
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        device = device.index
    if isinstance(device, int):
        return device
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return torch.cuda.current_device() if torch.cuda.is_available() else -1


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of several tensors in one dimension."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors]) if tensors else torch.empty(0)


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The parts of `flat` in the shapes of `tensors`."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view_as(tensor) for part, tensor in zip(parts, tensors, strict=True))


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """The tensors in groups of one type each, of up to `size_limit` bytes (or one tensor); the rest comes last.

    Libraries send gradients in such groups.
    """
    groups: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        group = groups.setdefault(tensor.type(), [])
        if group and sum(part.nbytes for part in group) + tensor.nbytes > size_limit:
            yield group
            group = groups[tensor.type()] = []
        group.append(tensor)
    yield from groups.values()


def _get_available_device_type() -> str | None:
    """The type of the machine's accelerator; None without one."""
    return "cuda" if torch.cuda.is_available() else None


def _get_device_module(device_type: str) -> Any:
    """`torch.cuda` for "cuda", and so on. RuntimeError for an unknown type."""
    module = getattr(torch, device_type, None)
    if module is None:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'."
        )
    return module


def is_compiling() -> bool:
    """Whether code is being compiled: never."""
    return False


class classproperty:
    """A property of a class."""

    def __init__(self, func: Any) -> None:
        self.func = func

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.func(owner)


class KeyErrorMessage(str):
    """The message of a KeyError that is printed as it is, with its lines."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception on its way from another thread or process; `reraise()` raises one of its type, with its text."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        import sys
        import traceback

        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type, self.where = exc_info[0], where
        self.exc_msg = "".join(traceback.format_exception(*exc_info))

    def reraise(self) -> None:
        """Raises it."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            error = self.exc_type(message)
        except Exception:  # its constructor takes something else
            raise RuntimeError(message) from None
        raise error
