"""Files of our own as frozen dataclasses, read strictly: in YAML a mistake is an error that names file, line and key.

`convert` does the same with plain values that slipway wrote itself, see `slipway.base.json_file`.

A field's annotation says what its value must be: text, numbers, true or false, a `Literal`, an enum, a tuple, a
mapping, another dataclass, a class with a method ``parse(text)``, or any of them ``| None``. A key too many, one
missing (a field without a default), one written twice and a value of another type are refused. What an annotation
cannot say, a dataclass checks in ``__post_init__`` by raising `InvalidValueError`.

    >>> @dataclass(frozen=True)
    ... class Budget:
    ...     package: str
    ...     files: Mapping[str, int] = field(default_factory=dict)
    ...     except_: tuple[str, ...] = yaml_key("except", default=())
    >>> read_yaml(path, Budget)
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import functools
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import yaml

from slipway.base.errors import SlipwayError, UsageError

_T = TypeVar("_T")
_KEY = "yaml key"
_VARIABLE = re.compile(r"\$(\$?)\{(\w+)\}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Key = tuple[str | int, ...]
"""Where in a document a value stands: keys of mappings, and places in lists."""


class InvalidValueError(ValueError):
    """A value that has the right type and is wrong all the same; `key` is the field's, empty for the whole."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


def yaml_key(name: str, **arguments: Any) -> Any:
    """A dataclass field whose key in the file is `name`: a word of Python, or one with a dash; else as `field`."""
    return dataclasses.field(**arguments, metadata={_KEY: name})


def key_of(field: dataclasses.Field[Any]) -> str:
    """The key in the file that a dataclass field is read from."""
    return str(field.metadata.get(_KEY, field.name))


def read_yaml(path: Path, kind: type[_T], *, error: type[SlipwayError] = UsageError, hint: str | None = None) -> _T:
    """The file at `path` as a `kind`.

    Args:
        error: the type of the error that a mistake raises.
        hint: what to do next, for that error.
    """
    return read_document(path, error=error, hint=hint).convert(kind)


def read_document(path: Path, *, error: type[SlipwayError] = UsageError, hint: str | None = None) -> YamlDocument:
    """The file at `path`, not yet looked at; for what `read_yaml` raises, see there."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise error(f"the file cannot be read: {reason}", where=str(path), hint=hint) from problem
    try:
        loader = _LOADER(text)
        node = loader.get_single_node()
        value = None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise error(f"not valid YAML: {getattr(problem, 'problem', problem)}", where=where, hint=hint) from None
    document = YamlDocument(path, value, node, error, hint)
    document.refuse_twice(node, ())
    return document


def convert(value: Any, kind: type[_T]) -> _T | None:
    """A plain value as a `kind`; None where it is none."""
    try:
        return YamlDocument(Path(), value, None, UsageError, None).convert(kind)
    except UsageError:
        return None


@dataclass(frozen=True)
class YamlDocument:
    """A YAML file: its plain value, and where each key stands."""

    path: Path
    value: Any
    node: yaml.Node | None = dataclasses.field(repr=False, compare=False)
    error_type: type[SlipwayError]
    hint: str | None

    def error(self, message: str, key: Key = (), *, hint: str | None = None) -> SlipwayError:
        """An error at `key` of this file."""
        return self.error_type(message, where=f"{self.path}:{self._line(key)}", hint=hint or self.hint)

    def convert(self, kind: type[_T]) -> _T:
        """The whole as a `kind`."""
        return cast("_T", self._convert(self.value, kind, ()))

    def only(self, *keys: str) -> YamlDocument:
        """The same file with these keys alone, for what must be known before the others make sense."""
        if not isinstance(self.value, dict):
            return self
        return dataclasses.replace(self, value={key: item for key, item in self.value.items() if key in keys})

    def expand(self, variables: Mapping[str, str]) -> YamlDocument:
        """The same file with ``${name}`` filled in, in all texts but keys; ``$${name}`` becomes ``${name}``."""
        return dataclasses.replace(self, value=self._expand(self.value, variables, ()))

    def expand_text(self, text: str, variables: Mapping[str, str], key: Key) -> str:
        """The same for a `text` that belongs to `key`."""

        def fill(match: re.Match[str]) -> str:
            name = match.group(2)
            if match.group(1):
                return f"${{{name}}}"
            if name not in variables:
                known = ", ".join(sorted(variables))
                raise self.error(f"`{show_key(key)}`: unknown variable `${{{name}}}` (known: {known})", key)
            return variables[name]

        return _VARIABLE.sub(fill, text)

    def _expand(self, value: Any, variables: Mapping[str, str], key: Key) -> Any:
        if isinstance(value, str):
            return self.expand_text(value, variables, key)
        if isinstance(value, list):
            return [self._expand(item, variables, (*key, index)) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return {name: self._expand(item, variables, (*key, name)) for name, item in value.items()}
        return value

    def refuse_twice(self, node: yaml.Node | None, key: Key) -> None:
        """Refuse a key that stands twice in one mapping: YAML takes the last one and says nothing."""
        if isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self.refuse_twice(item, (*key, index))
        elif isinstance(node, yaml.MappingNode):
            seen = set()
            for name, item in node.value:
                inner = (*key, str(name.value))
                if name.value in seen:
                    where = f"{self.path}:{name.start_mark.line + 1}"
                    raise self.error_type(f"the key `{show_key(inner)}` stands twice", where=where, hint=self.hint)
                seen.add(name.value)
                self.refuse_twice(item, inner)

    def _line(self, key: Key) -> int:
        """The line of `key`, or of the nearest thing around it that is there."""
        node, line = self.node, 1
        for step in key:
            if isinstance(node, yaml.MappingNode):
                found = [(name, item) for name, item in node.value if name.value == str(step)]
                if not found:
                    break
                line, node = found[0][0].start_mark.line + 1, found[0][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
            else:
                break
        return line

    def _convert(self, value: Any, kind: Any, key: Key) -> Any:
        if kind is Any or type(value) is kind:  # what most are, before the dear questions
            return value
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in (typing.Union, types.UnionType):
            some = next(argument for argument in arguments if argument is not type(None))
            return None if value is None else self._convert(value, some, key)
        if isinstance(value, str) and hasattr(kind, "parse"):
            return self._construct_checked(lambda: kind.parse(value), key)
        if dataclasses.is_dataclass(kind):
            return self._construct(value, cast("type", kind), key)
        if origin is tuple and isinstance(value, list):
            return tuple(self._convert(item, arguments[0], (*key, index)) for index, item in enumerate(value))
        if origin is Mapping and isinstance(value, dict):
            return {
                self._convert(name, arguments[0], (*key, name)): self._convert(item, arguments[1], (*key, name))
                for name, item in value.items()
            }
        if origin is Literal and isinstance(value, str | int) and value in arguments:
            return value
        if isinstance(kind, type) and issubclass(kind, enum.Enum) and value in [member.value for member in kind]:
            return kind(value)
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63:
            return float(value)
        if isinstance(kind, type) and isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        expected = _describe(kind, origin, arguments)
        hint = "quote strings of digits" if kind is str else None
        raise self.error(f"`{show_key(key)}`: expected {expected}, found `{value}`", key, hint=hint)

    def _construct(self, value: object, kind: type, key: Key) -> Any:
        if not isinstance(value, dict):
            raise self.error(f"`{show_key(key)}`: expected keys and values, found `{value}`", key)
        fields = _fields(kind)
        for name in value:
            if name not in fields:
                close = difflib.get_close_matches(str(name), fields, n=1)
                hint = f"did you mean `{close[0]}`?" if close else "there are " + ", ".join(fields)
                raise self.error(f"unknown key `{show_key((*key, name))}`", (*key, name), hint=hint)
        for name, found in fields.items():
            optional = found.default is not dataclasses.MISSING or found.default_factory is not dataclasses.MISSING
            if name not in value and not optional:
                raise self.error(f"the key `{show_key((*key, name))}` is missing", key)
        hints = _type_hints(kind)
        given = {
            fields[name].name: self._convert(item, hints[fields[name].name], (*key, name))
            for name, item in value.items()
        }
        return self._construct_checked(lambda: kind(**given), key)

    def _construct_checked(self, make: Callable[[], Any], key: Key) -> Any:
        try:
            return make()
        except InvalidValueError as problem:
            inner = (*key, problem.key) if problem.key else key
            raise self.error(f"`{show_key(inner)}`: {problem}", inner) from None


_type_hints = functools.cache(typing.get_type_hints)


@functools.cache
def _fields(kind: type) -> dict[str, dataclasses.Field[Any]]:
    """What may be given of a dataclass, by its keys."""
    return {key_of(found): found for found in dataclasses.fields(kind) if found.init}


def show_key(key: Key) -> str:
    """``("sources", 0, "files")`` -> ``sources[0].files``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in key)
    return text.removeprefix(".") or "the file"


def _describe(kind: Any, origin: Any, arguments: tuple[Any, ...]) -> str:
    words: dict[Any, str] = {
        str: "text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        tuple: "a list",
        Mapping: "keys and values",
    }
    choices = list(kind) if isinstance(kind, type) and issubclass(kind, enum.Enum) else arguments
    if origin is Literal or choices is not arguments:
        return f"one of {', '.join(map(str, choices))}"
    if hasattr(kind, "parse"):
        return "text"
    return words.get(origin) or words.get(kind) or str(getattr(kind, "__name__", kind))
