"""The class of masked tensors.

A MaskedTensor is its data: a tensor of a subclass, with the data's history, and its mask as an attribute.
`__torch_function__` sees every call above autograd; what is computed are plain functions of plain tensors, so
gradients are plain tensors, too, until `grad` shows them with the mask. By the function's name: element-wise
functions work on the data and keep the mask, those of two operands want equal masks; functions that only move
elements move the mask, too; reductions are those of `torch.masked`, and a result is kept where any of its elements
was. Everything else is a TypeError.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import torch
from torch.masked import _ops as masked
from torch.masked.maskedtensor import _names
from torch.masked.maskedtensor._parts import check_parts, same, text
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

    from torch import Tensor

__all__ = ["MaskedTensor", "is_masked_tensor"]


def is_masked_tensor(obj: object, /) -> TypeGuard[MaskedTensor]:
    """Whether `obj` is a MaskedTensor."""
    return isinstance(obj, MaskedTensor)


class MaskedTensor(torch.Tensor):
    """A tensor with a mask of its shape: elements that the mask drops take no part in reductions, and print as `--`."""

    _masked_mask: Tensor

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
        data, mask = check_parts(data, mask)
        if data.requires_grad:
            warnings.warn(
                "a MaskedTensor is a new leaf and leaves the history of its data behind; as_masked_tensor keeps it, "
                "and data.detach() says that none is wanted",
                UserWarning,
                stacklevel=3,
            )
        result = with_mask(data.detach().clone(), mask.clone())
        with torch._C.DisableTorchFunctionSubclass():
            return result.requires_grad_(requires_grad)

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        """Everything is done where the tensor is made."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _call(func, args, kwargs or {})

    def get_data(self) -> Tensor:
        """The elements, those that the mask drops among them, as a tensor with the same history."""
        with torch._C.DisableTorchFunctionSubclass():
            strided = self.layout is torch.strided
            return self.as_subclass(torch.Tensor) if strided else torch.Tensor._make_subclass(torch.Tensor, self)

    def get_mask(self) -> Tensor:
        """The mask."""
        return self._masked_mask

    _masked_data = property(get_data)

    def to_tensor(self, value: float) -> Tensor:
        """The elements, and `value` where the mask drops them."""
        data, mask = self.get_data(), self.get_mask()
        if data.layout is not torch.strided:
            data, mask = data.to_dense(), mask.to_dense()
        return data.masked_fill(~mask, value)

    @classmethod
    def unary(cls, fn: Callable[[Tensor], Tensor], data: Tensor, mask: Tensor) -> MaskedTensor:
        """`fn` of the data, with the mask."""
        return with_mask(fn(data), mask)

    @property
    def grad(self) -> MaskedTensor | None:  # type: ignore[override]
        """The gradient, with this tensor's mask."""
        with torch._C.DisableTorchFunctionSubclass():
            gradient = torch.Tensor.grad.__get__(self)  # type: ignore[attr-defined]
        if gradient is None or is_masked_tensor(gradient):
            return gradient
        return with_mask(gradient, self.get_mask())

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        plain = gradient.get_data() if isinstance(gradient, MaskedTensor) else gradient
        with torch._C.DisableTorchFunctionSubclass():
            torch.Tensor.grad.__set__(self, plain)  # type: ignore[attr-defined]

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def is_sparse_coo(self) -> bool:
        """Whether the layout is sparse COO."""
        return self.layout is torch.sparse_coo

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Whether the layout is sparse CSR."""
        return self.layout is torch.sparse_csr

    @property
    def is_sparse(self) -> bool:  # type: ignore[override]
        """Whether the layout is sparse COO."""
        return self.is_sparse_coo()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (self.get_data().detach(), self.get_mask(), self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> MaskedTensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user support the deepcopy protocol at the moment."
            )
        result = _rebuild(self.get_data().detach(), self.get_mask(), self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return text(self.get_data().detach(), self.get_mask())

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)


def _rebuild(data: Tensor, mask: Tensor, requires_grad: bool) -> MaskedTensor:
    return MaskedTensor(data, mask, requires_grad)


def with_mask(data: Tensor, mask: Tensor) -> MaskedTensor:
    """`data` and its history as a MaskedTensor; nothing is checked or copied."""
    # Sparse tensors have no history here, nor aliases.
    strided = data.layout is torch.strided
    result = data.as_subclass(MaskedTensor) if strided else torch.Tensor._make_subclass(MaskedTensor, data)
    result._masked_mask = mask
    return result


def _name(func: Any) -> str:
    """The name of a function or method; of a property's getter or setter, that of the property."""
    name = str(getattr(getattr(func, "overloadpacket", func), "__name__", ""))
    return str(func.__self__.__name__) if name in ("__get__", "__set__") else name


def _plain(value: Any) -> Any:
    return value.get_data() if is_masked_tensor(value) else value


def _masks(values: Any) -> list[Tensor]:
    return [leaf.get_mask() for leaf in pytree.tree_leaves(values) if is_masked_tensor(leaf)]


def _common_mask(values: Any) -> Tensor:
    """The mask of all masked tensors among the operands; ValueError if there are several."""
    first, *others = _masks(values)
    if not all(mask is first or _same_masks(first, mask) for mask in others):
        raise ValueError("Input masks must match: the same elements of both have to be kept")
    return first


def _same_masks(one: Tensor, other: Tensor) -> bool:
    if one.layout is not other.layout:
        raise ValueError(f"`a` and `b` must have the same layout. Got {one.layout} and {other.layout}")
    return same(*(mask if mask.layout is torch.strided else mask.to_dense() for mask in (one, other)))


def _on_values(func: Callable[..., Any], operands: list[Any], kwargs: dict[str, Any]) -> Tensor:
    """`func` of the data; of sparse tensors' values, which lie at the same places."""
    first = next(each for each in operands if isinstance(each, torch.Tensor) and each.layout is not torch.strided)
    others = [each for each in operands if isinstance(each, torch.Tensor) and each.dim() and each is not first]
    for each in others:
        if each.layout is not first.layout:
            raise ValueError(f"`a` and `b` must have the same layout. Got {first.layout} and {each.layout}")
    sparse = [each for each in operands if isinstance(each, torch.Tensor) and each.layout is first.layout]
    parts = {id(each): each.coalesce() if each.layout is torch.sparse_coo else each for each in sparse}
    values = func(*(parts[id(each)].values() if id(each) in parts else each for each in operands), **kwargs)
    kept = parts[id(first)]
    if kept.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(kept.indices(), values, kept.shape, is_coalesced=True)
    return torch.sparse_csr_tensor(kept.crow_indices(), kept.col_indices(), values, kept.shape)


def _elementwise(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> MaskedTensor:
    mask = _common_mask((args, kwargs))
    operands = [_plain(each) for each in args]
    if mask.layout is not torch.strided:
        return with_mask(_on_values(func, operands, kwargs), mask)
    data = func(*operands, **{key: _plain(value) for key, value in kwargs.items()})
    return with_mask(data, mask if mask.shape == data.shape else mask.expand(data.shape))


def _unary(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> MaskedTensor:
    if any(isinstance(each, torch.Tensor) for each in args[1:]):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    return _elementwise(func, args, kwargs)


def _in_place(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    self, *others = args
    if not is_masked_tensor(self):
        raise TypeError(f"{_name(func)}: a tensor without a mask cannot take the result of a masked one in place")
    _common_mask(args)
    with torch._C.DisableTorchFunctionSubclass():
        func(self, *map(_plain, others), **kwargs)
    return self


def _copy(self: MaskedTensor, source: Tensor, non_blocking: bool = False) -> MaskedTensor:
    with torch._C.DisableTorchFunctionSubclass():
        self.copy_(_plain(source), non_blocking)
    if is_masked_tensor(source):
        self._masked_mask = source.get_mask().clone()
    return self


def _move(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The same function of the data and of the mask, whose results are put together again."""
    if not is_masked_tensor(args[0]):
        return NotImplemented
    data = func(*pytree.tree_map(_plain, args), **kwargs)
    with torch.no_grad():
        mask = _move_mask(func, args, kwargs)
    if isinstance(data, torch.Tensor):
        return with_mask(data, mask)
    return type(data)(map(with_mask, data, mask))


def _move_mask(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The mask as bool, also where the function computes in floating types only, as `fold` does."""
    masks = pytree.tree_map(lambda each: each.get_mask() if is_masked_tensor(each) else each, args)
    if _name(func) == "fold" or func is torch.nn.functional.unfold:
        return func(masks[0].to(torch.float32), *masks[1:], **kwargs) > 0
    return func(*masks, **kwargs)


def _join(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> MaskedTensor:
    """Tensors without a mask are kept whole."""
    tensors, *others = args
    masks = [each.get_mask() if is_masked_tensor(each) else torch.ones_like(each, dtype=torch.bool) for each in tensors]
    return with_mask(func([_plain(each) for each in tensors], *others, **kwargs), func(masks, *others, **kwargs))


def _convert(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    self = args[0]
    with torch._C.DisableTorchFunctionSubclass():
        result = func(self, *map(_plain, args[1:]), **kwargs)
    if result is self or not isinstance(result, torch.Tensor):
        return result
    mask = self.get_mask()
    return with_mask(result, mask if mask.device == result.device else mask.to(result.device))


def _dense(self: MaskedTensor) -> tuple[Tensor, Tensor]:
    data, mask = self.get_data(), self.get_mask()
    return (data, mask) if data.layout is torch.strided else (data.to_dense(), mask.to_dense())


def _reduce(name: str, self: MaskedTensor, *args: Any, **kwargs: Any) -> MaskedTensor:
    data, mask = _dense(self)
    # torch.norm hands its defaults on.
    kwargs = {"dim" if key == "axis" else key: value for key, value in kwargs.items() if key != "out"}
    if name == "norm":
        order = args[0] if args else kwargs.pop("p", 2.0)
        kwargs["ord"] = 2.0 if order in (None, "fro") else float(order)
        args = args[1:]
    names = ("dim", "keepdim") if name not in ("std", "var") else ("dim", "unbiased", "keepdim")
    if name in ("std", "var") and args and isinstance(args[0], bool):
        names = ("unbiased",)
    kwargs.update(zip(names, args, strict=False))
    dim, keepdim = kwargs.get("dim"), kwargs.get("keepdim", False)
    if name == "all":
        kept = data.bool() | ~mask
        result = kept.all() if dim is None else kept.all(dim, keepdim)
    else:
        result = getattr(masked, name)(data, mask=mask, **kwargs)
    reduced = mask.any() if dim is None or dim == () else mask.any(dim, keepdim)
    return with_mask(result, reduced if reduced.shape == result.shape else reduced.expand(result.shape))


def _softmax(input: MaskedTensor, dim: int | None = None, *others: Any, dtype: Any = None, **ignored: Any) -> Any:
    if dim is None:
        raise TypeError("softmax of a MaskedTensor needs its dim")
    return with_mask(masked.softmax(input.get_data(), dim, dtype=dtype, mask=input.get_mask()), input.get_mask())


def _where(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> MaskedTensor:
    if len(args) != 3:
        raise TypeError("where: a MaskedTensor needs a condition and both of its choices")
    # A method's tensor comes first, its condition second.
    condition, one, other = (args[1], args[0], args[2]) if is_masked_tensor(args[0]) else args
    if is_masked_tensor(condition):
        raise TypeError("where: the condition may not be a MaskedTensor")
    masks = [each.get_mask() if is_masked_tensor(each) else torch.tensor(True) for each in (one, other)]
    return with_mask(torch.where(condition, _plain(one), _plain(other)), torch.where(condition, *masks))


def _filled_like(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> MaskedTensor:
    self = args[0]
    return with_mask(func(self.get_data(), *args[1:], **kwargs), self.get_mask())


def _to_dense(self: MaskedTensor) -> MaskedTensor:
    return with_mask(*_dense(self))


def _to_sparse(self: MaskedTensor) -> MaskedTensor:
    """As sparse COO: what the mask keeps, zeros among it."""
    data, mask = _dense(self)
    kept = mask.to_sparse()
    return with_mask(data.sparse_mask(kept), kept)


def _to_sparse_csr(self: MaskedTensor) -> MaskedTensor:
    data, mask = _dense(self)
    kept = mask.to_sparse_csr()
    values = data[mask]
    rows, columns = kept.crow_indices(), kept.col_indices()
    return with_mask(torch.sparse_csr_tensor(rows, columns, values, data.shape), kept)


def _gradients(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.autograd.grad`: gradients of masked tensors have their masks."""
    inputs = args[1] if len(args) > 1 else kwargs["inputs"]
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    with torch._C.DisableTorchFunctionSubclass():
        gradients = func(*args, **kwargs)
    return tuple(
        with_mask(each, one.get_mask())
        if is_masked_tensor(one) and each is not None and not is_masked_tensor(each)
        else each
        for each, one in zip(gradients, inputs, strict=True)
    )


def _number(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    return func(args[0].get_data(), *args[1:], **kwargs)


def _refuse(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> NoReturn:
    """What comes without a mask would say nothing of it; `to_tensor` puts a value there."""
    raise RuntimeError(f".{_name(func)}() is not supported for tensor subclasses, got MaskedTensor")


# Functions of the tensor itself.
_TAKING_SELF: dict[str, Callable[..., Any]] = {
    "copy_": _copy,
    "to_dense": _to_dense,
    "to_sparse": _to_sparse,
    "to_sparse_csr": _to_sparse_csr,
}
_BY_NAME: dict[str, Callable[..., Any]] = {
    "softmax": lambda func, args, kwargs: _softmax(*args, **kwargs),
    "where": _where,
    "grad": _gradients,
    **dict.fromkeys(("ones_like", "zeros_like", "full_like", "empty_like", "rand_like", "randn_like"), _filled_like),
    **dict.fromkeys(("tolist", "numpy", "__array__"), _refuse),
    **dict.fromkeys(("item", "__bool__", "__float__", "__int__", "__index__", "__complex__"), _number),
}


def _ask(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    with torch._C.DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


def _handler(func: Any, name: str) -> Callable[..., Any] | None:
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name in _names.ASKING:
        return _ask
    bare = name.strip("_")
    for names, handler in (
        (_names.UNARY, _unary),
        (_names.BINARY, _elementwise),
        (_names.MOVING, _move),
        (_names.JOINING, _join),
        (_names.CONVERTING, _convert),
    ):
        if bare in names or name in names:
            in_place = name.endswith("_") and not name.endswith("__") and name not in names
            return _in_place if in_place and handler in (_unary, _elementwise) else None if in_place else handler
    return None


def _call(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a torch function that was called with a MaskedTensor; NotImplemented where it has no meaning."""
    name = _name(func)
    if name in _names.REDUCING and args and is_masked_tensor(args[0]):
        return _reduce(name, *args, **kwargs)
    if name in _TAKING_SELF and is_masked_tensor(args[0]):
        return _TAKING_SELF[name](*args, **kwargs)
    handler = _handler(func, name)
    return NotImplemented if handler is None else handler(func, args, kwargs)
