"""Parameters and buffers that are computed from others, by modules, whenever they are read."""

from __future__ import annotations

import collections
import copy
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.modules.container import ModuleDict, ModuleList
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch.nn.modules.module import Module

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor | None] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Computes every parametrized tensor once within a `with` block, when it is first read.

    >>> with torch.nn.utils.parametrize.cached():
    ...     pass
    """
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register_tensor(module: Module, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _set_tensor(target: Tensor, value: Tensor) -> None:
    target.data = value


class ParametrizationList(ModuleList):
    """The modules that one tensor is computed by, in turn, and what the first one starts from: `original`, or
    `original0`, `original1`, ... where a module's `right_inverse` gives several.

    `unsafe`: without the checks of shapes and dtypes.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor | Parameter, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with torch.no_grad():
            new: Any = original
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, Tensor) and not isinstance(new, collections.abc.Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            with torch.no_grad():
                _set_tensor(original, new)
            _register_tensor(self, "original", original)
        else:
            for number, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {number} of the sequence with type {type(part).__name__}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register_tensor(self, f"original{number}", part)
        if not self.unsafe:
            result = self()
            if not isinstance(result, Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
            if result.dtype != dtype:
                raise ValueError(
                    "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized dtype: {dtype}\nparametrized dtype: {result.dtype}"
                )
            if result.shape != shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized shape: {shape}\nparametrized shape: {result.shape}"
                )

    def right_inverse(self, value: Tensor) -> None:
        """Sets what the tensor is computed from, so that it becomes `value`."""
        with torch.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} "
                        f"while `original` has dtype {self.original.dtype}"
                    )
                _set_tensor(self.original, value)
                return
            if not isinstance(value, collections.abc.Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(value)}."
                )
            for number, part in enumerate(value):
                _set_tensor(getattr(self, f"original{number}"), part)

    def forward(self) -> Tensor:
        """The tensor, computed."""
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, f"original{number}") for number in range(self.ntensors)))
        for number in range(1, len(self)):
            x = self[number](x)
        result: Tensor = x
        return result


def _inject_new_class(module: Module) -> None:
    """Gives a module a class of its own, to which properties can be added."""
    kind = type(module)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__ = copy.deepcopy(self.__dict__, memo)
        return replica

    def __getstate__(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    body: dict[str, Any] = {"__getstate__": __getstate__, "_unparametrized": kind}
    if not hasattr(kind, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), body)


def _inject_property(module: Module, name: str) -> None:
    def read(self: Any) -> Tensor:
        if not _cache_enabled:
            return self.parametrizations[name]()  # type: ignore[no-any-return]
        key = (id(self), name)
        tensor = _cache.get(key)
        if tensor is None:
            tensor = _cache[key] = self.parametrizations[name]()
        assert tensor is not None
        return tensor

    def write(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """`module`, whose parameter or buffer `tensor_name` is `parametrization` of what it was, whenever it is read.

    What it is computed from is `module.parametrizations.NAME.original`. A parametrization with `right_inverse` can be
    assigned to. ValueError for a tensor of another shape or dtype, unless `unsafe`.

    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).t()
    >>> layer = torch.nn.Linear(2, 2)
    >>> _ = torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.t()).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        lists: Any = module.parametrizations
        existing = lists[tensor_name]
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            _check_same(before, after, "Registering a parametrization may not change the")
            if hasattr(parametrization, "right_inverse"):
                back = parametrization.right_inverse(after)
                _check_same(before, back, "parametrization.right_inverse may not change the")
        existing.append(parametrization)
        existing.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        lists = module.parametrizations
        lists[tensor_name] = made
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_same(before: Tensor, after: Any, start: str) -> None:
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(before, what) != getattr(after, what):
            raise ValueError(
                f"{start} {what} of the tensor, unless the `unsafe` flag is enabled.\n"
                f"before: {getattr(before, what)}\nafter: {getattr(after, what)}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of this tensor.

    >>> torch.nn.utils.parametrize.is_parametrized(torch.nn.Linear(2, 2))
    False
    """
    lists = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(lists, ModuleDict):
        return False
    return len(lists) > 0 if tensor_name is None else tensor_name in lists


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """`module` with an ordinary tensor again: the computed one, or with `leave_parametrized=False` the original.

    ValueError where the tensor is not parametrized, or the original is several tensors.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    lists: Any = module.parametrizations
    made = lists[tensor_name]
    if made.is_tensor:
        original = made.original
        if leave_parametrized:
            with torch.no_grad():
                _set_tensor(original, getattr(module, tensor_name))
    elif leave_parametrized:
        computed = getattr(module, tensor_name)
        original = Parameter(computed) if computed.requires_grad else computed
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del lists[tensor_name]
    _register_tensor(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module)._unparametrized
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it was parametrized.

    >>> torch.nn.utils.parametrize.type_before_parametrizations(torch.nn.ReLU())
    <class 'torch.nn.modules.activation.ReLU'>
    """
    return type(module)._unparametrized if is_parametrized(module) else type(module)  # type: ignore[attr-defined,no-any-return]


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """`to_module` with the parametrizations of `from_module`, all or one tensor's, and what they compute from."""
    if not is_parametrized(from_module):
        return to_module
    lists: Any = from_module.parametrizations
    for name in [tensor_name] if tensor_name is not None else list(lists):
        if not hasattr(to_module, name):
            setattr(to_module, name, copy.deepcopy(getattr(from_module, name)))
        for parametrization in lists[name]:
            register_parametrization(to_module, name, parametrization)
        targets: Any = to_module.parametrizations
        if lists[name].is_tensor:
            targets[name].original = lists[name].original
        else:
            for number in range(lists[name].ntensors):
                setattr(targets[name], f"original{number}", getattr(lists[name], f"original{number}"))
    return to_module
