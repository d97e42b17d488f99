"""Parses the text of a schema into `FunctionSchema`; see `model` for its parts.

Strict: a schema must print back to the very text it was parsed from, so there is one way to write each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchgen.errors import SchemaError
from torchgen.model import Alias, Argument, BaseType, FunctionSchema, Return, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

_SCHEMA = re.compile(
    r"(?P<name>[a-z_][a-z0-9_]*)(?:\.(?P<overload>[A-Za-z_][A-Za-z0-9_]*))?\((?P<arguments>.*)\) -> (?P<returns>.+)"
)
_TYPE = re.compile(
    r"(?P<base>[A-Za-z]+)(?:\((?P<alias>[a-z])(?P<write>!?)\))?(?:(?P<element_optional>\?)?(?P<list>\[(?P<size>\d*)\]))?(?P<optional>\??)"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFAULTS = {
    BaseType.INT: re.compile(r"-?\d+"),
    BaseType.FLOAT: re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?"),
    BaseType.SCALAR: re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?"),
    BaseType.BOOL: re.compile(r"True|False"),
    BaseType.STR: re.compile(r"'[^']*'"),
    BaseType.SCALAR_TYPE: re.compile(r"long|float|double|bool"),
    BaseType.MEMORY_FORMAT: re.compile(r"contiguous_format|preserve_format"),
}


def parse_type(text: str) -> Type:
    """`Tensor(a!)`, `int[1]?`, ... Raises SchemaError."""
    match = _TYPE.fullmatch(text)
    names = {base.value: base for base in BaseType}
    if match is None or match["base"] not in names:
        raise SchemaError(f"`{text}` is not a type; the types are {', '.join(names)}, with `[]`, `[N]` and `?`")
    alias = Alias(match["alias"], bool(match["write"])) if match["alias"] else None
    parsed = Type(
        base=names[match["base"]],
        alias=alias,
        is_list=match["list"] is not None,
        list_size=int(match["size"]) if match["size"] else None,
        element_optional=bool(match["element_optional"]),
        optional=bool(match["optional"]),
    )
    if alias is not None and parsed.base is not BaseType.TENSOR:
        raise SchemaError(f"`{text}`: only a Tensor can alias another")
    return parsed


def split_top(text: str) -> list[str]:
    """Splits at the commas that stand outside of brackets and quotes: `a, int[] b=[1, 2]` has two parts."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, character in enumerate(text):
        if character == "'":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([<":
            depth += 1
        elif character in ")]>":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    if text.strip():
        parts.append(text[start:].strip())
    return parts


def _parse_argument(text: str, keyword_only: bool) -> Argument:
    declaration, has_default, default = text.partition("=")
    type_text, _, name = declaration.rpartition(" ")
    if not type_text or _NAME.fullmatch(name) is None:
        raise SchemaError(f"`{text}` is not an argument of the form `Type name` or `Type name=default`")
    argument = Argument(parse_type(type_text), name, default if has_default else None, keyword_only)
    _check_default(argument)
    return argument


def _check_default(argument: Argument) -> None:
    default, kind = argument.default, argument.type
    if default is None:
        return
    if default == "None":
        if not kind.optional:
            raise SchemaError(f"`{argument}`: only a type with `?` can be None")
    elif kind.is_list:
        if re.fullmatch(r"\[(-?\d+(, -?\d+)*)?\]", default) is None:
            raise SchemaError(f"`{argument}`: the default of a list is written `[1, 2]`")
    elif kind.base not in _DEFAULTS or _DEFAULTS[kind.base].fullmatch(default) is None:
        raise SchemaError(f"`{argument}`: `{default}` is no {kind.base.value}")


def _parse_arguments(text: str) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    keyword_only = False
    for part in split_top(text):
        if part == "*":
            if keyword_only:
                raise SchemaError("`*` stands twice")
            keyword_only = True
            continue
        argument = _parse_argument(part, keyword_only)
        if any(other.name == argument.name for other in arguments):
            raise SchemaError(f"two arguments are called `{argument.name}`")
        if not keyword_only and argument.default is None and arguments and arguments[-1].default is not None:
            raise SchemaError(f"`{argument}` has no default but follows `{arguments[-1]}`, which has one")
        arguments.append(argument)
    return tuple(arguments)


def _parse_returns(text: str) -> tuple[Return, ...]:
    if not text.startswith("("):
        return (Return(parse_type(text)),)
    returns = []
    for part in split_top(text[1:-1]):
        type_text, _, name = part.partition(" ")
        returns.append(Return(parse_type(type_text), name or None))
    return tuple(returns)


def _check_aliases(arguments: Sequence[Argument], returns: Sequence[Return]) -> None:
    known = {argument.type.alias for argument in arguments}
    for result in returns:
        if result.type.alias is not None and result.type.alias not in known:
            raise SchemaError(f"the result `{result}` aliases no argument")


def parse_schema(text: str) -> FunctionSchema:
    """Raises SchemaError with a message that says what is wrong, without a location."""
    match = _SCHEMA.fullmatch(text)
    if match is None:
        raise SchemaError(f"`{text}` is not of the form `name.overload(Type argument, ...) -> Type`")
    arguments = _parse_arguments(match["arguments"])
    returns = _parse_returns(match["returns"])
    _check_aliases(arguments, returns)
    schema = FunctionSchema(match["name"], match["overload"] or "", arguments, returns)
    if str(schema) != text:
        raise SchemaError(f"`{text}` must be written `{schema}`")
    return schema
