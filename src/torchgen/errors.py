"""The one error of torchgen: a declaration that cannot be used, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Location:
    """A place in a source file; `line` counts from one."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class DeclarationError(Exception):
    """A declaration is wrong. The message starts with `file:line:`, as compilers print it."""

    def __init__(self, location: Location, message: str, hint: str = "") -> None:
        self.location = location
        self.message = message
        self.hint = hint
        super().__init__(f"{location}: {message}" + (f"\n  hint: {hint}" if hint else ""))


class SchemaError(ValueError):
    """A schema text that does not parse. `parse` adds the location and raises `DeclarationError`."""
