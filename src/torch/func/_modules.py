"""Modules as functions of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._functorch._levels import bottom, get_unwrapped, is_batchedtensor
from torch.nn.utils import stateless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def functional_call(
    module: nn.Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with tensors of a dict (or of several) in the place of its parameters and buffers.

    >>> layer = torch.nn.Linear(1, 1, bias=False)
    >>> torch.func.functional_call(layer, {"weight": torch.full((1, 1), 3.0)}, torch.ones(1))
    tensor([3.])
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        merged = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        names = [name for part in parameter_and_buffer_dicts for name in part]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        merged = {name: value for part in parameter_and_buffer_dicts for name, value in part.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return stateless._functional_call(module, merged, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Sequence[nn.Module] | nn.ModuleList) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of modules of one class, stacked along a new first dimension, for `vmap`."""
    modules = list(models)
    if not modules:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in modules) or all(not m.training for m in modules)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(modules[0]) for m in modules):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    listed = [dict(m.named_parameters()) for m in modules]
    parameters = {name: _stack([each[name] for each in listed], name) for name in listed[0]}
    listed = [dict(m.named_buffers()) for m in modules]  # type: ignore[misc]
    buffers = {name: _stack([each[name] for each in listed], name) for name in listed[0]}
    return parameters, buffers


def replace_all_batch_norm_modules_(root: nn.Module) -> nn.Module:
    """`root`, whose batch normalisations keep no running statistics from now on: `vmap` cannot write them."""
    for module in root.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The batch behind a tensor inside `vmap`, with `recurse` behind all of its levels; other tensors as they are."""
    if recurse:
        return bottom(tensor)
    return get_unwrapped(tensor) if is_batchedtensor(tensor) else tensor


def _stack(tensors: list[Any], name: str) -> Any:
    wanted = [tensor.requires_grad for tensor in tensors]
    if any(wanted) != all(wanted):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    if all(tensor.is_leaf for tensor in tensors):
        return torch.stack([tensor.detach() for tensor in tensors]).requires_grad_(all(wanted))
    return torch.stack(tensors)
