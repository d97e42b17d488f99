"""Rules of `x[...]` and of tables of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch import _schemas
from torch._functorch._rules import check_written, dynamic_shape, loop, rank_of, rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._functorch._levels import Level


def _parts(index: Any) -> tuple[Any, ...]:
    if isinstance(index, list):
        return (torch.as_tensor(index),) if all(isinstance(item, (int, bool)) for item in index) else tuple(index)
    return tuple(index) if isinstance(index, tuple) else (index,)


def _is_mask(part: Any) -> bool:
    return isinstance(part, Tensor) and part.dtype in (torch.bool, torch.uint8)


def _uses(part: Any) -> int:
    """How many dimensions a part of an index stands for."""
    return 0 if part is None or isinstance(part, bool) else 1


def _whole(level: Level, rank: int, index: Any) -> tuple[Any, ...] | None:
    """An index's parts, one for every dimension; None where a rule for them is not worth having."""
    parts = tuple(torch.as_tensor(part) if isinstance(part, list) and not level.any_batched(part) else part
                  for part in _parts(index))  # fmt: skip
    with level.inside():
        if any(isinstance(part, (list, bool)) or _is_mask(part) for part in parts):
            return None
    missing = rank - sum(map(_uses, (part for part in parts if part is not Ellipsis)))
    if missing < 0:
        return None
    fill = (slice(None),) * missing
    for place, part in enumerate(parts):
        if part is Ellipsis:
            return (*parts[:place], *fill, *parts[place + 1 :])
    return (*parts, *fill)


def _by_tensors(level: Level, parts: tuple[Any, ...]) -> tuple[tuple[Any, ...], int, int] | None:
    """The index of the value that is at (element, position, rest), where positions belong in an element, how many dims.

    Whole numbers count as tensors of positions, as everywhere.
    """
    places = [place for place, part in enumerate(parts) if isinstance(part, (int, Tensor))]
    rank = max(rank_of(level, parts[place]) if isinstance(parts[place], Tensor) else 0 for place in places)
    index = list(parts)
    for place in places:
        part = parts[place]
        if isinstance(part, Tensor):
            value = level.value(part)
            missing = rank - rank_of(level, part)
            index[place] = value[(slice(None), *(None,) * missing)] if level.has(part) and missing else value
    device = next(part.device for part in index if isinstance(part, Tensor))
    elements = torch.arange(level.size, device=device).view(-1, *(1,) * rank)
    together = places == list(range(places[0], places[-1] + 1))
    before = sum(1 for part in parts[: places[0]]) if together else 0
    return (elements, *index), before, rank


def _is_plain(part: Any) -> bool:
    return part is None or isinstance(part, (int, slice))


@rule("__getitem__")
def _getitem(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, index = args
    parts = _parts(index)
    if level.has(tensor) and all(_is_plain(part) or part is Ellipsis for part in parts):
        count = sum(map(_uses, (part for part in parts if part is not Ellipsis)))
        if count > rank_of(level, tensor):
            raise IndexError(f"too many indices for tensor of dimension {rank_of(level, tensor)}")
        return level.batched(tensor._value[(slice(None), *parts)])
    if level.any_batched(parts):
        with level.inside():
            if any(_is_mask(part) for part in parts) and not level.uniform:
                raise dynamic_shape("nonzero")
    whole = _whole(level, rank_of(level, tensor), index)
    if whole is None or any(isinstance(part, slice) and level.any_batched((part.start, part.stop)) for part in whole):
        return loop(level, func, args, kwargs)
    if not level.has(tensor) and all(
        level.has(part) or (isinstance(part, slice) and part == slice(None)) for part in whole
    ):
        places = [place for place, part in enumerate(whole) if not isinstance(part, slice)]
        if len(places) == 1:  # rows of a table that all elements share
            place = places[0]
            picked = tensor[tuple(level.value(part) for part in whole)]
            return level.batched(picked.movedim(place, 0))
    at, before, rank = _by_tensors(level, whole)  # type: ignore[misc]
    picked = level.expanded(tensor)[at]
    if before and rank:
        picked = picked.movedim(tuple(range(1, rank + 1)), tuple(range(1 + before, 1 + before + rank)))
    return level.batched(picked)


@rule("__setitem__")
def _setitem(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, index, given = args
    check_written(level, "__setitem__", tensor, (*_parts(index), given))
    parts = _parts(index)
    if not all(_is_plain(part) or part is Ellipsis for part in parts):
        whole = _whole(level, rank_of(level, tensor), index)
        if whole is None:
            with level.inside():
                if len(parts) == 1 and _is_mask(parts[0]) and (not isinstance(given, Tensor) or given.dim() == 0):
                    mask = parts[0]
                    mask = mask.reshape(*mask.shape, *(1,) * (tensor.dim() - mask.dim()))
                    chosen = torch.where(mask, given, tensor)
                    tensor.copy_(chosen)
                    return None
            return loop(level, func, args, kwargs) and None
        at, before, rank = _by_tensors(level, whole)  # type: ignore[misc]
        if (before and rank) or (isinstance(given, Tensor) and not level.has(given) and given.dim() > 0 and before):
            loop(level, func, args, kwargs)
            return None
    else:
        at = (slice(None), *parts)
    if level.has(given):
        target = tensor._value[at]
        value = given._value
        while value.dim() > target.dim() and value.shape[1] == 1:
            value = value.squeeze(1)
        missing = target.dim() - value.dim()
        given = value[(slice(None), *(None,) * missing)] if missing > 0 else value
    tensor._value[at] = given
    return None


@rule("index_put index_put_")
def _index_put(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    name = func.__name__
    if bound is None or bound.get("accumulate"):
        return loop(level, func, args, kwargs)
    tensor, indices = bound["input"], bound["indices"]
    if name == "index_put_":
        check_written(level, name, tensor, (indices, bound["values"]))
    with level.inside():
        if any(each is None or _is_mask(each) for each in indices):
            with level.outside():
                return loop(level, func, args, kwargs)
        target = tensor if name == "index_put_" else level.batched(level.expanded(tensor).clone())
        target[tuple(indices)] = bound["values"]
        return target


@rule("embedding")
def _embedding(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None:
        return loop(level, func, args, kwargs)
    values = list(bound)
    weight, indices = bound.pop(values[0]), bound.pop(values[1])
    if not level.has(weight):
        return level.batched(func(weight, indices._value, **bound))
    if bound.get("sparse") or bound.get("scale_grad_by_freq"):
        return loop(level, func, args, kwargs)
    # One table of all elements' rows; an index of padding is not one of them all.
    count = weight._value.shape[1]
    places = torch.arange(level.size, device=weight._value.device) * count
    rank = rank_of(level, indices)
    rows = level.value(indices) + places.view(-1, *(1,) * rank)
    picked = func(weight._value.flatten(0, 1), rows)
    padding = bound.get("padding_idx", -1)
    if padding is not None and padding >= 0 and picked.requires_grad:
        still = level.value(indices) == padding
        picked = torch.where(still.unsqueeze(-1), picked.detach(), picked)
    return level.batched(picked)


@rule("one_hot")
def _one_hot(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or bound.get("num_classes", -1) < 0:
        return loop(level, func, args, kwargs)
    return level.batched(func(level.value(args[0]), bound["num_classes"]))


@rule("multilabel_margin_loss")
def _multilabel_margin_loss(
    level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The losses of all rows, then the mean by element."""
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or level.size == 0 or rank_of(level, bound["input"]) not in (1, 2):
        return loop(level, func, args, kwargs)
    rows, aims = level.expanded(bound["input"]), level.expanded(bound["target"])
    losses = func(rows.flatten(0, -2), aims.flatten(0, -2), 0).reshape(rows.shape[:-1])
    reduction = bound.get("reduction", 1)
    if reduction == 0 or losses.dim() == 1:
        return level.batched(losses)
    return level.batched(losses.mean(1) if reduction == 1 else losses.sum(1))


@rule("nll_loss cross_entropy_loss")
def _nll_loss(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The losses of all rows, then the mean by element, weighted as the function does."""
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or level.size == 0:
        return loop(level, func, args, kwargs)
    scores, target, weight = bound.pop("input"), bound.pop("target"), bound.get("weight")
    reduction = bound.pop("reduction", 1)
    rank = rank_of(level, scores)
    if level.has(weight) or rank == 0 or (bound.get("label_smoothing", 0.0) and reduction == 1 and weight is not None):
        return loop(level, func, args, kwargs)
    is_class = not level.value(target).is_floating_point()
    if not is_class and (weight is not None or rank_of(level, target) != rank):
        return loop(level, func, args, kwargs)
    rows, aims = level.expanded(scores), level.expanded(target)
    if rank > 1:
        rows, aims = rows.flatten(0, 1), aims.flatten(0, 1)
    losses = func(rows, aims, reduction=0, **bound)
    if rank > 1:
        losses = losses.unflatten(0, (level.size, -1))
    dims = tuple(range(1, losses.dim()))
    if reduction == 0 or (rank == 1 and reduction == 2):
        return level.batched(losses)
    total = losses.sum(dims) if dims else losses
    if reduction == 2:
        return level.batched(total)
    if not is_class:
        count: Any = max(losses.numel() // level.size, 1)
        return level.batched(total / count)
    counted = level.expanded(target)
    ignored = bound.get("ignore_index", -100)
    used = counted != ignored
    share = used.to(losses.dtype) if weight is None else weight[counted.where(used, 0)] * used
    return level.batched(total / (share.sum(tuple(range(1, share.dim()))) if share.dim() > 1 else share))
