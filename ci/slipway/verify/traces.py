"""Traces that a build leaves in files: paths of the machine, its user's name, secrets. Finds them, never judges.

What to look for is data (``data/traces.yaml``); what only this machine knows, its user's home folder and the
secrets in its environment, is added by `machine_patterns`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import HostError
from slipway.base.secrets import names_a_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_LEAST_SECRET_LENGTH = 12
_SHOWN_BYTES = 100

_AROUND = 4096
"""How far from a needle a match may reach: no path is longer. Files of 400 MB are searched, so it is worth it."""


@dataclass(frozen=True)
class Pattern:
    """Something to look for.

    Attributes:
        name: what it is, in the words of a finding: "a path of the build".
        sort: ``path``, ``user`` or ``secret``: which rule it belongs to.
        regex: bytes that are a trace; its first group, where it has one, is what is shown.
        needles: a match holds at least one of these, which is quick to look for. Empty: always look.
        except_regex: a match that this matches, too, is none.
    """

    name: str
    sort: str
    regex: str
    needles: tuple[str, ...] = ()
    except_regex: str | None = None


@dataclass(frozen=True)
class Trace:
    """One pattern found in one file: where first (bytes from its beginning), what, and how often."""

    name: str
    sort: str
    offset: int
    excerpt: str
    count: int


class Tracer:
    """Looks for many patterns in many files."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns = []
        for pattern in patterns:
            try:
                expression = re.compile(pattern.regex.encode())
                exception = re.compile(pattern.except_regex.encode()) if pattern.except_regex else None
            except re.error as error:
                raise HostError(f"the pattern `{pattern.name}` is no regular expression: {error}") from error
            self._patterns.append((pattern, expression, exception, [needle.encode() for needle in pattern.needles]))

    def traces(self, content: bytes, placeholders: Iterable[str] = ()) -> tuple[Trace, ...]:
        """What `content` lets slip, beside the prefixes that installation will replace."""
        for placeholder in placeholders:
            content = content.replace(placeholder.encode(), b"")
        found = []
        for pattern, expression, exception, needles in self._patterns:
            matches = [
                match
                for begin, end in _places(content, needles)
                for match in expression.finditer(content, begin, end)
                if not (exception and exception.search(match[0]))
            ]
            if matches:
                first = matches[0]
                group = 1 if expression.groups else 0
                found.append(
                    Trace(pattern.name, pattern.sort, first.start(), _shown(first[group], pattern.sort), len(matches))
                )
        return tuple(found)


def _places(content: bytes, needles: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Where a match may be: the surroundings of the needles, in order, none twice. Without needles everywhere."""
    if not needles:
        yield 0, len(content)
        return
    hits = sorted(hit for needle in needles for hit in _positions(content, needle))
    begin = end = 0
    for hit in hits:
        if hit - _AROUND > end:
            if end:
                yield begin, end
            begin = hit - _AROUND
        end = hit + _AROUND
    if hits:
        yield max(0, begin), end


def _positions(content: bytes, needle: bytes) -> Iterator[int]:
    position = content.find(needle)
    while position >= 0:
        yield position
        position = content.find(needle, position + len(needle))


def _shown(content: bytes, sort: str) -> str:
    """What a finding may repeat: of a secret no more than its kind can be told by."""
    text = content[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return f"{text[:4]}... ({len(content)} bytes)" if sort == "secret" else text


def machine_patterns(environ: Mapping[str, str]) -> tuple[Pattern, ...]:
    """What only this machine knows and no package may: the user's home folder, and the values of secret variables."""
    patterns = []
    home = environ.get("HOME", "").rstrip("/")
    if len(home) > 1:
        regex = f"(?<![\\w.+-]){re.escape(home)}/[\\w./+-]*"
        patterns.append(Pattern("a path below this user's home folder", "user", regex, (f"{home}/",)))
    for name, value in environ.items():
        if names_a_secret(name) and len(value) >= _LEAST_SECRET_LENGTH and not value.startswith(("/", "file:")):
            patterns.append(Pattern(f"the value of ${name}", "secret", re.escape(value), (value,)))
    return tuple(patterns)
