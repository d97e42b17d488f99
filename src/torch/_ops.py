"""`torch.ops`: operators by namespace, torch's own (`torch.ops.aten.add`) and those that programs define."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import _C, library
from torch._composed_operators import COMPOSED
from torch._op_overload import OpOverload
from torch._shown_operators import RENAMED, SHOWN, takes_number

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OpOverload", "OpOverloadPacket", "ops"]

# What `torch.library.define` is told about an operator, for compilers; eager programs compute without it.
Tag = Enum(
    "Tag",
    "core cudagraph_unsafe data_dependent_output dynamic_output_shape flexible_layout generated inplace inplace_view "
    "maybe_aliasing_or_mutating needs_contiguous_strides needs_exact_strides needs_fixed_stride_order "
    "nondeterministic_bitwise nondeterministic_seeded out out_variant pointwise pt2_compliant_tag reduction view_copy",
    module="torch",
)


@cache
def _rows() -> dict[str, tuple[int, str]]:
    """The operators of this torch: "add.Tensor" to its row in C++ and its schema."""
    rows: dict[str, tuple[int, str]] = {}
    for place, schema in enumerate(_C._operator_schemas()):
        own = schema.partition("(")[0]
        shown = RENAMED.get(own, own)
        rows[shown] = place, f"aten::{shown}{schema[len(own) :]}"
    return rows


class _OwnOperator(OpOverload):
    """An operator of torch. It has no schema, and is what the function of its name is, where PyTorch alone has it."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket, self._overloadname = packet, overload
        self._dispatch_rules = {}
        self.__name__ = self.__qualname__ = f"{packet.__name__}.{overload}"
        self.namespace = packet._namespace
        self.__module__ = packet.__module__
        full = packet.__name__ if overload == "default" else self.__name__
        if self.namespace != "aten":
            full = ""  # its name may be that of one of ours
        self._row, self._schema_text = _rows().get(full, (None, ""))
        if self._row is None:
            # A number in the place of a tensor: the tensor's overload takes it.
            numbers = f"{packet.__name__}.Tensor" if full and overload == "Scalar" else ""
            self._row, schema = _rows().get(numbers, (None, ""))
            self._schema_text = schema.replace(".Tensor", ".Scalar", 1).replace("Tensor other", "Scalar other")
        if full in COMPOSED:
            schema, self._function = COMPOSED[full]
            self._row, self._schema_text = None, f"aten::{full}{schema}"
        else:
            self._function = packet._function
        self._outs = [item.name for item in self._schema.arguments if item.is_out] if self._row is not None else []

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if _C._is_call_overridden(args, kwargs):
            return torch.overrides.handle_torch_function(self, (*args, *kwargs.values()), *args, **kwargs)
        if self._row is None:
            return self._function(*args, **kwargs)
        if len(self._outs) > 1:  # PyTorch names each; functions of Python take them together
            kwargs = dict(kwargs)
            kwargs["out"] = tuple(kwargs.pop(name) for name in self._outs)
        return _C._call_operator(self._row, args, kwargs)

    @property
    def op(self) -> Callable[..., Any]:
        """What is called."""
        return self.__call__

    _op = op

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _find, (self.namespace, self.overloadpacket.__name__, self._overloadname)


class OpOverloadPacket:
    """The operators of one name, `torch.ops.aten.add`: call it as the function, or take one, `.default`, `.Tensor`."""

    def __init__(self, name: str, function: Any, namespace: str = "aten") -> None:
        self._name, self._function, self._namespace = name, function, namespace
        self.__name__ = self.__qualname__ = name
        self.__module__ = f"torch._ops.{namespace}"
        self._qualified_op_name = f"{namespace}::{name}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        overload = _OwnOperator(self, name)
        setattr(self, name, overload)
        return overload

    def _call_overload(self, /, *args: Any, **kwargs: Any) -> Any:
        """The first overload that takes these arguments: what no function of Python is named after."""
        names = self.overloads()
        for name in names[:-1]:
            try:
                return getattr(self, name)(*args, **kwargs)
            except TypeError:
                continue
        return getattr(self, names[-1])(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of its overloads: "default", "Tensor"."""
        names = [name.partition(".") for name in (*_rows(), *COMPOSED)]
        return [overload or "default" for name, _, overload in names if name == self.__name__]

    def __dir__(self) -> list[str]:
        return self.overloads()

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._namespace}.{self._name}')>"

    def __str__(self) -> str:
        return f"{self._namespace}.{self._name}"


def _find(namespace: str, name: str, overload: str) -> Any:
    return getattr(getattr(getattr(ops, namespace), name), overload)


@cache
def _operator(full_name: str) -> Any:
    name, _, overload = full_name.partition(".")
    return _find("aten", name, overload or "default")


# ---------------------------------------------------------------------- __torch_dispatch__


def _dispatch(name: str, values: tuple[Any, ...]) -> Any:
    """What a mode or a class answers for a row of ours, whose values stand in its order; C++ has seen that one does."""
    shown = SHOWN.get(name)
    if shown is not None:
        other, values, take = shown(*values)
        operator = _operator(other)
        return take(ask(operator, *operator.split_values(values)))
    operator = _operator(RENAMED.get(name, name))
    if takes_number(operator, values):
        operator = operator.overloadpacket.Scalar
    return ask(operator, *operator.split_values(values))


def ask(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The answer of the innermost mode, else of the arguments' classes, subclasses first. TypeError otherwise."""
    found = answering((*args, *kwargs.values()))
    types = tuple(type(value) for value in found)
    asked: list[str] = []
    if _C._len_torch_dispatch_stack():
        mode = _C._pop_torch_dispatch_stack()
        try:
            rule = operator._dispatch_rules.get(type(mode))
            call = mode.__torch_dispatch__ if rule is None else lambda *rest: rule(mode, *rest)
            result = call(operator, types, args, kwargs)
        finally:
            _C._push_on_torch_dispatch_stack(mode)
        if result is not NotImplemented:
            return result
        asked.append(f"mode object {mode}")
    for kind in types:
        rule = operator._dispatch_rules.get(kind)
        call = kind.__torch_dispatch__ if rule is None else lambda *rest, rule=rule, kind=kind: rule(kind, *rest)
        result = call(operator, types, args, kwargs)
        if result is not NotImplemented:
            return result
        asked.append(f"tensor subclass {kind}")
    text = "\n".join(f"  - {who}" for who in asked)
    raise TypeError(
        f"Multiple dispatch failed for 'torch.ops.{operator}'; all __torch_dispatch__ handlers returned "
        f"NotImplemented:\n\n{text}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


def answering(values: Any) -> list[Any]:
    """Of the tensors among `values`, and in lists there, one of each class that answers: a subclass before its base."""
    found: list[Any] = []
    for value in values:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            kind = type(item)
            if kind is torch.Tensor or not isinstance(item, torch.Tensor) or not _C._class_dispatches(kind):
                continue
            if all(type(other) is not kind for other in found):
                place = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
                found.insert(place, item)
    return found


def _missing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"this torch has no operator torch.ops.{name}")

    return refuse


# PyTorch's other namespaces, whose operators are not here.
_PYTORCHS = frozenset({"prims", "prim", "c10d", "_c10d_functional", "c10d_functional", "inductor", "rngprims"})


class _OpNamespace:
    """The operators of one namespace."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = library._operators.get(f"{self.name}::{name}")
        if found is not None:
            return found
        if self.name in _PYTORCHS:
            # PyTorch has thousands, which programs name without calling them.
            packet = OpOverloadPacket(name, _missing(f"{self.name}.{name}"), self.name)
            setattr(self, name, packet)
            return packet
        if self.name == "aten":
            spaces = (_C._VariableFunctions, _C._nn, torch.Tensor)
            functions = [getattr(space, name) for space in spaces if callable(getattr(space, name, None))]
            if name in COMPOSED:
                functions = [] if f"{name}.vec" in COMPOSED else [COMPOSED[name][1]]
            elif not functions and name.startswith("special_"):
                functions = [getattr(torch.special, name[len("special_") :], None)]
            elif not functions and name.startswith("_foreach_"):
                functions = [getattr(torch, name, None)]
            packet = OpOverloadPacket(name, functions[0] if functions else None)
            if packet._function is None:
                packet._function = packet._call_overload if packet.overloads() else _missing(f"aten.{name}")
            setattr(self, name, packet)
            return packet
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return [name.partition("::")[2] for name in library._operators if name.startswith(f"{self.name}::")]


class _Ops:
    """The namespaces of operators."""

    loaded_libraries: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        space = _OpNamespace(name)
        setattr(self, name, space)
        return space

    def load_library(self, path: str) -> None:
        """Raises OSError: libraries of operators are built for PyTorch's C++ classes, which this torch has not."""
        raise OSError(
            f"{path}: a library of operators for PyTorch cannot be loaded here; write them with torch.library"
        )


ops = _Ops()
