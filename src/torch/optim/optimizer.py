"""`Optimizer`: parameter groups, their options, and the state that an optimizer keeps per parameter."""

from __future__ import annotations

from collections import defaultdict
from copy import deepcopy
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Parameters = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]

ParamsT = params_t = Any  # PyTorch's names of `Parameters`, for annotations of programs

_global_pre_hooks: dict[int, Any] = {}
_global_post_hooks: dict[int, Any] = {}


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step` of an optimizer with its hooks around it, once, even if it calls the `step` of its base."""

    @wraps(step)
    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        # A wrapper of another optimizer need not have called __init__: then it has no hooks.
        if self.__dict__.get("_stepping", False) or "_pre_hooks" not in self.__dict__:
            return step(self, *args, **kwargs)
        for hook in [*_global_pre_hooks.values(), *self._pre_hooks.values()]:
            answer = hook(self, args, kwargs)
            if answer is not None:
                if not (isinstance(answer, tuple) and len(answer) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {answer}."
                    )
                args, kwargs = answer
        self._stepping = self._opt_called = True
        try:
            answer = step(self, *args, **kwargs)
        finally:
            del self._stepping
        for hook in [*self._post_hooks.values(), *_global_post_hooks.values()]:
            hook(self, args, kwargs)
        return answer

    return run


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
        self._make_hooks()
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

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
            if not (self.defaults.get("differentiable") or parameter.is_leaf or parameter.retains_grad):
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

    @_with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters from their gradients. `closure` computes loss and gradients anew, and is returned."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(bool(self.defaults.get("differentiable")))
        try:
            for group in self.param_groups:
                with_gradient = [parameter for parameter in group["params"] if parameter.grad is not None]
                self._update(group, with_gradient)
        finally:
            torch.set_grad_enabled(before)
        return loss

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        """One step for the parameters of one group; gradients are off unless the group is differentiable."""
        raise NotImplementedError(f"{type(self).__name__} must define _update(group, parameters), or step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients, or fills them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad = None if set_to_none else parameter.grad.detach().zero_()

    # ------------------------------------------------------------------ hooks

    def _make_hooks(self) -> None:
        self._pre_hooks: dict[int, Any] = {}
        self._post_hooks: dict[int, Any] = {}
        self._state_dict_pre_hooks: dict[int, Any] = {}
        self._state_dict_post_hooks: dict[int, Any] = {}
        self._load_pre_hooks: dict[int, Any] = {}
        self._load_post_hooks: dict[int, Any] = {}

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` before each step; a tuple that it returns replaces both."""
        return _register(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        return _register(self._post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer)` before `state_dict()`."""
        return _register(self._state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` after `state_dict()`; what it returns replaces the answer."""
        return _register(self._state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer, state_dict)` before loading; what it returns is loaded instead."""
        return _register(self._load_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Calls `hook(optimizer)` after loading."""
        return _register(self._load_post_hooks, hook, prepend)

    # ------------------------------------------------------------------ state

    def state_dict(self) -> dict[str, Any]:
        """{"state": {number: state}, "param_groups": [...]} with numbers in place of parameters, as PyTorch has it."""
        for hook in self._state_dict_pre_hooks.values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            options = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options, "params": [numbers[id(parameter)] for parameter in group["params"]]})
        state = {numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()}
        answer = {"state": state, "param_groups": groups}
        for hook in self._state_dict_post_hooks.values():
            changed = hook(self, answer)
            answer = answer if changed is None else changed
        return answer

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what `state_dict` gave; the groups must have as many parameters as here."""
        state_dict = dict(state_dict)
        for hook in self._load_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
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
        new_groups = []
        for own, saved in pairs:
            if "param_names" in own and "param_names" not in saved:
                saved["param_names"] = own["param_names"]
            new_groups.append({**saved, "params": own["params"]})
        self.__setstate__({"state": state, "param_groups": new_groups})
        for hook in self._load_post_hooks.values():
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_pre_hooks" not in self.__dict__:
            self._make_hooks()  # it was unpickled
        if "param_groups" in state:
            self._complete_groups()

    def _complete_groups(self) -> None:
        """Gives groups of older files the options that did not exist yet."""
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)


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
    if type(value) is Tensor:
        return value.type()
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _register(hooks: dict[int, Any], hook: Any, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        later = [(key, value) for key, value in hooks.items() if key != handle.id]
        hooks.clear()
        hooks.update({handle.id: hook, **dict(later)})
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(optimizer, args, kwargs)` before each step of every optimizer."""
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Calls `hook(optimizer, args, kwargs)` after each step of every optimizer."""
    return _register(_global_post_hooks, hook)


class ElementwiseOptimizer(Optimizer):
    """Base of the optimizers that update each parameter by itself. Options in how PyTorch computes the same numbers
    (`foreach`, `fused`, `capturable`) are kept in the groups and change nothing.
    """

    def __init__(self, params: Parameters, defaults: dict[str, Any]) -> None:
        check_not_negative(**{name: defaults[name] for name in _NOT_NEGATIVE if name in defaults})
        for number, beta in enumerate(defaults.get("betas", ())):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {number}: {beta}")
        if defaults.get("fused"):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        if isinstance(defaults["lr"], Tensor) and defaults["lr"].numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        super().__init__(params, defaults)
        for parameter in chain.from_iterable(group["params"] for group in self.param_groups if group.get("fused")):
            if not parameter.is_floating_point():
                raise RuntimeError(
                    "`fused=True` requires all the params to be floating point Tensors of supported devices: "
                    f"{_get_fused_kernels_supported_devices()} but {parameter.dtype} and {parameter.device.type}"
                )

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """What is kept of a parameter before its first step."""
        return {"step": new_step()}

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        for parameter in parameters:
            gradient = parameter.grad
            assert gradient is not None, "step() hands over parameters with gradients only"
            if gradient.is_sparse and not self._takes_sparse:
                raise RuntimeError(
                    f"{type(self).__name__} does not support sparse gradients, please consider SparseAdam instead"
                )
            if parameter.is_complex() and not self._takes_complex:
                raise RuntimeError(f"{type(self).__name__} does not support complex parameters")
            state = self.state.get(parameter) or self._first_state(parameter, group)
            self._step_parameter(group, parameter, gradient, state)
            if state:
                self.state[parameter] = state

    def _first_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """`_new_state`; of a complex parameter it is that of its real view, seen as complex."""
        if not parameter.is_complex():
            return self._new_state(parameter, group)
        view = torch.view_as_real(parameter)
        return {key: _as_complex(value, view) for key, value in self._new_state(view, group).items()}

    def _step_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        """One step of one parameter, counted, with its weight decay. A complex one's real and imaginary numbers are
        parameters of their own.
        """
        if parameter.is_complex():
            view = torch.view_as_real(parameter)
            views = {key: torch.view_as_real(kept) if kept.is_complex() else kept for key, kept in state.items()}
            self._step_parameter(group, view, torch.view_as_real(gradient), views)
            state.update({key: _as_complex(kept, view) for key, kept in views.items()})
            return
        if group.get("maximize"):
            gradient = -gradient
        if "step" in state:
            state["step"] += 1
        decay = group.get("weight_decay", 0)
        if decay != 0 and group.get("decoupled_weight_decay"):
            parameter.mul_(1 - number(group["lr"]) * number(decay))
        elif decay != 0 and self._adds_decay:
            if gradient.is_sparse:
                raise RuntimeError("weight_decay option is not compatible with sparse gradients")
            decay = number(decay)
            if isinstance(decay, Tensor):
                gradient = gradient + parameter.clone() * decay
            else:
                gradient = gradient.add(parameter, alpha=decay)
        self._update_parameter(group, parameter, gradient, state)

    _takes_sparse = False  # gradients
    _takes_complex = True  # parameters
    _adds_decay = True  # to the gradient, before `_update_parameter`

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        """One step of one parameter; `state["step"]` counts it already, and the gradient has its weight decay."""
        raise NotImplementedError(f"{type(self).__name__} must define _update_parameter()")

    def _complete_groups(self) -> None:
        super()._complete_groups()
        for state in self.state.values():  # steps were numbers once
            if "step" in state and not isinstance(state["step"], Tensor):
                state["step"] = torch.tensor(float(state["step"]), dtype=torch.float32)


_NOT_NEGATIVE = ("lr", "eps", "weight_decay", "momentum", "momentum_decay", "alpha", "lr_decay")


def _as_complex(kept: Tensor, view: Tensor) -> Tensor:
    """What is kept for each number of `view`, a complex parameter's real view, as complex numbers."""
    return torch.view_as_complex(kept) if kept.shape == view.shape else kept


def add_eps(root: Tensor, group: dict[str, Any]) -> Tensor:
    """`root` plus the group's `eps`: in place, unless a gradient will go through it."""
    return root + group["eps"] if group["differentiable"] else root.add_(group["eps"])


def new_step() -> Tensor:
    """The number of steps so far: a float32 (or, if that is the default dtype, float64) number on the CPU."""
    return torch.tensor(0.0, dtype=torch.float64 if torch.get_default_dtype() == torch.float64 else torch.float32)


def number(value: Any) -> Any:
    """An option, which may be a tensor of one element, as a number; a tensor still where a gradient will go to it."""
    if isinstance(value, Tensor) and not (value.requires_grad and torch.is_grad_enabled()):
        return value.item()
    return value


def add_scaled(target: Tensor, step: Tensor, scale: float | Tensor) -> None:
    """target += scale * step."""
    if isinstance(scale, Tensor):
        target.add_(step.clone() * scale)  # of the step as it is now, whatever state becomes later
    else:
        target.add_(step, alpha=scale)


def add_ratio(target: Tensor, step: Tensor, divisor: Tensor, scale: float | Tensor) -> None:
    """target += scale * step / divisor."""
    if isinstance(scale, Tensor):
        target.add_(step / divisor * scale)
    else:
        target.addcdiv_(step, divisor, value=scale)


def decay_squares(squares: Tensor, gradient: Tensor, beta: float | Tensor) -> None:
    """squares = beta * squares + (1 - beta) * gradient ** 2."""
    squares.mul_(beta)
    if isinstance(beta, Tensor):
        squares.add_(gradient * gradient * (1 - beta))
    else:
        squares.addcmul_(gradient, gradient, value=1 - beta)


def check_not_negative(**options: Any) -> None:
    """Raises PyTorch's ValueError for a negative learning rate, epsilon, ..."""
    words = {"lr": "learning rate", "eps": "epsilon value"}
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {words.get(name, name + ' value')}: {value}")


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of `step` that records gradients only if the optimizer is differentiable."""

    @wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    return x


def _dispatch_sqrt(x: Any) -> Any:
    return x.sqrt() if isinstance(x, Tensor) else x**0.5


def _default_to_fused_or_foreach(params: Any, differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Whether to use fused or foreach steps: neither, each parameter takes its own."""
    return False, False


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Puts real views of two columns in place of complex tensors."""
    for place, parameter in enumerate(params):
        if torch.is_complex(parameter):
            for tensors in (params, *state_and_grads):
                tensors[place] = torch.view_as_real(tensors[place])


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The types of devices whose graphs can hold a step."""
    return ["cuda"]


def _get_foreach_kernels_supported_devices() -> list[str]:
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    return ["cuda", "cpu"]


def _get_scalar_dtype(is_fused: bool | None = None) -> torch.dtype:
    """The dtype of `state["step"]`."""
    return torch.float32 if is_fused else new_step().dtype


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[Any], Any]:
    """A decorator that changes nothing: nothing is compiled."""
    return lambda function: function
