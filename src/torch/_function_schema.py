"""What an operator's schema says: the classes behind `torch.ops.aten.add.Tensor._schema`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from torch._operator_schemas import default_of, split_declarations

_ALIAS = re.compile(r"\((\w+)(!?)\)")
_LIST = re.compile(r"(\w+)\[(\d*)\]\??$")


@dataclass(frozen=True)
class AliasInfo:
    """`(a)` or `(a!)`: what a tensor shares memory with, and whether it is written."""

    before_set: frozenset[str]
    is_write: bool

    @property
    def after_set(self) -> frozenset[str]:
        """The same as `before_set`."""
        return self.before_set


@dataclass(frozen=True)
class Argument:
    """One argument of a schema, or one result."""

    name: str
    type: str
    alias_info: AliasInfo | None = None
    default_value: Any = None
    kwarg_only: bool = False
    is_out: bool = False
    is_required: bool = True
    N: int | None = None  # of int[2]: how many there are; one number stands for all

    def has_default_value(self) -> bool:
        """Whether it may be left out."""
        return not self.is_required


@dataclass(frozen=True)
class FunctionSchema:
    """`name`, `overload_name`, `arguments` and `returns` of an operator; `str` gives it as PyTorch writes it."""

    name: str
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    text: str

    @property
    def is_mutable(self) -> bool:
        """Whether it writes to an argument."""
        return any(argument.alias_info and argument.alias_info.is_write for argument in self.arguments)

    def __str__(self) -> str:
        return self.text


def parse_schema(text: str) -> FunctionSchema:
    """The schema `namespace::name.overload(arguments) -> returns`."""
    full_name, _, rest = text.partition("(")
    inner, _, results = rest.rpartition(") -> ")
    name, _, overload = full_name.partition(".")
    arguments = []
    keyword_only = False
    for part in split_declarations(inner):
        if part == "*":
            keyword_only = True
        else:
            arguments.append(_argument(part, keyword_only))
    returns = split_declarations(results[1:-1]) if results.startswith("(") else [results]
    return FunctionSchema(name, overload, tuple(arguments), tuple(_argument(part, False) for part in returns), text)


def _argument(text: str, keyword_only: bool) -> Argument:
    declaration, _, default = text.partition("=")
    kind, _, name = declaration.strip().partition(" ")
    found = _ALIAS.search(kind)
    alias = AliasInfo(frozenset({f"alias::{found[1]}"}), bool(found[2])) if found else None
    kind = _ALIAS.sub("", kind)
    value = default_of(default) if default else None
    sized = _LIST.match(kind)
    count = int(sized[2]) if sized and sized[2] else None
    if count and isinstance(value, list) and len(value) == 1:
        value = value * count
    is_out = keyword_only and alias is not None and alias.is_write
    return Argument(name, kind, alias, value, keyword_only, is_out, not default, count)
