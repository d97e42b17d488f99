"""Rules of convolutions, windows over images, and normalisations: the batch joins dimension N, or the channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch import _schemas
from torch._functorch._rules import RULES, aligned, loop, rank_of, rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._functorch._levels import Level

# By name: over how many dimensions windows go; (N, C, ...) and (C, ...) are taken.
_OVER = {
    **{f"{kind}{count}d": count for count in (1, 2, 3) for kind in (
        "max_pool", "avg_pool", "adaptive_max_pool", "adaptive_avg_pool", "reflection_pad", "replication_pad")},
    **{f"max_pool{count}d_with_indices": count for count in (1, 2, 3)},
    "im2col": 2,
    "unfold": 2,
    "col2im": 1,
}  # fmt: skip


def _folded(count: int) -> Any:
    def of(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensor = args[0] if args else None
        if not level.has(tensor) or level.any_batched((*args[1:], *kwargs.values())) or level.size == 0:
            return loop(level, func, args, kwargs)
        value, rank = tensor._value, rank_of(level, tensor)
        if rank == count + 1:
            return level.wrap(func(value, *args[1:], **kwargs))
        if rank != count + 2:
            return loop(level, func, args, kwargs)
        result = func(value.flatten(0, 1), *args[1:], **kwargs)
        parts = result if isinstance(result, tuple) else (result,)
        parts = tuple(part.unflatten(0, value.shape[:2]) for part in parts)
        return level.wrap(type(result)(parts) if isinstance(result, tuple) else parts[0])

    return of


RULES.update({name: _folded(count) for name, count in _OVER.items()})


@rule("pixel_shuffle pixel_unshuffle constant_pad_nd")
def _before(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The last dimensions count; any others come before."""
    if not level.has(args[0]) or level.any_batched((*args[1:], *kwargs.values())):
        return loop(level, func, args, kwargs)
    return level.batched(func(args[0]._value, *args[1:], **kwargs))


@rule("pad")
def _pad(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or not level.has(bound["input"]):
        return loop(level, func, args, kwargs)
    if bound.get("mode", "constant") == "constant":
        return level.batched(func(bound.pop("input")._value, **bound))
    return _folded(len(bound["pad"]) // 2)(level, func, args, kwargs)


@rule("_interpolate channel_shuffle native_channel_shuffle")
def _images(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _folded(rank_of(level, args[0]) - 2)(level, func, args, kwargs)


@rule("grid_sampler grid_sampler_2d grid_sampler_3d")
def _grid_sampler(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if level.size == 0:
        return loop(level, func, args, kwargs)
    image, grid = (level.expanded(tensor) for tensor in args[:2])
    result = func(image.flatten(0, 1), grid.flatten(0, 1), *args[2:], **kwargs)
    return level.batched(result.unflatten(0, image.shape[:2]))


# ---------------------------------------------------------------------- convolutions


def _convolve(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    count = int(func.__name__[-2])
    is_transposed = "transpose" in func.__name__
    if bound is None or level.size == 0:
        return loop(level, func, args, kwargs)
    tensor, weight, bias = bound.pop("input"), bound.pop("weight"), bound.pop("bias", None)
    rank = rank_of(level, tensor)
    if rank not in (count + 1, count + 2) or rank_of(level, weight) != count + 2:
        return loop(level, func, args, kwargs)
    has_images = rank == count + 2
    if level.has(bias) and not level.has(weight):  # added afterwards
        with level.inside():
            return func(tensor, weight, **bound) + bias.view(-1, *(1,) * count)
    if not level.has(weight):
        value = tensor._value
        result = func(value.flatten(0, 1) if has_images else value, weight, bias, **bound)
        return level.batched(result.unflatten(0, value.shape[:2]) if has_images else result)
    # Weights of their own: the elements are groups of channels.
    groups = bound.pop("groups", 1)
    value = level.expanded(tensor)
    if not has_images:
        value = value.unsqueeze(1)
    kernels = weight._value
    shared = not level.has(tensor) and groups == 1 and not is_transposed
    if shared:  # one image under all kernels
        rows = tensor if has_images else tensor.unsqueeze(0)
        shared_groups = 1
    else:
        rows = value.transpose(0, 1).flatten(1, 2)
        shared_groups = groups * level.size
    offsets = None if bias is None else level.expanded(bias).flatten()
    result = func(rows, kernels.flatten(0, 1), offsets, groups=shared_groups, **bound)
    result = result.unflatten(1, (level.size, -1)).transpose(0, 1)
    return level.batched(result if has_images else result.squeeze(1))


RULES.update({f"conv{kind}{count}d": _convolve for count in (1, 2, 3) for kind in ("", "_transpose")})


# ---------------------------------------------------------------------- normalisations


@rule("layer_norm rms_norm")
def _layer_norm(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or not level.has(bound["input"]):
        return loop(level, func, args, kwargs)
    tensor = bound.pop("input")
    weight, bias = bound.get("weight"), bound.get("bias")
    own = {name: bound.pop(name) for name in ("weight", "bias") if level.has(bound.get(name))}
    if "weight" in own and bias is not None:
        bound.pop("bias", None)
    result = func(tensor._value, **bound)
    rank = rank_of(level, tensor)
    if "weight" in own:
        result = result * aligned(level, weight, rank)
    if bias is not None and own:
        result = result + aligned(level, bias, rank)
    return level.batched(result)


def _affine(level: Level, result: Tensor, weight: Any, bias: Any) -> Tensor:
    """Channels of (batch, N, C, ...) scaled and moved."""
    after = result.dim() - 3
    for values, function in ((weight, torch.mul), (bias, torch.add)):
        if values is not None:
            own = level.value(values)
            shape = (level.size, 1, -1) if level.has(values) else (1, 1, -1)
            result = function(result, own.reshape(*shape, *(1,) * after))
    return result


@rule("group_norm")
def _group_norm(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or not level.has(bound["input"]) or level.size == 0:
        return loop(level, func, args, kwargs)
    tensor = bound.pop("input")
    if not (level.has(bound.get("weight")) or level.has(bound.get("bias"))):
        weight = bias = None
    else:
        weight, bias = bound.pop("weight", None), bound.pop("bias", None)
    value = tensor._value
    result = func(value.flatten(0, 1), **bound).unflatten(0, value.shape[:2])
    return level.batched(_affine(level, result, weight, bias))


@rule("batch_norm instance_norm")
def _batch_norm(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The elements are more channels, which are normalised alone anyway."""
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or level.size == 0:
        return loop(level, func, args, kwargs)
    tensor, weight, bias = bound.pop("input"), bound.pop("weight", None), bound.pop("bias", None)
    stats = [bound.get("running_mean"), bound.get("running_var")]
    writes = bound.get("training", bound.get("use_input_stats"))
    if writes and any(each is not None and not level.has(each) for each in stats) and level.has(tensor):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
            "`track_running_stats` to be False. If you are using a prebuilt module and do not need eval mode, please "
            "use torch.func.replace_all_batch_norm_modules_, which sets it for all of them."
        )
    rank = rank_of(level, tensor)
    if rank < 2 or (any(level.has(each) for each in stats) and writes and not all(map(level.has, stats))):
        return loop(level, func, args, kwargs)
    value = level.expanded(tensor)
    for name, each in zip(("running_mean", "running_var"), stats, strict=True):
        if each is not None:
            bound[name] = level.expanded(each).reshape(-1)  # of a batch a view, which is written
    joined = value.transpose(0, 1).flatten(1, 2)
    result = func(joined, weight=None, bias=None, **bound).unflatten(1, (level.size, -1)).transpose(0, 1)
    return level.batched(_affine(level, result, weight, bias))
