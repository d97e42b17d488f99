"""JSON schemas of our YAML files, made from the types that read them (`slipway.base.schema`)."""

from __future__ import annotations

import dataclasses
import enum
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

from slipway.base.schema import key_of

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}
_ATTRIBUTES = re.compile(r"Attributes:(?=[ \t]*$|[ \t]+\S)", re.MULTILINE)
_ENTRY = re.compile(r"^(?P<indent>\s+)(?P<names>\w+(?:, \w+)*(?: and \w+)?): (?P<text>.*)$")


def json_schema(kind: Any, title: str) -> dict[str, Any]:
    """The schema of a file that is read as a `kind`."""
    definitions: dict[str, Any] = {}
    schema = _schema_of(kind, definitions)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return head | schema | ({"$defs": dict(sorted(definitions.items()))} if definitions else {})


def _schema_of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if origin in (typing.Union, types.UnionType):
        some = next(argument for argument in arguments if argument is not type(None))
        return {"anyOf": [_schema_of(some, definitions), {"type": "null"}]}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], definitions)}
    if origin is Literal:
        return {"enum": list(arguments)}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if hasattr(kind, "parse"):
        return {"type": "string"}
    return _reference(kind, definitions)


def _reference(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__.lstrip("_")
    if name not in definitions:
        definitions[name] = {}  # which ends the search where a type holds itself
        definitions[name] = _object(kind, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints, said = typing.get_type_hints(kind), _attributes(kind)
    properties, required = {}, []
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        described = {"description": said[field.name]} if field.name in said else {}
        properties[key_of(field)] = described | _schema_of(hints[field.name], definitions)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(key_of(field))
    first = (kind.__doc__ or "").strip().partition("\n")[0].partition(" Attributes:")[0]
    found: dict[str, Any] = {"type": "object", "description": first, "properties": properties}
    return found | ({"required": required} if required else {}) | {"additionalProperties": False}


def _attributes(kind: Any) -> dict[str, str]:
    """What docstrings of a class and its bases say of each attribute."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        head = _ATTRIBUTES.search(base.__doc__ or "")
        if head is None:
            continue
        names: list[str] = []
        for line in (base.__doc__ or "")[head.end() :].splitlines():
            if entry := _ENTRY.match(line):
                names = re.findall(r"\w+", entry["names"].replace(" and ", " "))
                found |= dict.fromkeys(names, entry["text"].strip())
            elif line.strip():
                found |= {name: f"{found[name]} {line.strip()}" for name in names}
            else:
                names = []
    return found
