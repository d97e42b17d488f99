"""Modules and parameters in lists and dictionaries."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from itertools import chain, islice
from operator import index as as_index
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _position(index: int, length: int) -> int:
    """The index counted from the start; IndexError outside."""
    position = as_index(index)
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of range")
    return position % length


class Container(Module):
    """Submodules by name: `Module` itself with a constructor, kept for old programs.

    >>> torch.nn.Container(first=torch.nn.ReLU()).first
    ReLU()
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in nn.Module. Subclass that "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Calls its modules one after the other, each with the output of the one before.

    It takes modules, which it numbers, or one dictionary of names and modules. It is indexed, sliced, joined and
    changed as a list is.

    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    >>> net(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    >>> net[1]
    ReLU()
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        single = args[0] if len(args) == 1 and isinstance(args[0], dict) else None
        named = single.items() if single is not None else ((str(number), module) for number, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def _name_at(self, index: int) -> str:
        return next(islice(self._modules, _position(index, len(self)), None))

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            delattr(self, name)
        modules = list(self._modules.values())
        self.__dict__["_modules"] = {str(number): module for number, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def __mul__(self, other: int) -> Sequential:
        """Itself, `other` times over; every copy is the same modules."""
        self._check_factor(other)
        return Sequential(*(module for _ in range(other) for module in self))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        self._check_factor(other)
        modules = list(self)
        for _ in range(other - 1):
            self.extend(modules)
        return self

    @staticmethod
    def _check_factor(other: int) -> None:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {Sequential} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {Sequential}")

    def append(self, module: Module) -> Sequential:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Sequential:
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = list(self._modules.values())
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index, module)
        self.__dict__["_modules"] = {str(number): item for number, item in enumerate(modules)}
        return self

    def pop(self, key: int | slice) -> Any:
        value = self[key]
        del self[key]
        return value


class ModuleList(Module):
    """Submodules in a list, whose parameters count among those of the module that holds it.

    It has no forward of its own. `insert`, `extend`, `append`, slices and `+` are those of lists.

    >>> layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
    >>> len(layers), len(list(layers.parameters()))
    (3, 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])  # type: ignore[arg-type]
        return self._modules[str(_position(index, len(self)))]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, str(_position(index, len(self))), module)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self._modules.values())
        del modules[index]
        self._replace(modules)

    def _replace(self, modules: list[Any]) -> None:
        self.__dict__["_modules"] = {str(number): module for number, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __repr__(self) -> str:
        """Runs of equal modules are written once, as `(0-2): 3 x Linear(...)`."""
        texts = [repr(module) for module in self]
        if not texts:
            return f"{self._get_name()}()"
        lines, start = [], 0
        for end in range(1, len(texts) + 1):
            if end == len(texts) or texts[end] != texts[start]:
                text = texts[start].replace("\n", "\n  ")
                count = end - start
                lines.append(f"({start}): {text}" if count == 1 else f"({start}-{end - 1}): {count} x {text}")
                start = end
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def append(self, module: Module) -> ModuleList:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> None:
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._replace(modules)

    def pop(self, key: int) -> Any:
        value = self[key]
        del self[key]
        return value


class ModuleDict(Module):
    """Submodules in a dictionary, in the order of their insertion.

    >>> choices = torch.nn.ModuleDict({"relu": torch.nn.ReLU(), "tanh": torch.nn.Tanh()})
    >>> choices["relu"](torch.tensor([-1.0]))
    tensor([0.])
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        return self._modules.items()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        pairs: Any = modules.items() if hasattr(modules, "items") else modules
        for key, module in pairs:
            self[key] = module

    def pop(self, key: str) -> Any:
        return self._modules.pop(key)

    def clear(self) -> None:
        self._modules.clear()


class ParameterList(Module):
    """Parameters (and other values) in a list; tensors become parameters.

    >>> weights = torch.nn.ParameterList([torch.ones(2), torch.zeros(3)])
    >>> [weight.numel() for weight in weights.parameters()]
    [2, 3]
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)([self[number] for number in range(*index.indices(len(self)))])
        return getattr(self, str(_position(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[number] for number in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: Any) -> ParameterList:
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        if isinstance(values, Tensor) or not hasattr(values, "__iter__"):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({number}): {_described(value)}" for number, value in enumerate(self))


class ParameterDict(Module):
    """Parameters (and other values) in a dictionary; tensors become parameters.

    >>> list(torch.nn.ParameterDict({"scale": torch.ones(2)}).state_dict())
    ['scale']
    """

    def __init__(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}')."
            )
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        return (self[key] for key in self._keys)

    def items(self) -> Iterable[tuple[str, Any]]:
        return ((key, self[key]) for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self._keys:
            self[key] = default
        return self[key]

    def popitem(self) -> tuple[str, Any]:
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def copy(self) -> ParameterDict:
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        return ParameterDict((key, default) for key in keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __or__(self, other: ParameterDict) -> ParameterDict:
        copy = self.copy()
        copy.update(other)
        return copy

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        copy = other.copy()
        copy.update(self)
        return copy

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def update(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Adds parameters: of a mapping without an order of its own, as a plain dict is taken for, by name."""
        pairs: Any = parameters.items() if hasattr(parameters, "items") else parameters
        if isinstance(parameters, Mapping) and not isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = sorted(pairs)
        for key, value in pairs:
            self[key] = value

    def pop(self, key: str) -> Any:
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        for key in list(self._keys):
            del self[key]

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {_described(value, legacy_name=True)}" for key, value in self.items())


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(value: Any, legacy_name: bool = False) -> str:
    """A value in a repr; `legacy_name`: torch.FloatTensor for torch.float32, as PyTorch writes it in dictionaries."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(length) for length in value.size())
    device = "" if value.device == torch.device("cpu") else f" ({value.device})"
    name = value.detach().type() if legacy_name else str(value.dtype)
    return f"{kind} containing: [{name} of size {size}{device}]"
