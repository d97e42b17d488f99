"""Schemas of operators that programs define: from annotations, and read again."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TYPES = {
    "Tensor": "Tensor",
    "int": "SymInt",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "int | float | bool": "Scalar",
    "torch.dtype": "ScalarType",
    "torch.device": "Device",
}


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: str | Iterable[str] = (), op_name: str | None = None
) -> str:
    """The schema that a function's annotations say.

    >>> def f(x: torch.Tensor, y: float = 1.0) -> torch.Tensor: ...
    >>> torch.library.infer_schema(f, mutates_args=())
    '(Tensor x, float y=1.) -> Tensor'
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    texts = []
    keyword_only = False
    for place, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            texts.append("*")
            keyword_only = True
        if parameter.name not in hints:
            raise ValueError(
                f"infer_schema(func): Parameter {parameter.name} must have a type annotation. Got func with signature "
                f"{signature})"
            )
        kind = _type_text(hints[parameter.name])
        changed = mutates_args == "unknown" or parameter.name in mutates_args
        if changed and kind.startswith("Tensor"):
            kind = kind.replace("Tensor", f"Tensor(a{place}!)", 1)
        default = parameter.default
        text = f"{kind} {parameter.name}"
        if default is not parameter.empty:
            text += f"={_default_text(default)}"
        texts.append(text)
    returned = hints.get("return", None)
    if returned is type(None) or returned is None:
        result = "()"
    elif typing.get_origin(returned) is tuple:
        result = f"({', '.join(map(_type_text, typing.get_args(returned)))})"
    else:
        result = _type_text(returned)
    return f"{op_name or ''}({', '.join(texts)}) -> {result}"


infer_schema.__module__ = "torch.library"


def _default_text(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return f"{value!r}".removesuffix("0") if value.is_integer() else repr(value)
    return str(value).removeprefix("torch.")


def _type_text(annotation: Any) -> str:
    if annotation is torch.Tensor:
        return "Tensor"
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    if arguments and type(None) in arguments:
        given = tuple(item for item in arguments if item is not type(None))
        return f"{_type_text(typing.Union[given])}?"  # noqa: UP007 - a tuple of types
    if set(arguments) == {int, float, bool}:
        return "Scalar"
    if origin is not None and arguments and origin.__name__ in ("list", "Sequence", "List"):
        return f"{_type_text(arguments[0])}[]"
    name = getattr(annotation, "__name__", str(annotation))
    name = {"dtype": "torch.dtype", "device": "torch.device"}.get(name, name)
    if name not in _TYPES:
        raise ValueError(f"infer_schema(func): unsupported type {annotation}")
    return _TYPES[name]


def parameters_of(schema: str) -> tuple[list[tuple[str, Any]], int]:
    """The names of a schema "(Tensor x, *, float y=1.0) -> Tensor" with their defaults, and how many are positional."""
    match = re.search(r"\((.*)\)\s*->", schema, re.DOTALL)
    if match is None:
        raise RuntimeError(f"expected a schema such as `(Tensor x) -> Tensor`, but got `{schema}`")
    parameters: list[tuple[str, Any]] = []
    positional = None
    for text in split_declarations(match[1]):
        if text == "*":
            positional = len(parameters)
            continue
        declaration, _, default = text.partition("=")
        name = declaration.split()[-1]
        parameters.append((name, default_of(default) if default else inspect.Parameter.empty))
    return parameters, len(parameters) if positional is None else positional


def split_declarations(text: str) -> list[str]:
    """The parts of "Tensor x, *, float y=1.0"."""
    depth, start, parts = 0, 0, []
    for place, letter in enumerate(f"{text},"):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in parts if part]


def default_of(text: str) -> Any:
    """The value of a schema's default: `1`, `None`, `[0, 1]`, `'none'`, `long`."""
    text = text.strip()
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"True": True, "False": False, "None": None}.get(text, getattr(torch, text, text))
