"""`__torch_function__`: classes and modes that answer in place of torch's own functions.

Every function and method of torch looks at its arguments first. If the class of one, or of a tensor in a list among
them, has `__torch_function__` (subclasses of `Tensor` inherit one that keeps their class), it is called as
`__torch_function__(func, types, args, kwargs)` and its result is the function's. `NotImplemented` passes the question
on; the innermost active `TorchFunctionMode` is asked before all classes.
"""

from __future__ import annotations

import functools
import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

has_torch_function = _C._has_torch_function
has_torch_function_unary = _C._has_torch_function_unary
has_torch_function_variadic = _C._has_torch_function_variadic
_get_overloaded_args = _C._get_overloaded_args


# ---------------------------------------------------------------------- asking


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], /, *args: Any, **kwargs: Any
) -> Any:
    """What the innermost mode, or the classes of `relevant_args` (subclasses first), answer for `public_api`.

    TypeError if all of them return NotImplemented.
    """
    relevant = tuple(relevant_args)
    answer = _C._call_torch_function(public_api, relevant, args, kwargs)
    if answer is NotImplemented:
        name = f"{public_api.__module__}.{public_api.__name__}"
        types = [type(argument) for argument in _get_overloaded_args(relevant)]
        text = f"no implementation found for '{name}' on types that implement __torch_function__: {types}"
        if _C._is_torch_function_mode_enabled():
            text += f" nor was it found on the currently active mode {_get_current_function_mode()}"
        raise TypeError(text)
    return answer


def _call_in_canonical_form(
    public: Callable[..., Any], function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Asks with the arguments as PyTorch passes them on: what has a default by its name, the rest by position."""
    mode = _get_current_function_mode()
    if getattr(mode, "takes_parts", False):
        return mode.call_python(public, function, args, kwargs)
    relevant = (*args, *kwargs.values())
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        function(*args, **kwargs)  # which says what is wrong with the call
        raise
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in bound.signature.parameters.values():
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:  # tensors, one by one also where they came in a list
            positional += value[0] if len(value) == 1 and isinstance(value[0], (list, tuple)) else value
        elif parameter.kind is parameter.VAR_KEYWORD:
            named |= value
        elif parameter.default is parameter.empty:
            positional.append(value)
        else:
            named[parameter.name] = value
    return handle_torch_function(public, relevant, *positional, **named)


def redispatch_function(
    func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """For a `__torch_function__`: `func(*args, **kwargs)` as if nobody answered for it; for what it calls, all do.

    Of a function of torch that is written in Python the parts come back to the class (or to a mode, inside
    `with self:`); one of the compiled core has no parts.
    """
    named = kwargs or {}
    body = getattr(func, "__wrapped__", None)
    if body is not None:
        return body(*args, **named)
    if not inspect.isfunction(func):
        with _C.DisableTorchFunction():
            return func(*args, **named)
    before = _C._set_skip_next_torch_function(True)
    try:
        return func(*args, **named)
    finally:
        _C._set_skip_next_torch_function(before)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function for which classes may answer; `dispatcher(*args, **kwargs)` gives the relevant arguments."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or its class has `__torch_function__`."""
    return type(inp) is torch.Tensor or hasattr(inp, "__torch_function__")


# ---------------------------------------------------------------------- modes


class TorchFunctionMode:
    """A context manager that answers for every function of torch while it is active.

    Subclasses define `__torch_function__(self, func, types, args=(), kwargs=None)`; inside it the mode is off, so that
    it can call `func(*args, **(kwargs or {}))`.
    """

    def __init__(self) -> None:
        """Nothing to set up; subclasses need not call this."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _C._push_on_torch_function_stack(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _C._pop_torch_function_stack()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A new mode: the same as calling the class."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that only calls on."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> Any:
    depth = _C._len_torch_function_stack()
    return _C._get_function_stack_at(depth - 1) if depth else None


def _get_current_function_mode_stack() -> list[Any]:
    return [_C._get_function_stack_at(position) for position in range(_C._len_torch_function_stack())]


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    mode = _C._pop_torch_function_stack()
    try:
        yield mode
    finally:
        _C._push_on_torch_function_stack(mode)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Inside `__torch_function__`: classes and modes answer again."""
    before = _C._get_torch_function_state()
    _C._set_torch_function_state(0)
    try:
        yield
    finally:
        _C._set_torch_function_state(before)


_enable_torch_function = enable_reentrant_dispatch


# ---------------------------------------------------------------------- what can be overridden


@functools.cache
def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Functions whose results `Tensor.__torch_function__` leaves as they are."""
    kind = torch.Tensor
    return {kind._base.__get__, kind.grad.__get__, kind._grad.__get__}  # type: ignore[attr-defined]


# Functions of torch that take no tensors, or set something up.
_IGNORED = (  # noqa: SIM905
    "arange as_tensor asarray autocast bartlett_window blackman_window broadcast_shapes can_cast compile device dtype "
    "empty empty_strided enable_grad eye fork_rng frombuffer from_file from_numpy full get_default_dtype "
    "get_num_threads get_rng_state hamming_window hann_window inference_mode initial_seed is_grad_enabled "
    "is_inference_mode_enabled is_storage is_tensor kaiser_window linspace load logspace manual_seed "
    "no_grad normal ones promote_types rand randint randn randperm range save scalar_tensor seed set_default_device "
    "set_default_dtype set_default_tensor_type set_grad_enabled set_num_threads set_printoptions set_rng_state tensor "
    "tril_indices triu_indices typename zeros"
).split()
# Parts of Tensor that belong to its class, not to the protocol.
_IGNORED_METHODS = (  # noqa: SIM905
    "__class__ __delattr__ __dict__ __dir__ __doc__ __getattribute__ __getstate__ __hash__ __init__ __init_subclass__ "
    "__module__ __new__ __reduce__ __setattr__ __sizeof__ __slots__ __str__ __subclasshook__ __torch_function__ "
    "__weakref__ __array_priority__ _make_subclass as_subclass _add_grad_hook _remove_grad_hook new"
).split()


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions of torch and Tensor that ask nobody, since they take no tensors or only make some."""
    found = {getattr(torch, name) for name in _IGNORED if hasattr(torch, name)}
    return found | {
        getattr(torch.Tensor, name) for name in _IGNORED_METHODS if callable(getattr(torch.Tensor, name, None))
    }


def _is_python_function_that_asks(value: Any) -> bool:
    return inspect.isfunction(value) and hasattr(value, "__wrapped__")


@functools.cache
def _functions_and_names() -> tuple[dict[Any, list[Callable[..., Any]]], dict[Callable[..., Any], str]]:
    functions: dict[Any, list[Callable[..., Any]]] = {}
    names: dict[Callable[..., Any], str] = {}
    ignored = get_ignored_functions()
    for text, space in (("torch", torch), ("torch.nn.functional", torch.nn.functional)):
        for name in space.__all__:
            value = getattr(space, name, None)
            if not inspect.isbuiltin(value) and not _is_python_function_that_asks(value):
                continue
            if value not in ignored and not name.startswith("_"):
                functions.setdefault(space, []).append(value)
                names.setdefault(value, f"{text}.{name}")
    for name in dir(torch.Tensor):
        value = getattr(torch.Tensor, name, None)
        if name in _IGNORED_METHODS or value is None:
            continue
        if inspect.isgetsetdescriptor(value):
            functions.setdefault(torch.Tensor, []).append(value.__get__)
            names[value.__get__] = f"torch.Tensor.{name}.__get__"
            names[value.__set__] = f"torch.Tensor.{name}.__set__"
        elif callable(value):
            functions.setdefault(torch.Tensor, []).append(value)
            names.setdefault(value, f"torch.Tensor.{name}")
    return functions, names


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions that classes can answer for, by the namespace that has them."""
    return _functions_and_names()[0]


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The name under which torch has an overridable function, such as "torch.Tensor.add"; None if it has none."""
    return _functions_and_names()[1].get(f)


@functools.cache
def _methods_and_properties() -> set[Callable[..., Any]]:
    return set(get_overridable_functions()[torch.Tensor])


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether it is a method of Tensor, or the getter or setter of one of its properties."""
    return func in _methods_and_properties() or getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__")


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """For every overridable function one that takes anything and returns -1."""
    functions = [function for listed in get_overridable_functions().values() for function in listed]
    return dict.fromkeys(functions, lambda *args, **kwargs: -1)
