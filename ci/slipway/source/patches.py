"""Patches, read before any is applied: they change files of the work folder and nothing else.

Several programs apply patches (rattler-build has one of its own, conda-build takes GNU patch), and they differ in what
they take for a header. So what any of them would take for a name is one here, and what cannot be read is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

_NAMING = re.compile(r"[ \t]*(?:- )*(---|\+\+\+|\*\*\*|Index:|(?:rename|copy) (?:from|to))[ \t]+(.*)")
_GIT = re.compile(r"[ \t]*(?:- )*diff --git[ \t]+(.*)")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_MAKES_LINK = re.compile(r"[ \t]*(?:- )*(?:new file mode|new mode|index \w+\.\.\w+)[ \t]+120\d{3}\b")
_OTHER_KIND = re.compile(r"[ \t]*(?:\*{15}|\d+(?:,\d+)?[acdis](?:\d+(?:,\d+)?)?\s*$)")
"""A context diff, a plain diff, or a script for ed, which is a program of its own."""

_WORD = re.compile(r'"(?:\\.|[^"\\])*"|\S+')
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)")
_NO_FILE = "/dev/null"


@dataclass(frozen=True)
class TouchedFile:
    """A file that a patch names: in which line (from 1), and its name without git's ``a/`` or ``b/``."""

    line: int
    name: str


def read_patch(path: Path) -> tuple[TouchedFile, ...]:
    """The files that the patch at `path` changes, makes, renames, copies or takes away.

    Raises:
        RecipeError: a name is absolute or holds ``..``, it makes a link, or it is no unified diff that can be read.
    """
    lines = [line.rstrip("\r") for line in path.read_bytes().decode("utf-8", "surrogateescape").split("\n")]
    return tuple(_touched(path, lines))


def check_patch_links(path: Path, links: Collection[str]) -> None:
    """See to it that the patch at `path` changes nothing through one of the `links` of what it is applied to.

    Raises:
        RecipeError: it does.
    """
    for touched in read_patch(path):
        parts = PurePosixPath(touched.name).parts
        for names in (parts, parts[1:]):
            through = next((link for end in range(1, len(names)) if (link := "/".join(names[:end])) in links), None)
            if through is not None:
                raise _refusal(
                    path, touched.line, f"writes `{touched.name}` through the link `{through}` of the source"
                )


def _touched(path: Path, lines: Sequence[str]) -> Iterator[TouchedFile]:
    position = hunks = 0
    named = False
    while position < len(lines):
        line, number = lines[position], position + 1
        position += 1
        if (hunk := _HUNK.match(line)) is not None:
            hunks += 1
            inner = _end_of_hunk(path, lines, position, int(hunk[1] or 1), int(hunk[2] or 1))
            for index in range(position, inner - 1):
                # Who trusts headers more than the hunk's own count would begin another file here.
                if all(lines[index + ahead].startswith(sign) for ahead, sign in enumerate(("--- ", "+++ "))):
                    _checked(path, index + 1, _name_in(lines[index][4:]))
                    _checked(path, index + 2, _name_in(lines[index + 1][4:]))
            position = inner
        elif (naming := _NAMING.match(line)) is not None:
            kind, name = naming[1], _checked(path, number, _name_in(naming[2]))
            prefix = {"---": "a/", "+++": "b/"}.get(kind, "")
            named = True
            if name != _NO_FILE and kind not in ("***", "Index:"):
                yield TouchedFile(number, name.removeprefix(prefix))
        elif (given := _GIT.match(line)) is not None:
            named = True
            for word in _WORD.findall(given[1]):
                _checked(path, number, _unquoted(word))
        elif _MAKES_LINK.match(line):
            raise _refusal(path, number, "makes a link", "make it in the build script")
        elif _OTHER_KIND.match(line):
            raise _refusal(path, number, "is no unified diff", "make it anew with `git diff` or `diff -u`")
    if not named and any(lines):
        raise _refusal(path, 1, "is no unified diff", "make it anew with `git diff` or `diff -u`")


def _end_of_hunk(path: Path, lines: Sequence[str], position: int, old: int, new: int) -> int:
    """The position behind the hunk whose lines begin at `position`."""
    while (old > 0 or new > 0) and position < len(lines):
        sign = lines[position][:1]
        if sign not in ("", " ", "\t", "-", "+", "\\"):
            raise _refusal(path, position + 1, "has a hunk that ends too soon", "make it anew")
        old -= sign not in ("+", "\\")
        new -= sign not in ("-", "\\")
        position += 1
        if old < 0 or new < 0:
            raise _refusal(path, position, "has a hunk with other lines than it promises", "make it anew")
    return position


def _name_in(text: str) -> str:
    """The name behind ``--- `` and the like, without the time that may follow it."""
    if text.startswith('"'):
        match = _WORD.match(text)
        return _unquoted(match[0] if match else text)
    name = text.split("\t")[0].strip()
    return _NO_FILE if name.split(" ")[0] == _NO_FILE else name


def _unquoted(word: str) -> str:
    """A name as git writes it in quotes, with C's escapes."""
    if not (word.startswith('"') and word.endswith('"') and len(word) > 1):
        return word
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 8)) if found[1][0].isdigit() else found[1], word[1:-1])
    return plain.encode("latin-1", "replace").decode("utf-8", "replace")


def _checked(path: Path, line: int, name: str) -> str:
    if name != _NO_FILE and (name.startswith("/") or "//" in name or ".." in name.split("/")):
        raise _refusal(path, line, f"names `{name}`, which lies outside of the work folder")
    return name


def _refusal(
    path: Path, line: int, what: str, hint: str = "apply nothing of it before you know who wrote it"
) -> RecipeError:
    return RecipeError(f"the patch `{path.name}` {what}", where=f"{path}:{line}", hint=hint)
