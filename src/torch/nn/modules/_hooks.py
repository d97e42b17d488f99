"""Hooks: functions that are called around a module's forward, backward and state dict."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils.hooks import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable


class HooksMixin:
    """The part of `Module` that keeps and calls hooks."""

    _backward_hooks: dict[int, Any]
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
        result: Any = None
        called: set[int] = set()
        try:
            for number, hook in list(self._forward_pre_hooks.items()):
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
            backward = _BackwardHooks(self) if self._backward_hooks else None
            if backward is not None:
                args = backward.watch_inputs(args)
            result = self.forward(*args, **kwargs)
            for number, hook in list(self._forward_hooks.items()):
                called.add(number)
                with_kwargs = number in self._forward_hooks_with_kwargs
                answer = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                if answer is not None:
                    result = answer
            return result if backward is None else backward.watch_outputs(result)
        except BaseException:
            for number in [number for number in self._forward_hooks_always_called if number not in called]:
                hook = self._forward_hooks[number]
                if number in self._forward_hooks_with_kwargs:
                    hook(self, args, kwargs, result)
                else:
                    hook(self, args, result)
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
        self._is_full_backward_hook = True
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata)` after `state_dict()`."""
        return self._add_hook(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(module, prefix, keep_vars)` before `state_dict()`."""
        return self._add_hook(self._state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)` before loading."""
        return self._add_hook(self._load_state_dict_pre_hooks, hook)

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
                hooks.grad_output = gradients
                if not hooks.watches_inputs:
                    hooks._run((None,) * len(gradients))
                return gradients

        watched = _OutputGradients.apply(*tensors)
        return watched[0] if single else type(output)(watched) if type(output) in (tuple, list) else watched

    def _run(self, grad_input: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in list(self.module._backward_hooks.values()):
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
