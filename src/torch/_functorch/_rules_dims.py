"""Rules of functions that work along dimensions: which ones says an argument, as the function's signature names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch import _schemas
from torch._functorch._rules import RULES, check_written, finish, is_write, loop, normalized, rank_of, rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._functorch._levels import Level

_DIMS = frozenset((
    "dim", "dims", "dim0", "dim1", "dim2", "axis", "axis0", "axis1", "source", "destination", "start_dim", "end_dim",
    "dimension",
))  # fmt: skip

# Functions of one tensor that reduce all of it where they are told no dimension.
_REDUCING = (
    "sum mean prod var std var_mean std_mean amax amin max min argmax argmin any all logsumexp norm count_nonzero "
    "aminmax median nanmedian nansum nanmean linalg_vector_norm special_logsumexp native_norm"
)
_ALONG = (
    "cumsum cumprod logcumsumexp cummax cummin sort argsort topk kthvalue mode softmax log_softmax "
    "special_softmax special_log_softmax _safe_softmax glu flip roll transpose swapaxes swapdims movedim moveaxis "
    "select narrow diagonal linalg_diagonal unfold unbind split split_with_sizes chunk tensor_split unsafe_chunk "
    "unsafe_split unsafe_split_with_sizes flatten unflatten linalg_matrix_norm fft_fft fft_ifft fft_rfft "
    "fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_hfft2 fft_ihfft2 rot90 _softmax "
    "select_copy slice_copy transpose_copy narrow_copy unbind_copy diagonal_copy unfold_copy split_copy "
    "split_with_sizes_copy linalg_vander"
)


def _shifted(value: Any, rank: int) -> Any:
    """Dimensions of an element as those of a batch."""
    if isinstance(value, int):
        return normalized(value, rank) + 1
    return tuple(normalized(dim, rank) + 1 for dim in value)


def _is_dims(parameter: _schemas.Parameter) -> bool:
    return parameter.name in _DIMS and parameter.kind in ("int", "tuple of ints")


def along(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The dimensions that were named, or are the defaults, are one further back in a batch."""
    found = _schemas.find(func, args, kwargs)
    if found is None:
        return loop(level, func, args, kwargs)
    parameters, bound = found
    tensor = bound.pop("input", None)
    if not level.has(tensor) or level.any_batched(bound.values()):
        return loop(level, func, args, kwargs)
    rank = rank_of(level, tensor)
    if rank == 0:
        return loop(level, func, args, kwargs)
    for parameter in parameters:
        if _is_dims(parameter):
            dims = bound.get(parameter.name, parameter.default)
            if dims in (None, (), []):
                return loop(level, func, args, kwargs)
            bound[parameter.name] = _shifted(dims, rank)
    return finish(level, func.__name__, args, func(tensor._value, **bound))


RULES.update({f"{name}{end}": along for name in _ALONG.split() for end in ("", "_")})


@rule(_REDUCING)
def _reduced(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.__name__
    if level.has(args[0]) and len(args) == 1 and not kwargs and name in _ALL:
        value = args[0]._value
        return level.batched(_ALL[name](value if value.dim() > 1 else value.unsqueeze(1)))
    found = _schemas.find(func, args, kwargs)
    if found is None:
        return loop(level, func, args, kwargs)
    parameters, bound = found
    if isinstance(bound.get("other"), Tensor):
        return RULES["maximum"](level, func, args, kwargs)
    tensor = bound.pop("input")
    rank = rank_of(level, tensor)
    value = level.value(tensor)
    if not level.has(tensor) or level.any_batched(bound.values()):
        return loop(level, func, args, kwargs)
    if bound.get("dim", ()) not in (None, (), []):
        if rank == 0:
            return loop(level, func, args, kwargs)
        bound["dim"] = _shifted(bound["dim"], rank)
        return level.wrap(func(value, **bound))
    # All of every element: laid out in one dimension, which is reduced.
    if name in ("norm", "native_norm", "nanmedian", "median", "count_nonzero") and not any(map(_is_dims, parameters)):
        return loop(level, func, args, kwargs)
    if rank != 1:
        value = value.flatten(1) if rank else value.unsqueeze(1)
    if name in ("max", "min"):
        return level.batched((torch.amax if name == "max" else torch.amin)(value, 1))
    keeps = bound.get("keepdim", False)
    bound["dim"] = 1
    result = func(value, **bound)
    if keeps and rank != 1:
        shape = (level.size, *(1,) * rank)
        result = tuple(part.reshape(shape) for part in result) if isinstance(result, tuple) else result.reshape(shape)
    return level.wrap(result)


def _over_all(function: Callable[..., Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda value: function(value, tuple(range(1, value.dim())))


def _over_flat(function: Callable[..., Any]) -> Callable[[Tensor], Tensor]:
    def of(value: Tensor) -> Tensor:
        result = function(value.flatten(1), 1)
        return result[0] if isinstance(result, tuple) else result

    return of


# Without any argument, by name.
_ALL: dict[str, Callable[[Tensor], Tensor]] = {
    **{
        name: _over_all(getattr(torch, name))
        for name in ("sum", "mean", "amax", "amin", "nansum", "nanmean", "var", "std")
    },
    "max": _over_all(torch.amax),
    "min": _over_all(torch.amin),
    **{
        name: _over_flat(getattr(torch, name))
        for name in ("prod", "any", "all", "argmax", "argmin", "median", "nanmedian", "count_nonzero")
    },
}


@rule("linalg_norm")
def _linalg_norm(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or not level.has(bound["input"]):
        return loop(level, func, args, kwargs)
    tensor = bound.pop("input")
    rank, value = rank_of(level, tensor), tensor._value
    if rank == 0:
        return loop(level, func, args, kwargs)
    if bound.get("dim") is not None:
        bound["dim"] = _shifted(bound["dim"], rank)
    elif bound.get("ord") is None and not bound.get("keepdim"):
        value, bound["dim"] = value.flatten(1), 1
    elif bound.get("ord") is not None and rank <= 2:
        bound["dim"] = tuple(range(1, rank + 1))
    else:
        return loop(level, func, args, kwargs)
    return level.batched(func(value, **bound))


@rule("fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_fftshift fft_ifftshift")
def _fft(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or not level.has(bound["input"]) or bound.get("s") is not None:
        return loop(level, func, args, kwargs)
    tensor = bound.pop("input")
    rank = rank_of(level, tensor)
    if rank == 0:
        return loop(level, func, args, kwargs)
    dims = bound.get("dim")
    bound["dim"] = _shifted(tuple(range(rank)) if dims is None else dims, rank)
    return level.batched(func(tensor._value, **bound))


# ---------------------------------------------------------------------- positions along a dimension


@rule("gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ index_select")
@rule("index_add index_add_ index_copy index_copy_ index_fill index_fill_")
def _by_positions(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = func.__name__
    bound = _schemas.bind(func, args, kwargs)
    if bound is None:
        return loop(level, func, args, kwargs)
    if is_write(name):
        check_written(level, name, bound["input"], list(bound.values())[1:])
    rank = rank_of(level, bound["input"])
    if rank == 0 or rank_of(level, bound["index"]) == 0:
        return loop(level, func, args, kwargs)
    dim = normalized(bound["dim"], rank)
    tensors = [key for key, value in bound.items() if isinstance(value, Tensor)]
    if name.startswith("index_"):
        if level.has(bound["index"]):
            if name == "index_select":
                rows = level.expanded(bound["input"]).movedim(dim + 1, 1)
                at = torch.arange(level.size, device=rows.device).unsqueeze(1)
                return level.batched(rows[at, bound["index"]._value].movedim(1, dim + 1))
            return loop(level, func, args, kwargs)
        tensors.remove("index")
        if name.startswith("index_fill") and "value" in tensors:
            return loop(level, func, args, kwargs)
    for key in tensors:
        bound[key] = level.expanded(bound[key])
    bound["dim"] = dim + 1
    return finish(level, name, args, func(bound.pop("input"), **bound))


@rule("cat concat concatenate")
def _cat(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None:
        return loop(level, func, args, kwargs)
    tensors = bound["tensors"]
    ranks = {rank_of(level, tensor) for tensor in tensors}
    if len(ranks) > 1 or ranks == {0}:  # an empty one of another rank is allowed
        return loop(level, func, args, kwargs)
    dim = normalized(bound.get("dim", 0), ranks.pop())
    return level.batched(torch.cat([level.expanded(tensor) for tensor in tensors], dim + 1))


@rule("stack")
def _stack(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None:
        return loop(level, func, args, kwargs)
    tensors = bound["tensors"]
    dim = normalized(bound.get("dim", 0), rank_of(level, tensors[0]) + 1)
    return level.batched(torch.stack([level.expanded(tensor) for tensor in tensors], dim + 1))
