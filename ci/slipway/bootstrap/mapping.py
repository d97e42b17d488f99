"""Which files of a source go where: globs whose wildcards are carried over to the destination.

A rule says ``usr/bin/*-linux-gnu-{ar,as}`` becomes ``bin/*-conda-linux-gnu-*``. In the pattern, ``*`` stands
for any characters but ``/``, ``**`` for any characters, ``?`` for one, ``{a,b}`` for one of the given words. Each
wildcard in the destination takes what the next wildcard of the pattern matched, in order; a destination without
wildcards names one file. ``(a|b)`` is one of the words as well, and nothing that a destination takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from slipway.base.schema import InvalidValueError, yaml_key

_WILDCARD = re.compile(r"\*\*|\*|\?|\{[^{}]*\}|\([^()]*\)")


class PatternError(InvalidValueError):
    """A pattern and its destination do not fit each other."""


@dataclass(frozen=True)
class Glob:
    """A compiled pattern over relative POSIX paths."""

    text: str
    regex: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> Glob:
        """Compile `text`; raises PatternError when it is absolute or empty."""
        if not text or text.startswith("/"):
            raise PatternError(f"`{text}` is not a relative path")
        parts: list[str] = []
        end = 0
        for match in _WILDCARD.finditer(text):
            parts.append(re.escape(text[end : match.start()]))
            parts.append(_wildcard_regex(match.group()))
            end = match.end()
        parts.append(re.escape(text[end:]))
        return cls(text, re.compile("".join(parts)))

    def captures(self, path: str) -> tuple[str, ...] | None:
        """What each wildcard stands for in `path`, or None when it does not match."""
        match = self.regex.fullmatch(path)
        return match.groups() if match else None

    def matches(self, path: str) -> bool:
        """Whether the whole of `path` fits the pattern."""
        return self.regex.fullmatch(path) is not None

    @property
    def wildcards(self) -> int:
        """How many wildcards the pattern has."""
        return self.regex.groups


def _wildcard_regex(token: str) -> str:
    if token == "**":
        return "(.*)"
    if token == "*":
        return "([^/]*)"
    if token == "?":
        return "([^/])"
    start, separator = ("(", ",") if token[0] == "{" else ("(?:", "|")
    return start + "|".join(re.escape(word) for word in token[1:-1].split(separator)) + ")"


@dataclass(frozen=True)
class Template:
    """A destination: text with as many holes as the pattern's wildcards that it keeps."""

    text: str
    pieces: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, pattern: Glob) -> Template:
        """Split `text` at its wildcards; raises PatternError when it has more of them than `pattern`."""
        pieces = tuple(_WILDCARD.split(text))
        if len(pieces) - 1 > pattern.wildcards:
            raise PatternError(f"`{text}` has more wildcards than `{pattern.text}`")
        if text.startswith("/"):
            raise PatternError(f"`{text}` is not a relative path")
        return cls(text, pieces)

    def fill(self, captures: tuple[str, ...]) -> str:
        """The destination for one match."""
        filled = self.pieces[0]
        for capture, piece in zip(captures, self.pieces[1:], strict=False):
            filled += capture + piece
        return filled


def check_template(text: str, pattern: Glob, key: str) -> Template:
    """The destination that `text` describes for what matches `pattern`; `key` names it in an error."""
    try:
        return Template.parse(text, pattern)
    except PatternError as error:
        raise InvalidValueError(str(error), key) from None


@dataclass(frozen=True)
class Rule:
    """Take every path that matches `take` and none of `excluded`, and put it at `to`.

    Attributes:
        mode: permission bits to set (wheels lose the run bit) as three octal digits, or None to keep the source's.
        optional: matching nothing is not an error.
        follow: where the source holds a symlink, take the file it points to.
    """

    take: Glob
    to: str
    excluded: tuple[Glob, ...] = yaml_key("except", default=())
    mode: str | None = None
    optional: bool = False
    follow: bool = False
    destination: Template = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "destination", check_template(self.to, self.take, "to"))
        if self.mode is not None and not re.fullmatch(r"[0-7]{3}", self.mode):
            raise InvalidValueError(f"expected three octal digits such as `755`, found `{self.mode}`", "mode")

    @property
    def permissions(self) -> int | None:
        """`mode` as a number."""
        return None if self.mode is None else int(self.mode, 8)

    def target(self, path: str) -> str | None:
        """Where `path` goes, or None when this rule does not take it."""
        captures = self.take.captures(path)
        if captures is None or any(glob.matches(path) for glob in self.excluded):
            return None
        return self.destination.fill(captures)
