"""`Node`: one step of a graph."""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union

import torch
from torch.fx.immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

base_types = (
    str,
    int,
    float,
    bool,
    complex,
    torch.dtype,
    torch.Tensor,
    torch.device,
    torch.memory_format,
    torch.layout,
)
Target = Callable[..., Any] | str
BaseArgumentTypes = (
    str | int | float | bool | complex | torch.dtype | torch.Tensor | torch.device | torch.memory_format | torch.layout
)
Argument = Union[  # of itself, by its name
    "tuple[Argument, ...]", "list[Argument]", "dict[str, Argument]", slice, range, "Node", BaseArgumentTypes, None
]
_legal_ops = frozenset(["placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root"])
# Functions that are called for what they do: dead code elimination keeps them.
_side_effectful_functions: set[Callable[..., Any]] = {operator.setitem, torch.manual_seed}


def has_side_effect(fn: Any) -> Any:
    """Says that a function is called for what it does; returns it."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The nested tuples, lists, dicts and slices with `fn` applied to what is in them."""
    if isinstance(a, tuple):
        values = tuple(map_aggregate(element, fn) for element in a)
        return type(a)(*values) if hasattr(a, "_fields") else values
    if isinstance(a, list):
        return immutable_list([map_aggregate(element, fn) for element in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """The same for the nodes among it; all else stays."""
    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)


def _find_module_of_method(method: Callable[..., Any]) -> str:
    name = method.__name__
    for space, text in ((torch, "torch"), (torch.nn.functional, "torch.nn.functional"), (torch._C._nn, "torch._C._nn")):
        if getattr(space, name, None) is method:
            return text
    raise RuntimeError(f"cannot find module for {method}")


def _get_qualified_name(func: Callable[..., Any]) -> str:
    """The text by which generated code reaches a function: "torch.nn.functional.relu"."""
    if getattr(builtins, func.__name__, None) is func:
        return func.__name__
    if isinstance(func, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return f"torch.Tensor.{func.__name__}"
    name = func.__name__
    if name == "<lambda>":
        name = f"lambda_{id(func):x}"
    # Operators are attributes of an object of torch._C; programs know them as torch's.
    if isinstance(func, types.BuiltinFunctionType) and not isinstance(func.__self__, types.ModuleType | None):
        return f"{_find_module_of_method(func)}.{name}"
    module = getattr(func, "__module__", None) or getattr(getattr(func, "__self__", None), "__name__", "")
    if module.startswith("torch._C") or not module:
        module = _find_module_of_method(func)
    return f"{module.replace('torch._ops', 'torch.ops')}.{name}" if module != "_operator" else f"operator.{name}"


def _type_repr(obj: Any) -> str:
    """A type as an annotation writes it."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        return obj.__qualname__ if obj.__module__ == "builtins" else f"{obj.__module__}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    return obj.__name__ if isinstance(obj, types.FunctionType) else repr(obj)


def _format_arg(arg: Any) -> str:
    if isinstance(arg, tuple):
        items = ", ".join(map(_format_arg, arg))
        return f"({items},)" if len(arg) == 1 else f"({items})"
    if isinstance(arg, list):
        return f"[{', '.join(map(_format_arg, arg))}]"
    if isinstance(arg, dict):
        return f"{{{', '.join(f'{key}: {_format_arg(value)}' for key, value in arg.items())}}}"
    return "%" + str(arg) if isinstance(arg, Node) else str(arg)


class Node:
    """One step: what is called (`op`, `target`), with what (`args`, `kwargs`), and who uses the result (`users`).

    `op` is "placeholder" (an input; `args` its default), "get_attr" (a tensor of the module), "call_function" (`target`
    is the function), "call_method" (its name; the first argument is self), "call_module" (its path) or "output".
    """

    def __init__(
        self,
        graph: Any,
        name: str,
        op: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        return_type: Any = None,
    ) -> None:
        if op not in _legal_ops:
            raise AssertionError(f"op '{op}' not in legal ops")
        if op == "call_function" and not callable(target):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {torch.typename(target)} but a "
                "Callable is expected"
            )
        if op not in ("call_function", "root") and not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {torch.typename(target)} but a str "
                "is expected"
            )
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.users: dict[Node, None] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self.type = return_type
        self.meta: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._set_arguments(args, kwargs)

    # ------------------------------------------------------------------ neighbours

    @property
    def next(self) -> Node:
        """The node after this one in the graph's order."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before it."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Moves `x` to the place before this node."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Moves `x` to the place after this node."""
        if x is not self._next:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: Node) -> bool:
        return self._position() < other._position()

    def __gt__(self, other: Node) -> bool:
        return self._position() > other._position()

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    def _position(self) -> int:
        return next(place for place, node in enumerate(self.graph.nodes) if node is self)

    # ------------------------------------------------------------------ arguments

    @property
    def args(self) -> tuple[Any, ...]:
        """What is passed by position; nodes stand for their results. Assigning updates `users`."""
        return self._args

    @args.setter
    def args(self, value: tuple[Any, ...]) -> None:
        self._set_arguments(value, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """What is passed by name."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: dict[str, Any]) -> None:
        self._set_arguments(self._args, value)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def _set_arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def use(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        self._args = map_arg(tuple(args), use)
        self._kwargs = map_arg(dict(kwargs), use)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Replaces one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Puts one before the positional argument at `idx`."""
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Sets one argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Puts `new_input` wherever `old_input` is an argument."""

        def replace(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self.args, replace), map_arg(self.kwargs, replace))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Puts `replace_with` wherever this node is an argument; returns the nodes that were changed."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    # ------------------------------------------------------------------ what it is

    @property
    def stack_trace(self) -> str | None:
        """Where the step was recorded, if the tracer kept that."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it does more than to compute a result, so that it must stay although nobody uses it."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _side_effectful_functions or self._writes_in_place()
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return bool(getattr(owner.get_submodule(self.target), "_is_impure", False))
        return self._writes_in_place()

    def _writes_in_place(self) -> bool:
        name = self.target if isinstance(self.target, str) else getattr(self.target, "__name__", "")
        return self.op == "call_function" and self.kwargs.get("out") is not None and not name.endswith("_")

    def normalized_arguments(self, *args: Any, **kwargs: Any) -> None:
        """None: signatures of operators are not kept here."""
        return

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """A line of text; placeholders and the output's type go into the lists, where these are given."""
        annotation = f"{_type_repr(self.type)} " if self.type else ""
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            if placeholder_names is not None:
                placeholder_names.append(self.target + (f": {annotation.strip()}" if annotation else "") + default)
                return None
            text = annotation + f"[num_users={len(self.users)}] = {self.op}[target={self.target}]{default}"
        elif self.op == "get_attr":
            text = annotation + f"[num_users={len(self.users)}] = {self.op}[target={self.target}]"
        elif self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self.args[0]}"
        else:
            arguments = f"(args = {_format_arg(self.args)}, kwargs = {_format_arg(self.kwargs)})"
            text = annotation + f"[num_users={len(self.users)}] = {self.op}[target={self._pretty_target()}]{arguments}"
        return f"%{self.name} : {text}"

    def _pretty_target(self) -> str:
        if isinstance(self.target, str):
            return self.target
        name = _get_qualified_name(self.target)
        return name if "." in name else f"builtins.{name}"

    def __repr__(self) -> str:
        return self.name

    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("a Node is copied with its graph")
