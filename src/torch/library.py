"""Operators that programs define: from Python functions, with a gradient, under names of `torch.ops`.

>>> @torch.library.custom_op("documentation::scaled", mutates_args=())
... def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
...     return x * factor
>>> torch.ops.documentation.scaled(torch.ones(2), 3.0)
tensor([3., 3.])
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from torch._defined_operator import OperatorBase
from torch._operator_schemas import infer_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "infer_schema",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

_KEYS = {
    "CPU": "cpu",
    "CUDA": "cuda",
    "Meta": "meta",
    "CompositeExplicitAutograd": None,
    "CompositeImplicitAutograd": None,
    "": None,
}
# ---------------------------------------------------------------------- the registry

_operators: dict[str, OperatorBase] = {}
# What was registered for operators before they are defined: by a module that is imported earlier, or for good, where
# their library was built for PyTorch and cannot be loaded.
_early: dict[str, list[Callable[[OperatorBase], None]]] = {}


def _split_name(qualname: str) -> tuple[str, str]:
    namespace, separator, name = qualname.partition("::")
    if not separator or not namespace or not name:
        raise ValueError(f"Expected `name` to be of form `namespace::name`, got {qualname}")
    return namespace, name.partition(".")[0]


def _find(op: Any) -> OperatorBase:
    if isinstance(op, CustomOpDef):
        return op._operator
    if isinstance(op, OperatorBase):
        return op
    namespace, name = _split_name(op)
    found = _operators.get(f"{namespace}::{name}")
    if found is None:
        raise RuntimeError(f"operator {op} does not exist: define it first")
    return found


def _change(op: Any, change: Callable[[OperatorBase], None]) -> None:
    """Changes an operator: now, or as soon as it is defined. PyTorch's own are there, or will never be."""
    if isinstance(op, str):
        namespace, name = _split_name(op)
        if f"{namespace}::{name}" not in _operators and namespace not in ("aten", "prim", "prims"):
            _early.setdefault(f"{namespace}::{name}", []).append(change)
            return
    change(_find(op))


class Library:
    """A place for operators of one namespace; they go when it does.

    `kind` is "DEF" (it defines operators), "FRAGMENT" (it adds to a namespace) or "IMPL" (it has kernels only).
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        if ns in ("prim", "aten") and kind == "DEF":
            raise ValueError(ns, " is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []
        weakref.finalize(self, _forget, self._defined)

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """An operator by its schema, "name(Tensor x, float y=1.0) -> Tensor"; its name."""
        name = schema.partition("(")[0].strip()
        operator = OperatorBase(self.ns, name.partition(".")[0], schema[len(name) :])
        if operator.qualified_name in _operators:
            raise RuntimeError(f"Tried to register an operator ({schema}) with the same name multiple times")
        for change in _early.pop(operator.qualified_name, ()):
            change(operator)
        _operators[operator.qualified_name] = operator
        self._defined.append(operator.qualified_name)
        return name

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False, **options: Any
    ) -> None:
        """A kernel for a dispatch key: CPU, CUDA, Meta, a Composite one (all), or Autograd."""
        key = dispatch_key or self.dispatch_key
        text = op_name if isinstance(op_name, str) else _find(op_name)._name
        if not key.startswith("Autograd") and key not in _KEYS:
            raise NotImplementedError(
                f"Library.impl: there is no dispatch key {key} here; {', '.join(filter(None, _KEYS))}"
            )

        def register(operator: OperatorBase) -> None:
            if key.startswith("Autograd"):
                operator.autograd = fn
                return
            operator.kernels[_KEYS[key]] = fn
            if key in ("", "CompositeImplicitAutograd"):
                operator._is_composite = True

        _change(text if "::" in text else f"{self.ns}::{text}", register)

    def _register_fake(self, op_name: str, fn: Callable[..., Any], *args: Any, **options: Any) -> None:
        _find(f"{self.ns}::{op_name}").fake = fn

    def _destroy(self) -> None:
        _forget(self._defined)


def _forget(names: list[str]) -> None:
    for name in names:
        _operators.pop(name, None)
    names.clear()


_kept: list[Library] = []


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """An operator "namespace::name" by its schema "(Tensor x) -> Tensor"."""
    namespace, name = _split_name(qualname)
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _kept.append(lib)
    lib.define(name + schema, tags=tags)


def impl(
    qualname: str, types: str | Sequence[str], func: Callable[..., Any] | None = None, *, lib: Library | None = None
) -> Any:
    """A kernel of an operator for types of devices ("cpu", "cuda"; "default": all). A decorator without `func`."""

    kinds = (types,) if isinstance(types, str) else types
    keys = [None if kind in ("default", "CompositeExplicitAutograd") else kind.lower() for kind in kinds]

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _change(qualname, lambda operator: operator.kernels.update(dict.fromkeys(keys, function)))
        return function

    return register if func is None else register(func)


def register_kernel(
    op: Any,
    device_types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """The same; None stands for all types of devices."""
    operator = _find(op)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for kind in (device_types,) if device_types is None or isinstance(device_types, str) else device_types:
            operator.kernels[kind] = function
        return function

    return register if func is None else register(func)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    **options: Any,
) -> Any:
    """What an operator answers for tensors of the meta device, also of one that is defined later. A decorator without
    `func`.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _change(op, lambda operator: setattr(operator, "fake", function))
        return function

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """The gradient: `backward(ctx, *gradients)`; `setup_context(ctx, inputs, output)` keeps what it needs."""
    operator = _find(op)
    if operator.mutates:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {operator.qualified_name}. Please create a "
            "functional operator and register an autograd formula for that."
        )
    operator.backward, operator.setup_context = backward, setup_context


def register_torch_dispatch(op: Any, torch_dispatch_class: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """What a mode, or a class of tensors, answers for an operator: `func(mode_or_class, func, types, args, kwargs)`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _find(op)._dispatch_rules[torch_dispatch_class] = function
        return function

    return register if func is None else register(func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """What it is of a batch, for `torch.vmap`: `func(info, in_dims, *arguments)` gives (results, where elements lie).

    `info` has `batch_size` and `randomness`. Without one the operator is called for each element. A decorator without
    `func`.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _change(op, lambda operator: setattr(operator, "vmap", function))
        return function

    return register if func is None else register(func)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> None:
    """Autocast converts nothing for operators that programs define: NotImplementedError."""
    raise NotImplementedError("torch.library.register_autocast is not supported")


def fallthrough_kernel() -> None:
    """Stands for "the next kernel" in `Library.impl`; there is none here."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_kernel(op: Any, dispatch_key: str) -> Callable[..., Any]:
    """The kernel of an operator for a type of device."""
    operator = _find(op)
    found = operator.kernels.get(dispatch_key.lower()) or operator.kernels.get(None)
    if found is None:
        raise RuntimeError(f"no kernel of {operator.qualified_name} is registered for {dispatch_key}")
    return found


def get_ctx() -> Any:
    """Inside a fake kernel: a context for sizes that depend on data, which cannot be expressed here."""
    raise NotImplementedError("get_ctx: sizes that depend on data are not supported")


# ---------------------------------------------------------------------- operators from annotated functions


class CustomOpDef:
    """What `custom_op` makes of a function: call it, and register more with it."""

    def __init__(self, operator: OperatorBase, function: Callable[..., Any]) -> None:
        self._operator = operator
        self._name = operator._name
        self._qualname = operator.qualified_name
        self._schema = operator.schema
        self._init_fn = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    @property
    def _opoverload(self) -> OperatorBase:
        return self._operator

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Any:
        """A kernel for types of devices."""
        return register_kernel(self._operator, device_types, fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """What it answers for tensors of the meta device."""
        self._operator.fake = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Its gradient."""
        register_autograd(self._operator, backward, setup_context=setup_context)

    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: Any = None, /) -> Any:
        """What a mode, or the class of a tensor, answers for it."""
        return register_torch_dispatch(self._operator, torch_dispatch_class, fn)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """What it is of a batch, for `torch.vmap`."""
        return register_vmap(self._operator, func)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Makes an operator "namespace::name" of an annotated function; a decorator without `fn`.

    `mutates_args` names what it writes to. `device_types` are those that the function is for (None: all). Gradients
    come from `register_autograd`, and are an error without.
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        namespace, plain = _split_name(name)
        text = schema if schema is not None else infer_schema(function, mutates_args=mutates_args)
        operator = OperatorBase(namespace, plain, text)
        _operators[operator.qualified_name] = operator
        register_kernel(operator, device_types, function)
        return CustomOpDef(operator, function)

    return make if fn is None else make(fn)


def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """Makes an operator of a function that starts kernels of Triton: `custom_op`, into which a compiler may look."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Callable[..., Any], /) -> Any:
    """The kernel as it is, which a tracer would see. RuntimeError for what is none, ImportError without Triton."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    if not isinstance(triton_kernel, (JITFunction, Autotuner)):
        raise RuntimeError("wrap_triton only works on functions annotated with triton.jit or triton.autotune")
    return triton_kernel
