"""How a graph is written as Python: operators, names, values, annotations."""

from __future__ import annotations

import builtins
import keyword
import math
import re
import sys
from enum import Enum
from typing import Any

import torch
from torch.fx.node import Node, _get_qualified_name, _type_repr

_ORDINARY = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "div": "/", "mod": "%", "pow": "**"}
_BITS = {"lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}
_PREFIXES = {"pos": "+", "neg": "-", "invert": "~"}
reflectable_magic_methods = {name: f"{{}} {sign} {{}}" for name, sign in {**_ORDINARY, **_BITS}.items()}
reflectable_magic_methods["getitem"] = "{}[{}]"
magic_methods = {
    **{name: f"{{}} {sign} {{}}" for name, sign in _COMPARISONS.items()},
    **{name: f"{sign}{{}}" for name, sign in _PREFIXES.items()},
    **reflectable_magic_methods,
}
inplace_methods = {
    **{f"i{name.rstrip('_')}": f"{{}} {sign}= {{}}" for name, sign in {**_ORDINARY, **_BITS}.items() if name != "div"},
    "setitem": "{}[{}] = {}",
}
# What generated code may name without an import of its own.
BUILTINS: dict[str, Any] = {
    "inf": math.inf,
    "nan": math.nan,
    "NoneType": type(None),
    "torch": torch,
    "device": torch.device,
}


def snake_case(text: str) -> str:
    """TwoWords as two_words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


class _Namespace:
    """Gives every node a name of its own, made of the one that is wished for."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}
        self._of: dict[Any, str] = {}

    def create_name(self, candidate: str, obj: Any = None) -> str:
        """`candidate` as an identifier, with a number behind it if it is taken."""
        if obj is not None and obj in self._of:
            return self._of[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.fullmatch(r"(.*?)_(\d+)", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, self._counts.get(candidate, 0))
        name = candidate if match or not number else f"{base}_{number}"
        while name in self._used or self._is_taken(name):
            number += 1
            name = f"{base}_{number}"
        self._counts[base] = max(self._counts.get(base, 0), number)
        self._used.add(name)
        if obj is not None:
            self._of[obj] = name
        return name

    @staticmethod
    def _is_taken(name: str) -> bool:
        return keyword.iskeyword(name) or hasattr(builtins, name) or name in BUILTINS

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Says whose name it is."""
        self._of.setdefault(obj, name)
        self._used.add(name)


def argument_text(value: Any, objects: dict[str, Any]) -> str:
    """A value as Python writes it; what takes a name goes into `objects`."""
    if isinstance(value, Node):
        return value.name
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            return f"{object_name(type(value), objects)}({', '.join(argument_text(item, objects) for item in value)})"
        items = ", ".join(argument_text(item, objects) for item in value)
        if isinstance(value, torch.Size):
            return f"torch.Size([{items}])"
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, list):
        return f"[{', '.join(argument_text(item, objects) for item in value)}]"
    if isinstance(value, dict):
        pairs = (f"{argument_text(key, objects)}: {argument_text(item, objects)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, slice):
        parts = ", ".join(argument_text(part, objects) for part in (value.start, value.stop, value.step))
        return f"slice({parts})"
    if isinstance(value, torch.device):
        return repr(value)
    if hasattr(value, "__module__") and isinstance(value, type):
        return object_name(value, objects)
    if callable(value) and hasattr(value, "__name__"):
        return object_name(value, objects)
    if isinstance(value, Enum):
        return f"{object_name(type(value), objects)}.{value.name}"
    return repr(value)


def object_name(value: Any, objects: dict[str, Any]) -> str:
    """The name of a function or class in the text."""
    if isinstance(value, type):
        if value.__module__ == "builtins":
            objects.setdefault(value.__name__, value)
            return value.__name__
        qualified = f"{value.__module__}.{value.__qualname__}"
    else:
        qualified = _get_qualified_name(value)
    if qualified.startswith("torch.") and _resolve(qualified) is value:
        return qualified
    name = re.sub(r"[^0-9a-zA-Z_]+", "_", qualified)
    count = 1
    unique = name
    while objects.setdefault(unique, value) is not value:
        unique = f"{name}_{count}"
        count += 1
    return unique


def _resolve(qualified: str) -> Any:
    value: Any = torch
    for part in qualified.split(".")[1:]:
        value = getattr(value, part, None)
    return value


def target_text(path: str, root: str) -> str:
    """`self.layers.0.weight` as Python can read it."""
    for part in path.split("."):
        root = f"{root}.{part}" if part.isidentifier() else f'getattr({root}, "{part}")'
    return root


def annotation_text(annotation: Any, objects: dict[str, Any]) -> str:
    """An annotation as Python writes it."""
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return object_name(annotation, objects)
    text = _type_repr(annotation) if not isinstance(annotation, str) else annotation
    if "typing." in text:
        import typing

        objects.setdefault("typing", typing)
    for part in re.findall(r"[A-Za-z_]\w*(?=\.)", text):
        module = sys.modules.get(part)
        if module is not None:
            objects.setdefault(part, module)
    return text
