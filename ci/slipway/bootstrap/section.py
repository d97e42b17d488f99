"""Reads one mapping of a YAML file strictly: every key once, with the type that is expected, and none left over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from slipway.base import errors
from slipway.bootstrap.mapping import Glob, PatternError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_VARIABLE = re.compile(r"\$(\$?)\{(\w+)\}")
_T = TypeVar("_T")


class Section:
    """A YAML mapping being read: every key is taken once, and what is left over is an error."""

    def __init__(self, origin: Path, location: str, value: object, variables: Mapping[str, str]) -> None:
        self.origin = origin
        self.location = location
        self.variables = variables
        if not isinstance(value, dict):
            raise self.error("", f"expected keys and values, found `{value}`")
        self._values: dict[str, object] = {str(key): item for key, item in value.items()}

    def error(self, key: str, message: str) -> errors.ChannelError:
        """A ChannelError that points to `key` of this section."""
        location = ".".join(part for part in (self.location, key) if part)
        return errors.ChannelError(
            message,
            where=f"{self.origin}: {location}" if location else str(self.origin),
            hint="`ci/slipway/bootstrap/data/README.md` lists the keys of a package description",
        )

    def _take(self, key: str, kind: type[_T], default: _T | None) -> _T:
        if key not in self._values:
            if default is None:
                raise self.error(key, f"the key `{key}` is missing")
            return default
        value = self._values.pop(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.error(key, f"expected {_TYPE_WORDS.get(kind, kind.__name__)}, found `{value}`")
        return value

    def expand(self, key: str, text: str) -> str:
        """`text` with its ``${variables}`` filled in."""

        def value(match: re.Match[str]) -> str:
            name = match.group(2)
            if match.group(1):
                return f"${{{name}}}"
            if name not in self.variables:
                raise self.error(key, f"unknown variable `${{{name}}}` (known: {', '.join(sorted(self.variables))})")
            return self.variables[name]

        return _VARIABLE.sub(value, text)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; the default "" allows it to be left out."""
        return self.expand(key, self._take(key, str, default))

    def number(self, key: str, default: int) -> int:
        return self._take(key, int, default)

    def flag(self, key: str) -> bool:
        return self._take(key, bool, False)

    def items(self, key: str) -> list[Any]:
        """A list, empty when left out."""
        return self._take(key, list, [])

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings, empty when left out."""
        values = self.items(key)
        for value in values:
            if not isinstance(value, str):
                raise self.error(key, f"expected strings, found `{value}` (quote it)")
        return tuple(self.expand(key, value) for value in values)

    def mapping(self, key: str) -> dict[str, object]:
        """A mapping with string keys, empty when left out."""
        return {str(name): value for name, value in self._take(key, dict, {}).items()}

    def sections(self, key: str) -> list[Section]:
        """A list of mappings."""
        return [
            Section(self.origin, f"{self.location}.{key}[{index}]".lstrip("."), value, self.variables)
            for index, value in enumerate(self.items(key))
        ]

    def section(self, key: str) -> Section:
        """A mapping, empty when left out."""
        return Section(self.origin, f"{self.location}.{key}".lstrip("."), self.mapping(key), self.variables)

    def globs(self, key: str) -> tuple[Glob, ...]:
        try:
            return tuple(Glob.parse(text) for text in self.texts(key))
        except PatternError as error:
            raise self.error(key, str(error)) from None

    def take_all(self) -> dict[str, object]:
        """Everything that is left: for mappings whose keys are names of things."""
        values, self._values = self._values, {}
        return values

    def has(self, key: str) -> bool:
        """Whether the key is there and was not read yet."""
        return key in self._values

    def finish(self) -> None:
        """Every key was read, or it is an error."""
        for key in self._values:
            raise self.error(key, f"unknown key `{key}`")


_TYPE_WORDS: dict[type, str] = {
    str: "a string (quote numbers)",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "keys and values",
}
