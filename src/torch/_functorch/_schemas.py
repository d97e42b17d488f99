"""How arguments are called: the signatures that every function of the core has at the top of its documentation."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from torch import Size, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

_SECOND_NAMES = {"self": "input", "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input"}
_NUMBERS = (int, float, complex)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_integers(value: Any) -> bool:
    return _is_integer(value) or (isinstance(value, (tuple, list, Size)) and all(_is_integer(item) for item in value))


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda value: isinstance(value, Tensor),
    "Tensor or Number": lambda value: isinstance(value, (Tensor, *_NUMBERS)),
    "tuple of Tensors": lambda value: isinstance(value, (tuple, list)),
    "int": _is_integer,
    "tuple of ints": _is_integers,
    "bool": lambda value: isinstance(value, bool),
    "float": lambda value: isinstance(value, _NUMBERS),
    "Number": lambda value: isinstance(value, _NUMBERS),
    "str": lambda value: isinstance(value, str),
}
_DEFAULTS = {"None": None, "True": True, "False": False}


@dataclass(frozen=True)
class Parameter:
    """`default` is `inspect.Parameter.empty` where there is none."""

    name: str
    kind: str
    default: Any
    keyword_only: bool

    def takes(self, value: Any) -> bool:
        if value is None:
            return self.default is None or self.kind not in _CHECKS
        check = _CHECKS.get(self.kind)
        return check is None or check(value)


def _default(text: str) -> Any:
    if text in _DEFAULTS:
        return _DEFAULTS[text]
    if text.startswith("("):
        return tuple(int(item) for item in text[1:-1].split(",") if item.strip())
    try:
        return int(text)
    except ValueError:
        return text.strip("'")


def _parameters(text: str, is_method: bool) -> tuple[Parameter, ...]:
    empty = inspect.Parameter.empty
    found = [Parameter("input", "Tensor", empty, False)] if is_method else []
    keyword_only = False
    for part in re.split(r", (?![^(]*\))", text):
        if part == "*":
            keyword_only = True
        elif part:
            declaration, _, default = part.partition("=")
            kind, _, name = declaration.rpartition(" ")
            found.append(Parameter(name, kind, _default(default) if default else empty, keyword_only))
    return tuple(found)


@cache
def schemas(func: Callable[..., Any]) -> tuple[tuple[Parameter, ...], ...]:
    """The parameters of every overload; of a method with the tensor itself as the first, `input`."""
    lines = (func.__doc__ or "").split("\n\n")[0].split("\n")
    matches = [re.match(r"\w+\((.*?)\) -> ", line) for line in lines]
    return tuple(_parameters(match[1], not inspect.isbuiltin(func)) for match in matches if match)


def bind(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of a call by name, without those that were left out; None if no overload takes them."""
    found = find(func, args, kwargs)
    return found and found[1]


def find(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Parameter, ...], dict[str, Any]] | None:
    """The overload that takes the arguments, and these by name."""
    for parameters in schemas(func):
        values = _bound(parameters, args, kwargs)
        if values is not None:
            return parameters, values
    return None


def _bound(parameters: tuple[Parameter, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    positional = [parameter for parameter in parameters if not parameter.keyword_only]
    if len(args) > len(positional) or (len(positional) == 2 and len(args) == 2):
        # x.permute(0, 1): the only list is spread out
        if len(positional) == 2 and positional[1].kind == "tuple of ints" and all(map(_is_integer, args[1:])):
            args = (args[0], tuple(args[1:]))
        elif len(args) > len(positional):
            return None
    values = {parameter.name: value for parameter, value in zip(positional, args, strict=False)}
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in kwargs.items():
        meant = name if name in known else _SECOND_NAMES.get(name, name)
        if meant not in known or meant in values:
            return None
        values[meant] = value
    for parameter in parameters:
        if parameter.name in values:
            if not parameter.takes(values[parameter.name]):
                return None
        elif parameter.default is inspect.Parameter.empty:
            return None
    return values
