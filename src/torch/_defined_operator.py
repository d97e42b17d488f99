"""`OperatorBase`: an operator that a program has defined."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch._op_overload import OpOverload
from torch._operator_schemas import parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class OperatorBase(OpOverload):
    """An operator that a program has defined: kernels by type of device, and how its gradient is computed."""

    def __init__(self, namespace: str, name: str, schema: str) -> None:
        self.namespace, self._name, self.schema = namespace, name, schema
        self._schema_text = f"{namespace}::{name}{schema}"
        self._dispatch_rules = {}
        self.overloadpacket = self
        self.kernels: dict[str | None, Callable[..., Any]] = {}
        self.autograd: Callable[..., Any] | None = None
        self.fake: Callable[..., Any] | None = None
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        self.vmap: Callable[..., Any] | None = None
        self.parameters, self.positional = parameters_of(schema)
        self.mutates = "!)" in schema
        self._function: type[torch.autograd.Function] | None = None
        self.__name__ = self.__qualname__ = name
        self.__module__ = f"torch.ops.{namespace}"

    @property
    def qualified_name(self) -> str:
        """ "namespace::name"."""
        return f"{self.namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._name}', overload='default')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self._name}.default"

    @property
    def default(self) -> OperatorBase:
        """The operator itself: it has no other overloads."""
        return self

    def overloads(self) -> list[str]:
        """The names of its overloads."""
        return ["default"]

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments in the schema's order."""
        if len(args) > self.positional:
            raise TypeError(
                f"{self.qualified_name}() takes {self.positional} positional argument(s) but {len(args)} was/were given"
            )
        values = list(args)
        for name, default in self.parameters[len(args) :]:
            if name in kwargs:
                values.append(kwargs[name])
            elif default is not inspect.Parameter.empty:
                values.append(default)
            else:
                raise TypeError(f"{self.qualified_name}() is missing value for argument '{name}'")
        names = [name for name, _ in self.parameters]
        for place, name in enumerate(kwargs):
            if name not in names or names.index(name) < len(args):
                raise TypeError(f"{self.qualified_name}() got an unexpected keyword argument '{name}' ({place})")
        return tuple(values)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _C._is_call_overridden(args, kwargs):
            from torch.overrides import handle_torch_function

            return handle_torch_function(self, (*args, *kwargs.values()), *args, **kwargs)
        values = self._bind(args, kwargs)
        tensors = _tensors_of(values)
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            if self.autograd is not None:
                return self.autograd(*values)
            if self.kernels.get(None) is None or self.backward is not None or not self._is_composite:
                return self._differentiable(values)
        return self._run(values, tensors)

    _is_composite = False

    def _run(self, values: tuple[Any, ...], tensors: Sequence[torch.Tensor] | None = None) -> Any:
        found = _tensors_of(values) if tensors is None else tensors
        if _C._len_torch_dispatch_stack() or torch._ops.answering(found):
            with torch.no_grad():
                return torch._ops.ask(self, *self.split_values(values))
        device = next((tensor.device.type for tensor in found), "cpu")
        kernel = self.kernels.get(device)
        if kernel is None and device == "meta" and self.fake is not None:
            kernel = self.fake
        if kernel is None:
            kernel = self.kernels.get(None)
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self.qualified_name}' with arguments from the '{device.upper()}' backend: no kernel "
                "is registered for it"
            )
        named = {name: value for (name, _), value in zip(self.parameters, values, strict=True)}
        keywords = {name: named[name] for name, _ in self.parameters[self.positional :]}
        return kernel(*values[: self.positional], **keywords)

    def _differentiable(self, values: tuple[Any, ...]) -> Any:
        if self._function is None:
            self._function = _make_function(self)
        return self._function.apply(*values)


def _tensors_of(values: Iterable[Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [item for item in value if isinstance(item, torch.Tensor)]
    return found


def _make_function(operator: OperatorBase) -> type[torch.autograd.Function]:
    """The autograd.Function of an operator."""

    def forward(ctx: Any, *values: Any) -> Any:
        output = operator._run(values)
        if operator.setup_context is not None:
            operator.setup_context(ctx, values, output)
        return output

    def backward(ctx: Any, *gradients: Any) -> Any:
        if operator.backward is None:
            raise RuntimeError(
                f"Trying to backward through {operator.qualified_name}.default but no autograd formula was registered. "
                "If you wanted gradients through it, please use register_autograd."
            )
        return operator.backward(ctx, *gradients)

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(
        f"GeneratedBackwardFor_{operator.namespace}_{operator._name}_default", (torch.autograd.Function,), members
    )
