"""Modules and their parameters apart, as `functorch` had them before `torch.func.functional_call`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.func._modules import functional_call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
]

Names = dict[str, list[str]]


def _named(model: nn.Module, kind: str) -> tuple[dict[str, Tensor], Names]:
    """Parameters or buffers by the first name of each, and all names of each."""
    shared: dict[int, str] = {}
    first: dict[str, Tensor] = {}
    names: Names = {}
    for name, tensor in getattr(model, f"named_{kind}")(remove_duplicate=False):
        known = shared.setdefault(id(tensor), name)
        first.setdefault(known, tensor)
        names.setdefault(known, []).append(name)
    return first, names


class FunctionalModuleWithBuffers(nn.Module):
    """A module that is called with its parameters and buffers: `module(params, buffers, *inputs)`."""

    def __init__(
        self,
        stateless_model: nn.Module,
        param_names: tuple[str, ...],
        buffer_names: tuple[str, ...],
        param_names_map: Names,
        buffer_names_map: Names,
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = {**param_names_map, **buffer_names_map}

    @staticmethod
    def _create_from(
        model: nn.Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
        stateless = copy.deepcopy(model)
        parameters, parameter_names = _named(stateless, "parameters")
        buffers, buffer_names = _named(stateless, "buffers")
        if disable_autograd_tracking:
            for parameter in parameters.values():
                parameter.requires_grad_(False)
        module = FunctionalModuleWithBuffers(
            stateless, tuple(parameters), tuple(buffers), parameter_names, buffer_names
        )
        return module, tuple(parameters.values()), tuple(buffers.values())

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """What the module returns with these tensors in the place of its own."""
        state = dict(zip((*self.param_names, *self.buffer_names), (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(nn.Module):
    """A module without buffers that is called with its parameters: `module(params, *inputs)`."""

    def __init__(self, stateless_model: nn.Module, param_names: tuple[str, ...], names_map: Names) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.names_map = names_map

    @staticmethod
    def _create_from(
        model: nn.Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
        both, parameters, _ = FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)
        return FunctionalModule(both.stateless_model, both.param_names, both.all_names_map), parameters

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """What the module returns with these tensors in the place of its own."""
        return functional_call(self.stateless_model, dict(zip(self.param_names, params, strict=True)), args, kwargs)


def make_functional(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """The module as a function of its parameters, and copies of these. RuntimeError if it has buffers.

    >>> function, parameters = torch._functorch.make_functional.make_functional(torch.nn.Linear(1, 1, bias=False))
    >>> function([torch.full_like(parameters[0], 3.0)], torch.ones(1))
    tensor([3.])
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The module as a function of its parameters and buffers, and copies of both."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(
    models: Sequence[nn.Module],
) -> tuple[Callable[..., Any], tuple[Tensor, ...], tuple[Tensor, ...]]:
    """One function for models of one class, and their parameters and buffers, stacked along a new first dimension."""
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, parameters, buffers = zip(*map(make_functional_with_buffers, models), strict=True)
    stacked = [
        tuple(torch.stack(column).detach() for column in zip(*tensors, strict=True))
        for tensors in (parameters, buffers)
    ]
    return functions[0], stacked[0], stacked[1]
