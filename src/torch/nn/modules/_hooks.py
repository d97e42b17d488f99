"""Hooks: functions that are called around a module's forward, backward and state dict."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable


class _EveryModule:
    """Hooks that are called for all modules, before each one's own."""

    def __init__(self) -> None:
        self.forward_pre: dict[int, Any] = OrderedDict()
        self.forward: dict[int, Any] = OrderedDict()
        self.forward_with_kwargs: dict[int, bool] = {}
        self.forward_always: dict[int, bool] = {}
        self.backward_pre: dict[int, Any] = {}
        self.backward: dict[int, Any] = {}
        self.is_full_backward: bool | None = None
        self.registered: dict[str, dict[int, Any]] = {"parameter": {}, "buffer": {}, "module": {}}
        self.any_call = False

    def update(self) -> None:
        """Notes whether a call has hooks to run."""
        self.any_call = bool(self.forward_pre or self.forward or self.backward_pre or self.backward)


EVERY_MODULE = _EveryModule()


class _EveryHandle(RemovableHandle):
    """Takes a hook of all modules away again."""

    def remove(self) -> None:
        """Takes the hook out; a second call does nothing."""
        super().remove()
        EVERY_MODULE.update()


def _add_for_every_module(hooks: dict[int, Any], hook: Any, *sets: dict[int, bool]) -> RemovableHandle:
    handle = _EveryHandle(hooks, extra=sets)
    hooks[handle.id] = hook
    for numbers in sets:
        numbers[handle.id] = True
    EVERY_MODULE.update()
    return handle


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, args)` before the forward of every module; it may return other arguments."""
    return _add_for_every_module(EVERY_MODULE.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls `hook(module, args, output)` after the forward of every module; it may return another output."""
    sets = [EVERY_MODULE.forward_with_kwargs] if with_kwargs else []
    sets += [EVERY_MODULE.forward_always] if always_call else []
    return _add_for_every_module(EVERY_MODULE.forward, hook, *sets)


def _choose_backward(full: bool) -> None:
    if EVERY_MODULE.is_full_backward is not None and EVERY_MODULE.is_full_backward != full and EVERY_MODULE.backward:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
            "Please use only one of them."
        )
    EVERY_MODULE.is_full_backward = full


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`register_module_full_backward_hook`, by the name of hooks that may get gradients of a part of a module."""
    _choose_backward(False)
    return _add_for_every_module(EVERY_MODULE.backward, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, grad_input, grad_output)` in backward, for every module; it may return another grad_input."""
    _choose_backward(True)
    return _add_for_every_module(EVERY_MODULE.backward, hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, grad_output)` before the backward of every module; it may return another grad_output."""
    return _add_for_every_module(EVERY_MODULE.backward_pre, hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, parameter)` when a module gets a parameter; it may return another one."""
    return _add_for_every_module(EVERY_MODULE.registered["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, buffer)` when a module gets a buffer; it may return another one."""
    return _add_for_every_module(EVERY_MODULE.registered["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls `hook(module, name, submodule)` when a module gets a submodule; it may return another one."""
    return _add_for_every_module(EVERY_MODULE.registered["module"], hook)


def run_registration_hooks(kind: str, module: Any, name: str, value: Any) -> Any:
    """What the hooks of all modules make of a value that is about to be registered."""
    for hook in EVERY_MODULE.registered[kind].values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


class _WrappedHook:
    """A hook of `load_state_dict`; with the module as its first argument if it wants that."""

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook: Any = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if module is not None:
            self.module: Any = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


_WrappedHook.__module__ = "torch.nn.modules.module"  # where PyTorch's pickles find it


class HooksMixin:
    """The part of `Module` that keeps and calls hooks."""

    _backward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Any]
    _is_full_backward_hook: bool | None
    _forward_hooks: dict[int, Any]
    _forward_pre_hooks: dict[int, Any]
    _state_dict_hooks: dict[int, Any]
    _state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_post_hooks: dict[int, Any]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]

    def _start_hooks(self) -> None:
        """Makes the empty dictionaries of hooks, past Module.__setattr__: those of PyTorch, in its order."""
        own = self.__dict__
        own["_backward_pre_hooks"] = OrderedDict()
        own["_backward_hooks"] = OrderedDict()
        own["_is_full_backward_hook"] = None
        for name in (
            "_forward_hooks",
            "_forward_hooks_with_kwargs",
            "_forward_hooks_always_called",
            "_forward_pre_hooks",
            "_forward_pre_hooks_with_kwargs",
            "_state_dict_hooks",
            "_state_dict_pre_hooks",
            "_load_state_dict_pre_hooks",
            "_load_state_dict_post_hooks",
        ):
            own[name] = OrderedDict()

    def _call_with_hooks(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        every = EVERY_MODULE
        result: Any = None
        called: set[int] = set()
        forward_hooks = {**every.forward, **self._forward_hooks}
        with_kwargs = {**every.forward_with_kwargs, **self._forward_hooks_with_kwargs}
        try:
            for number, hook in [*every.forward_pre.items(), *self._forward_pre_hooks.items()]:
                if number in self._forward_pre_hooks_with_kwargs:
                    answer = hook(self, args, kwargs)
                    if answer is not None:
                        if not (isinstance(answer, tuple) and len(answer) == 2):
                            raise RuntimeError(
                                "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                                f"but got {answer}."
                            )
                        args, kwargs = answer
                else:
                    answer = hook(self, args)
                    if answer is not None:
                        args = answer if isinstance(answer, tuple) else (answer,)
            backward = None
            if self._backward_hooks or self._backward_pre_hooks or every.backward or every.backward_pre:
                backward = _BackwardHooks(self)
                args = backward.watch_inputs(args)
            result = self.forward(*args, **kwargs)
            for number, hook in forward_hooks.items():
                called.add(number)
                answer = hook(self, args, kwargs, result) if number in with_kwargs else hook(self, args, result)
                if answer is not None:
                    result = answer
            return result if backward is None else backward.watch_outputs(result)
        except BaseException:
            for number in [*every.forward_always, *self._forward_hooks_always_called]:
                if number not in called and number in forward_hooks:
                    hook = forward_hooks[number]
                    try:
                        hook(self, args, kwargs, result) if number in with_kwargs else hook(self, args, result)
                    except Exception as error:
                        warnings.warn(
                            f"module forward hook with ``always_call=True`` raised an exception that was silenced as "
                            f"another error was raised in forward: {error}",
                            stacklevel=2,
                        )
            raise

    def _add_hook(
        self, hooks: dict[int, Any], hook: Any, prepend: bool = False, *sets: dict[int, bool]
    ) -> RemovableHandle:
        handle = RemovableHandle(hooks, extra=sets)
        if prepend:
            later = dict(hooks)
            hooks.clear()
            hooks[handle.id] = hook
            hooks.update(later)
        else:
            hooks[handle.id] = hook
        for numbers in sets:
            numbers[handle.id] = True
        return handle

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls `hook(module, args)` before forward; it may return other arguments."""
        sets = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return self._add_hook(self._forward_pre_hooks, hook, prepend, *sets)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Calls `hook(module, args, output)` after forward; it may return another output."""
        sets = [self._forward_hooks_with_kwargs] if with_kwargs else []
        sets += [self._forward_hooks_always_called] if always_call else []
        return self._add_hook(self._forward_hooks, hook, prepend, *sets)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls `hook(module, grad_input, grad_output)` in backward; it may return another grad_input."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = True
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls `hook(module, grad_output)` before backward; it may return another grad_output."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`register_full_backward_hook`, by the name of hooks that may get gradients of a part of a module."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = False
        return self._add_hook(self._backward_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_state_dict_post_hook`; the hook may return another state dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "this hook was previously registered via register_state_dict_post_hook: it may return no other state "
                "dict"
            )
        return self._add_hook(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """As `register_load_state_dict_pre_hook`; the hook gets no module unless `with_module`."""
        return self._add_hook(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata)` after `state_dict()`; it must return None."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return self._add_hook(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(module, prefix, keep_vars)` before `state_dict()`."""
        return self._add_hook(self._state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(module, incompatible_keys)` after loading."""
        return self._add_hook(self._load_state_dict_post_hooks, hook)


class _BackwardHooks:
    """Runs a module's full backward hooks between its output's gradient and its input's."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.grad_output: tuple[Any, ...] | None = None
        self.watches_inputs = False

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        positions = [n for n, arg in enumerate(args) if isinstance(arg, Tensor)]
        if not any(args[n].requires_grad for n in positions) or not torch.is_grad_enabled():
            return args
        self.watches_inputs = True

        class _InputGradients(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *tensors: Tensor) -> Any:
                ctx.set_materialize_grads(False)
                return tuple(tensor.view_as(tensor) for tensor in tensors)

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                return self._run(gradients)

        watched = _InputGradients.apply(*(args[n] for n in positions))
        result = list(args)
        for position, tensor in zip(positions, watched, strict=True):
            result[position] = tensor
        return tuple(result)

    def watch_outputs(self, output: Any) -> Any:
        single = isinstance(output, Tensor)
        tensors = (output,) if single else output
        if isinstance(output, dict) and self.module._is_full_backward_hook is False:
            self._watch_first_tensor(output)
        if not isinstance(tensors, (tuple, list)) or not any(
            isinstance(item, Tensor) and item.requires_grad for item in tensors
        ):
            return output
        hooks = self

        class _OutputGradients(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *items: Any) -> Any:
                ctx.set_materialize_grads(False)
                return tuple(item.view_as(item) if isinstance(item, Tensor) else item for item in items)

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> Any:
                gradients = hooks.run_before(gradients)
                hooks.grad_output = gradients
                if not hooks.watches_inputs:
                    hooks._run((None,) * len(gradients))
                return gradients

        watched = _OutputGradients.apply(*tensors)
        if single:
            return watched[0]
        return type(output)(*watched) if hasattr(output, "_fields") else type(output)(watched)

    def _watch_first_tensor(self, output: Any) -> None:
        """Hooks of the old kind see what made the first tensor of an output, whatever holds it."""
        while isinstance(output, (dict, tuple, list)):
            values = output.values() if isinstance(output, dict) else output
            output = next((value for value in values if isinstance(value, (Tensor, dict, tuple, list))), None)
        if output is None or output.grad_fn is None:
            return
        for hook in self.module._backward_hooks.values():
            output.grad_fn.register_hook(functools.partial(hook, self.module))

    def run_before(self, grad_output: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the hooks before backward make of the output's gradient."""
        for hook in [*EVERY_MODULE.backward_pre.values(), *self.module._backward_pre_hooks.values()]:
            answer = hook(self.module, grad_output)
            if answer is not None:
                grad_output = answer if isinstance(answer, tuple) else (answer,)
        return grad_output

    def _run(self, grad_input: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in [*EVERY_MODULE.backward.values(), *self.module._backward_hooks.values()]:
            answer = hook(self.module, grad_input, self.grad_output)
            if answer is not None:
                replaced = answer if isinstance(answer, tuple) else (answer,)
                if len(replaced) != len(grad_input):
                    raise RuntimeError(
                        "Backward hook returned an invalid number of grad_input, "
                        f"got {len(replaced)}, but expected {len(grad_input)}"
                    )
                grad_input = replaced
        return grad_input
