"""Rules of what asks for a shape, and of what gives a tensor another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Size, Tensor
from torch._functorch import _schemas
from torch._functorch._rules import PROPERTIES, finish, loop, normalized, rank_of, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch._functorch._levels import Level


def _mirrored(level: Level, value: Tensor) -> Tensor:
    return level.batched(value.permute(0, *range(value.dim() - 1, 0, -1)))


PROPERTIES.update(
    shape=lambda level, value: value.shape[1:],
    ndim=lambda level, value: value.dim() - 1,
    nbytes=lambda level, value: value[:1].nbytes if level.size else 0,
    T=_mirrored,
    H=lambda level, value: level.batched(value.mH if value.dim() > 2 else value.conj()),
)


@rule("dim ndimension")
def _dim(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return rank_of(level, args[0])


@rule("size stride")
def _size(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    every = getattr(args[0]._value, func.__name__)()[1:]
    dim = args[1] if len(args) > 1 else kwargs.get("dim")
    return every if dim is None else every[normalized(dim, len(every))]


@rule("numel nelement")
def _numel(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return Size(args[0]._value.shape[1:]).numel()


@rule("__len__")
def _len(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    shape = args[0]._value.shape
    if len(shape) == 1:
        raise TypeError("len() of a 0-d tensor")
    return shape[1]


@rule("is_contiguous")
def _is_contiguous(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    return func(value.select(0, 0) if level.size else value, *args[1:], **kwargs)


@rule("is_same_size")
def _is_same_size(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with level.inside():
        return args[0].shape == args[1].shape


# ---------------------------------------------------------------------- new ones


@rule("new_zeros new_ones new_empty new_full")
def _new(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, *rest = args
    if "size" in kwargs:
        kwargs = {**kwargs, "size": (level.size, *_listed([kwargs["size"]]))}
        return level.batched(func(tensor._value, *rest, **kwargs))
    if func.__name__ == "new_full":
        return level.batched(func(tensor._value, (level.size, *_listed(rest[:1])), *rest[1:], **kwargs))
    return level.batched(func(tensor._value, (level.size, *_listed(rest)), **kwargs))


@rule("new_tensor")
def _new_tensor(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(args[0]._value, *args[1:], **kwargs)


def _listed(sizes: Sequence[Any]) -> tuple[int, ...]:
    """Sizes that were given one by one, or as a list."""
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else tuple(sizes)


# ---------------------------------------------------------------------- views


def _sizes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, ...]:
    given = args[1:] or tuple(kwargs[name] for name in ("size", "shape", "sizes", "repeats", "dims") if name in kwargs)
    return _listed(given)


@rule("view reshape view_copy")
def _view(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    if kwargs.get("dtype") or (len(args) == 2 and isinstance(args[1], torch.dtype)):
        return loop(level, func, args, kwargs) if value.dim() == 1 else level.batched(func(value, *args[1:], **kwargs))
    sizes = _sizes(args, kwargs)
    if level.size == 0 and -1 in sizes:
        known = torch.empty(value.shape[1:], device="meta").reshape(sizes).shape
        return level.batched(func(value, (0, *known)))
    return level.batched(func(value, (level.size, *sizes)))


@rule("view_as reshape_as expand_as")
def _as_other(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with level.inside():
        shape = (args[1] if len(args) > 1 else kwargs["other"]).shape
        return getattr(args[0], func.__name__.removesuffix("_as"))(shape)


@rule("expand broadcast_to expand_copy")
def _expand(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value, sizes = args[0]._value, _sizes(args, kwargs)
    missing = len(sizes) - (value.dim() - 1)
    if missing > 0:
        value = value[(slice(None), *(None,) * missing)]
    return level.batched(value.expand(level.size, *sizes))


@rule("repeat tile")
def _repeat(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value, counts = args[0]._value, _sizes(args, kwargs)
    missing = len(counts) - (value.dim() - 1)
    if missing > 0:
        value = value[(slice(None), *(None,) * missing)]
    elif func.__name__ == "tile":
        counts = (*(1,) * -missing, *counts)
    return level.batched(value.repeat(1, *counts))


@rule("permute permute_copy")
def _permute(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value, dims = args[0]._value, _sizes(args, kwargs)
    return level.batched(func(value, (0, *(normalized(dim, value.dim() - 1) + 1 for dim in dims))))


@rule("t t_ t_copy")
def _t(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    if value.dim() > 3:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {value.dim() - 1}D")
    if func.__name__ == "t_":
        if value.dim() == 3:
            value.transpose_(1, 2)
        return args[0]
    result = value.transpose(1, 2) if value.dim() == 3 else value
    return level.batched(result.clone() if func.__name__ == "t_copy" else result)


@rule("squeeze squeeze_ squeeze_copy")
def _squeeze(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    bound = _schemas.bind(func, args, kwargs) or {}
    dims = bound.get("dim")
    rank = value.dim() - 1
    if dims is None:
        chosen = tuple(range(1, rank + 1))
    else:
        chosen = (
            tuple(normalized(dim, rank) + 1 for dim in ((dims,) if isinstance(dims, int) else dims)) if rank else ()
        )
    chosen = tuple(dim for dim in chosen if value.shape[dim] == 1)
    if func.__name__ == "squeeze_copy":
        return level.batched(value.squeeze(chosen).clone())
    return finish(level, func.__name__, args, func(value, chosen))


@rule("resize_ resize_as_ as_strided_ set_ resize_as_sparse_")
def _laid_out(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise RuntimeError(f"vmap: {func.__name__} is not supported: an element has no memory of its own")


@rule("unsqueeze unsqueeze_ unsqueeze_copy")
def _unsqueeze(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    dim = args[1] if len(args) > 1 else kwargs["dim"]
    return finish(level, func.__name__, args, func(value, normalized(dim, value.dim()) + 1))


@rule("ravel")
def _ravel(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    return level.batched(value.flatten(1) if value.dim() > 1 else value.unsqueeze(1))


@rule("flatten")
def _flatten(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = args[0]._value
    if value.dim() == 1:
        return level.batched(value.unsqueeze(1))
    bound = _schemas.bind(func, args, kwargs)
    if bound is None:
        return loop(level, func, args, kwargs)
    rank = value.dim() - 1
    start, end = (
        normalized(bound.get(name, default), rank) + 1 for name, default in (("start_dim", 0), ("end_dim", -1))
    )
    return level.batched(value.flatten(start, end))


@rule("diag")
def _diag(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value, offset = args[0]._value, args[1] if len(args) > 1 else kwargs.get("diagonal", 0)
    if value.dim() not in (2, 3):
        return loop(level, func, args, kwargs)
    return level.batched(torch.diag_embed(value, offset) if value.dim() == 2 else value.diagonal(offset, 1, 2))


@rule("diag_embed")
def _diag_embed(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None:
        return loop(level, func, args, kwargs)
    value = bound["input"]._value
    dims = [normalized(bound.get(name, default), value.dim()) + 1 for name, default in (("dim1", -2), ("dim2", -1))]
    return level.batched(torch.diag_embed(value, bound.get("offset", 0), *dims))


@rule("trace")
def _trace(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if rank_of(level, args[0]) != 2:
        return loop(level, func, args, kwargs)
    return level.batched(args[0]._value.diagonal(0, 1, 2).sum(-1))


@rule("broadcast_tensors")
def _broadcast_tensors(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensors = _listed(args)
    with level.inside():
        shape = torch.broadcast_shapes(*(tensor.shape for tensor in tensors))
        return [tensor.expand(shape) for tensor in tensors]
