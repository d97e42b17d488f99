"""`Optimizer`: parameter groups, their options, and the state that an optimizer keeps per parameter."""

from __future__ import annotations

from collections import defaultdict
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Parameters = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base of the optimizers. `param_groups`: dicts with "params" and options; `state`: parameter -> dict."""

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{_kind(params)}"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._pre_hooks: dict[int, Any] = {}
        self._post_hooks: dict[int, Any] = {}
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    # ------------------------------------------------------------------ groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = list(params)
        if params and all(isinstance(item, tuple) for item in params):
            param_group["param_names"] = [name for name, _ in params]
            params = [parameter for _, parameter in params]
        param_group["params"] = params
        for parameter in params:
            if not isinstance(parameter, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_kind(parameter)}")
            if not (parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len({id(parameter) for parameter in params}) != len(params):
            import warnings

            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        known = {id(parameter) for group in self.param_groups for parameter in group["params"]}
        if not known.isdisjoint({id(parameter) for parameter in params}):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            options = "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
            lines.append(f"\nParameter Group {number}\n{options}")
        return f"{type(self).__name__} (" + "".join(lines) + ")"

    # ------------------------------------------------------------------ stepping

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters from their gradients. `closure` computes loss and gradients anew, and is returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for hook in list(self._pre_hooks.values()):
            hook(self, (closure,), {})
        with torch.no_grad():
            for group in self.param_groups:
                with_gradient = [parameter for parameter in group["params"] if parameter.grad is not None]
                self._update(group, with_gradient)
        for hook in list(self._post_hooks.values()):
            hook(self, (closure,), {})
        return loss

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        """One step for the parameters of one group; gradients are off."""
        raise NotImplementedError(f"{type(self).__name__} must define _update(group, parameters), or step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients, or fills them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad = None if set_to_none else parameter.grad.detach().zero_()

    def register_step_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` before each step."""
        handle = RemovableHandle(self._pre_hooks)
        self._pre_hooks[handle.id] = hook
        return handle

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        handle = RemovableHandle(self._post_hooks)
        self._post_hooks[handle.id] = hook
        return handle

    # ------------------------------------------------------------------ state

    def state_dict(self) -> dict[str, Any]:
        """{"state": {number: state}, "param_groups": [...]} with numbers in place of parameters, as PyTorch has it."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            options = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options, "params": [numbers[id(parameter)] for parameter in group["params"]]})
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what `state_dict` gave; the groups must have as many parameters as here."""
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        pairs = list(zip(self.param_groups, groups, strict=True))
        if any(len(own["params"]) != len(saved["params"]) for own, saved in pairs):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        parameter_of = dict(
            zip(
                chain.from_iterable(saved["params"] for _, saved in pairs),
                chain.from_iterable(own["params"] for own, _ in pairs),
                strict=True,
            )
        )
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = parameter_of.get(key)
            state[key if parameter is None else parameter] = (
                deepcopy(value) if parameter is None else _like(value, parameter)
            )
        self.state = state
        self.param_groups = [{**saved, "params": own["params"]} for own, saved in pairs]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pre_hooks, self._post_hooks = {}, {}


def _like(value: Any, parameter: Tensor, key: str = "") -> Any:
    """A copy of saved state at the parameter's device and dtype; `step` stays a float32 number on the CPU."""
    if isinstance(value, Tensor):
        if key == "step":
            return value.detach().clone().to(torch.float32)
        dtype = parameter.dtype if parameter.is_floating_point() else value.dtype
        return value.detach().clone().to(parameter.device, dtype)
    if isinstance(value, dict):
        return {name: _like(item, parameter, name) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_like(item, parameter) for item in value)
    return deepcopy(value)


def _kind(value: object) -> str:
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def refuse(optimizer: str, **options: object) -> None:
    """Raises NotImplementedError for the options of PyTorch's variants (all compute the same) that are not here."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"{optimizer}({name}={value!r}) is not supported: leave it out")


def check_not_negative(**options: Any) -> None:
    """Raises PyTorch's ValueError for a negative learning rate, epsilon, ..."""
    words = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {words.get(name, name + ' value')}: {value}")


def gradient_of(parameter: Tensor, maximize: bool) -> Tensor:
    """The gradient to descend along."""
    gradient = parameter.grad
    assert gradient is not None, "step() hands over parameters with gradients only"
    return -gradient if maximize else gradient
