"""`Proxy`: what flows through a function while it is traced, and records what is done to it."""

from __future__ import annotations

import dis
import enum
import inspect
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.node import Node, base_types, map_aggregate
from torch.overrides import is_tensor_method_or_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.fx.graph import Graph

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "TraceError", "TracerBase"]


def _assert_true(condition: Any, message: str) -> None:
    """Part of traced code: what `assert` became."""
    if not condition:
        raise AssertionError(message)


class TraceError(ValueError):
    """The program depends on a value that is not known while it is traced."""


class TracerBase:
    """Turns what proxies meet into nodes of `graph`."""

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A new node at the end of the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """The proxy of a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:
        """Records a step with these arguments (proxies among them) and gives the proxy of its result."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        proxy = proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)
        if self.record_stack_traces and proxy.node.stack_trace is None:
            import traceback

            proxy.node.stack_trace = "".join(traceback.StackSummary.extract(traceback.walk_stack(None)).format())
        return proxy

    def create_arg(self, a: Any) -> Any:
        """A value as a node's argument: proxies become their nodes, containers are kept.

        NotImplementedError for what no code can be written of.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            values = tuple(self.create_arg(element) for element in a)
            return type(a)(*values) if hasattr(a, "_fields") else values
        if isinstance(a, list):
            return [self.create_arg(element) for element in a]
        if isinstance(a, dict):
            for key in a:
                map_aggregate(self.create_arg(key), self._refuse_node_as_key)
            return {self.create_arg(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ... or a is torch.Size or isinstance(a, type):
            return a
        if callable(a) and hasattr(a, "__name__"):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    @staticmethod
    def _refuse_node_as_key(value: Any) -> Any:
        if isinstance(value, Node):
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {value}")
        return value

    def to_bool(self, obj: Proxy) -> bool:
        """Called for `if proxy:`; TraceError."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Called for loops over a proxy: TraceError, unless it is unpacked into a known number of names."""
        frame = inspect.currentframe()
        assert frame is not None
        calling = getattr(frame.f_back, "f_back", None)
        assert calling is not None
        for instruction in dis.get_instructions(calling.f_code):
            if instruction.offset == calling.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
                return (obj[index] for index in range(instruction.argval))
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """Called for `**proxy`; records `proxy.keys()`."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Records at the end of a graph that exists: for code that adds steps with proxies."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.scope = None
        self.module_stack: dict[str, Any] = {}


class Proxy:
    """Stands for a node's result: operators, methods, attributes and functions of torch on it become nodes."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Any:
        if k in ("tracer", "node") or (k.startswith("__") and k.endswith("__") and k not in ("__len__", "__name__")):
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return Proxy(self.node, self.tracer)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts:
            self.tracer.create_proxy("call_function", _assert_true, (self, "traced assertion"), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """Records `.keys()`."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, item: object) -> bool:
        raise TraceError("'in' of a traced value cannot be known: symbolically traced variables have no values")

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        tracers: dict[Any, None] = {}

        def find_tracer(value: Any) -> Any:
            if isinstance(value, cls):
                tracers[value.tracer] = None
            return value

        map_aggregate(args, find_tracer)
        map_aggregate(kwargs, find_tracer)
        if len(tracers) > 1:
            raise RuntimeError(f"Found multiple different tracers {list(tracers)} while trying to trace operations")
        tracer = next(iter(tracers))
        if is_tensor_method_or_property(orig_method):
            name = orig_method.__name__
            if name in ("__get__", "__set__"):
                return tracer.create_proxy("call_function", getattr, (args[0], orig_method.__self__.__name__), {})
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy(
            "call_function", orig_method, args, kwargs, name=getattr(orig_method, "__name__", None)
        )


class Attribute(Proxy):
    """`proxy.name`: a method if it is called, an attribute otherwise."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of the attribute, recorded only when it is asked for: methods need none."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter's proxy, which knows what does not depend on its values: shape, size, dim, dtype."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: torch.nn.Parameter) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """The parameter's."""
        return self.param.ndim

    def size(self, *args: Any) -> Any:
        """The parameter's."""
        return self.param.size(*args)

    def dim(self) -> int:
        """The parameter's."""
        return self.param.dim()

    def numel(self) -> int:
        """The parameter's."""
        return self.param.numel()

    def nelement(self) -> int:
        """The parameter's."""
        return self.param.nelement()


# Operators of Python's syntax, by the names of module `operator`; those in the second line have reflected forms.
# There are none in place: `x += 1` is recorded as `x + 1`.
_UNARY = ("pos", "neg", "invert", "getitem", "lt", "le", "eq", "ne", "gt", "ge")
_BINARY = ("add", "sub", "mul", "floordiv", "truediv", "mod", "lshift", "rshift", "and_", "or_", "xor", "pow", "matmul")


def _add_operator(name: str, function: Callable[..., Any], reflected: bool = False) -> None:
    def method(self: Any, *others: Any) -> Any:
        args = (others[0], self) if reflected else (self, *others)
        return self.tracer.create_proxy("call_function", function, args, {})

    method.__name__ = f"__{name}__"
    method.__qualname__ = f"Proxy.__{name}__"
    setattr(Proxy, method.__name__, method)


for _name in (*_UNARY, *_BINARY):
    _add_operator(_name.rstrip("_"), getattr(operator, _name))
for _name in _BINARY:
    _add_operator(f"r{_name.rstrip('_')}", getattr(operator, _name), reflected=True)
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign] # by identity: == is recorded
del _name
