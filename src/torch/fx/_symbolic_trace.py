"""`Tracer`: runs a module or function once with proxies, and keeps what it did as a graph."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import sys
from collections import OrderedDict
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.proxy import ParameterProxy, Proxy, TracerBase
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.fx.node import Node

__all__ = ["PH", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap"]


class _Placeholder:
    def __repr__(self) -> str:
        return "PH"


PH = _Placeholder()
_wrapped_functions: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods: dict[tuple[type, str], None] = {}
_is_tracing = False


def is_fx_tracing() -> bool:
    """Whether a tracer runs a function now."""
    return _is_tracing


def is_fx_symbolic_tracing() -> bool:
    """The same: there is no other tracing here."""
    return _is_tracing


class ProxyableClassMeta(type):
    """A metaclass: an instance that is made of proxies is recorded as a call of its class."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []
        pytree.tree_map_only(Proxy, found.append, (args, kwargs))
        if found:
            return found[0].tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class Tracer(TracerBase):
    """Traces modules. Subclasses decide what is a leaf, and how calls and attributes are recorded."""

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._autowrap_functions = {
            id(value): value
            for module in autowrap_modules
            for name, value in module.__dict__.items()
            if not name.startswith("_") and callable(value)
        }
        self._autowrap_functions.update((id(function), function) for function in autowrap_functions)
        self._autowrap_modules = autowrap_modules
        self.param_shapes_constant = param_shapes_constant
        self.root: Any = None
        self.submodule_paths: dict[Any, str] | None = None
        self.module_stack: OrderedDict[str, Any] = OrderedDict()
        self.tensor_attrs: dict[Any, str] = {}
        self._constants = 0
        self._names: dict[int, str] = {}

    # ------------------------------------------------------------------ to be overridden

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is one call in the graph; those of torch.nn are, but for Sequential."""
        home = m.__module__
        return home.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod: torch.nn.Module) -> str:
        """The path of a submodule of the root; NameError if it is none."""
        if self.submodule_paths is not None and mod in self.submodule_paths:
            return self.submodule_paths[mod]
        for name, module in self.root.named_modules():
            if module is mod:
                return str(name)
        raise NameError("module is not installed as a submodule")

    def call_module(
        self, m: torch.nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Called in place of each submodule: one node for a leaf, else what `forward` does."""
        path = self.path_of_module(m)
        self.module_stack[path] = (path, type(m))
        try:
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            self.module_stack.pop(path, None)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Called for attributes of modules: a parameter of the root becomes a proxy."""
        if isinstance(attr_val, torch.nn.Parameter) or (
            self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor)
        ):
            named = (
                self.root.named_parameters() if isinstance(attr_val, torch.nn.Parameter) else self.root.named_buffers()
            )
            for name, value in named:
                if value is not attr_val:
                    continue
                if name not in parameter_proxy_cache:
                    factory = None
                    if self.param_shapes_constant and isinstance(attr_val, torch.nn.Parameter):

                        def factory(node: Node, name: str = name, value: Any = value) -> Proxy:
                            return ParameterProxy(self, node, name, value)

                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=factory)
                return parameter_proxy_cache[name]
        return attr_val

    def create_node(self, *args: Any, **kwargs: Any) -> Node:
        """A new node at the end of the graph; it keeps which modules it was recorded in."""
        node = super().create_node(*args, **kwargs)
        if self.module_stack:
            node.meta["nn_module_stack"] = OrderedDict(self.module_stack)
        return node

    def create_arg(self, a: Any) -> Any:
        """As `TracerBase.create_arg`; what the root has by its path, other tensors as new constants of the root."""
        if isinstance(a, torch.nn.Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, torch.Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, torch.nn.Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, torch.Tensor):
            path = self.tensor_attrs.get(a)
            if path is None:
                path = f"_tensor_constant{self._constants}"
                while hasattr(self.root, path):
                    self._constants += 1
                    path = f"_tensor_constant{self._constants}"
                self.tensor_attrs[a] = path
                setattr(self.root, path, a)
            return self.create_node("get_attr", path, (), {})
        if type(type(a)) is ProxyableClassMeta or isinstance(type(a), ProxyableClassMeta):
            return a
        return super().create_arg(a)

    # ------------------------------------------------------------------ tracing

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The function to run, and a placeholder for each of its parameters."""
        function = inspect.unwrap(root_fn)
        code: CodeType = function.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = code.co_varnames[:total]
        args: list[Any] = [self.root] if is_module else []
        start = 1 if is_module else 0
        if is_module and total == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        signature = inspect.signature(function)
        concrete = dict(concrete_args) if isinstance(concrete_args, dict) else {}
        if isinstance(concrete_args, tuple):
            concrete = dict(zip(names[start:], concrete_args, strict=True))
        self._specialised = 0  # how many parameters, or parts of them, were fixed
        for name in names[start:]:
            args.append(self._placeholder(name, signature.parameters[name], concrete))
        if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            rest = code.co_varnames[total:]
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self.create_proxy("placeholder", "*" + rest[0], (), {}))
                rest = rest[1:]
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self.create_proxy("placeholder", "**" + rest[0], (), {}))
            # All names are positional parameters of a copy: the proxies of *args and **kwargs are not unpacked.
            function = _flatten_parameters(function)
        elif code.co_kwonlyargcount or code.co_posonlyargcount:
            function = _flatten_parameters(function)
        return function, args

    def _placeholder(self, name: str, parameter: inspect.Parameter, concrete: dict[str, Any]) -> Any:
        default = () if parameter.default is parameter.empty else (parameter.default,)
        annotation = None if parameter.annotation is parameter.empty else parameter.annotation
        if isinstance(annotation, str):
            annotation = None
        if name not in concrete or concrete[name] is PH:
            return self.create_proxy("placeholder", name, default, {}, type_expr=annotation)
        value = concrete[name]
        if isinstance(value, torch.Tensor) or not isinstance(value, (list, tuple, dict)):
            self._specialised += 1
            placeholder = self.create_proxy("placeholder", f"{name}_{self._specialised}", (value,), {})
            self._check_specialised(placeholder, name, value)
            return value

        def replace(leaf: Any) -> Any:
            self._specialised += 1
            if leaf is not PH:
                return leaf
            return self.create_proxy("placeholder", f"{name}_{self._specialised}", (), {})

        return pytree.tree_map(replace, value)

    def _check_specialised(self, placeholder: Any, name: str, value: Any) -> None:
        if value is None:
            text = f"{name} has been specialized to have value None but got another value"
            self.create_proxy("call_function", _assert_is_none, (placeholder, text), {})
        elif isinstance(value, (bool, int, float)):
            text = f"{name} has been specialized to have value {value} but got another value"
            self.create_proxy("call_function", torch._assert, (placeholder == value, text), {})

    def trace(self, root: torch.nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of a module's `forward`, or of a function.

        `concrete_args` fixes parameters to values, so that `if` and loops over them can be traced.
        """
        global _is_tracing
        before, _is_tracing = _is_tracing, True
        try:
            if isinstance(root, torch.nn.Module):
                self.root = root
                function = getattr(type(root), self.traced_func_name)
                self.submodule_paths = {module: name for name, module in root.named_modules()}
            else:
                self.root = torch.nn.Module()
                function = root
            self.graph = Graph(tracer_cls=type(self))
            self._collect_tensors(self.root, "")
            function, args = self.create_args_for_root(function, isinstance(root, torch.nn.Module), concrete_args)
            with self._patched(getattr(function, "__globals__", {})):
                result = function(*args)
                self.create_node("output", "output", (self.create_arg(result),), {})
        finally:
            self.submodule_paths = None
            _is_tracing = before
        return self.graph

    def _collect_tensors(self, module: Any, prefix: str) -> None:
        """Tensors that are plain attributes: neither parameters nor buffers."""
        for name, value in module.__dict__.items():
            if isinstance(value, torch.Tensor):
                self.tensor_attrs[value] = prefix + name
        for name, child in module.named_children():
            self._collect_tensors(child, f"{prefix}{name}.")

    @contextmanager
    def _patched(self, space: dict[str, Any]) -> Iterator[None]:
        """Calls and attributes of modules, and wrapped functions, come to this tracer inside."""
        cache: dict[str, Any] = {}
        call, get = torch.nn.Module.__call__, torch.nn.Module.__getattr__
        undo: list[Callable[[], None]] = []

        @functools.wraps(get)
        def module_getattr(module: Any, attr: str) -> Any:
            return self.getattr(attr, get(module, attr), cache)

        @functools.wraps(call)
        def module_call(module: Any, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return call(module, *args, **kwargs)

            _wrap_in(module.forward.__globals__ if hasattr(module.forward, "__globals__") else {}, self, undo)
            return self.call_module(module, forward, args, kwargs)

        torch.nn.Module.__call__ = module_call  # type: ignore[method-assign]
        torch.nn.Module.__getattr__ = module_getattr  # type: ignore[method-assign]
        try:
            for module in self._autowrap_modules:
                _wrap_in(module.__dict__, self, undo)
            _wrap_in(space, self, undo)
            for key, owner in _wrapped_functions.items():
                _replace(owner, key[1], undo)
            for kind, name in _wrapped_methods:
                _replace_method(kind, name, undo)
            yield
        finally:
            torch.nn.Module.__call__ = call  # type: ignore[method-assign]
            torch.nn.Module.__getattr__ = get  # type: ignore[method-assign]
            torch._C._look_up_members(torch.nn.Module)
            for step in reversed(undo):
                step()


def _find_proxy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy | None:
    return next((leaf for leaf in pytree.tree_iter((args, kwargs)) if isinstance(leaf, Proxy)), None)


def _recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as one node if a proxy is among its arguments."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        result.node.meta["is_wrapped"] = True
        return result

    wrapped.__fx_recorded__ = True  # type: ignore[attr-defined]
    return wrapped


def _replace(space: dict[str, Any], name: str, undo: list[Callable[[], None]]) -> None:
    missing = object()
    before = space.get(name, missing)
    original = getattr(builtins, name) if before is missing else before
    if getattr(original, "__fx_recorded__", False):
        return

    def restore() -> None:
        if before is missing:
            del space[name]
        else:
            space[name] = before

    undo.append(restore)
    space[name] = _recorded(original)


def _replace_method(kind: type, name: str, undo: list[Callable[[], None]]) -> None:
    original = getattr(kind, name)

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy(args, kwargs)
        if proxy is None:
            return original(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    setattr(kind, name, wrapped)
    undo.append(lambda: setattr(kind, name, original))


def _wrap_in(space: dict[str, Any], tracer: Tracer, undo: list[Callable[[], None]]) -> None:
    """Functions of `autowrap_modules` (math.sqrt) that a module's file has by name."""
    for name, value in list(space.items()):
        if not name.startswith("_") and callable(value) and id(value) in tracer._autowrap_functions:
            _replace(space, name, undo)


def _flatten_parameters(function: Any) -> Callable[..., Any]:
    """The function with *args, **kwargs and keyword-only parameters as ordinary ones."""
    code: CodeType = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    flags = code.co_flags
    for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS):
        count += 1 if flags & flag else 0
        flags &= ~flag
    plain = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    made = FunctionType(plain, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _assert_is_none(value: Any, message: str) -> None:
    """Part of traced code: a parameter that was fixed to None must be None."""
    if value is not None:
        raise AssertionError(message)


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Says, at the top of a module, that a function there (or a builtin, by its name) is recorded as one call.

    >>> @torch.fx.wrap
    ... def my_custom_function(x, y):
    ...     return x * x + y * y
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_functions[(id(frame.f_globals), name)] = frame.f_globals
    return fn_or_name


def symbolic_trace(
    root: torch.nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """A GraphModule that does what a module or function does: its calls, recorded by running it with proxies.

    What depends on values (`if x.sum() > 0`) raises TraceError; `concrete_args` fixes parameters for that.

    >>> torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)(torch.tensor([-1.0, 2.0]))
    tensor([1., 3.])
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
