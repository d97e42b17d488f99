"""The first real error in the log of a build: what a compiler, a linker or the failing command said.

A script is traced (``+ command``), so the failing command is the last one that was traced before the script's end. What
tools print into a log is text for people; the patterns below are how the usual ones say that something is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

AROUND: Final = 20
"""Lines of the log that are shown around the error."""

_SAYS: Final = re.compile(
    r"""
    ^\S[^:]*:\d+:(\d+:)?\s(fatal\s)?error\b     # gcc, clang, gfortran's successors, sphinx
    | ^\S+\(\d+\):\s(catastrophic\s)?error\b    # nvcc, msvc
    | ^(fatal\s)?error(\[\w+\])?:\s             # rustc, nvcc, git
    | ^\s*(Fatal\s)?Error:\s                    # gfortran
    | undefined\sreference\sto | multiple\sdefinition\sof
    | \bld(\.\w+)?:\s(cannot\s|error|.*No\ssuch\sfile)
    | ^CMake\sError\b | ^-- Configuring\sincomplete
    | ^(ninja|meson(\.build)?):?.*\b(error|ERROR)\b | ^\S*meson\.build:\d+:\d+:\sERROR
    | ^(configure|aclocal|autoreconf):\serror
    | ^([\w.]+\.)?[A-Z]\w*(Error|Exception|Interrupt):?(\s|$)   # the last line of Python's traceback
    | ^fatal:\s | :\s(command\snot\sfound|No\ssuch\sfile\sor\sdirectory|Permission\sdenied)$
    """,
    re.VERBOSE,
)
_FAILS: Final = re.compile(r"(FAILED|FAIL)\b")
"""What Ninja prints before a compiler's own words, and tests instead of any."""

_MENTIONS: Final = re.compile(r"\berror\b", re.IGNORECASE)
_TRACED: Final = re.compile(r"\++ (?=\S)")
_FINISHES: Final = "++ slipway_finish"
"""What is traced when a script has ended; output that was on its way comes after it."""

_ENDS: Final = re.compile(r"error: Script failed with status|error: (PyRattlerBuildError|Test)")
_PHASE: Final = "==> "
_LOST_IN_THE_NOISE: Final = re.compile(r"-Werror|error\.(c|h|o|cc|cpp|py|rs)\b|errors?[:=] ?0|0 errors")


@dataclass(frozen=True)
class FirstError:
    """Where a log says what is wrong.

    Attributes:
        line: of the log, from 1.
        text: that line; or the command that failed, where it said nothing.
        around: the lines around it, which hold it.
    """

    line: int
    text: str
    around: tuple[str, ...]


def find_first_error(log: Sequence[str]) -> FirstError | None:
    """The first real error of the last phase in a log's lines; None where nothing reads like one."""
    start = max((index for index, line in enumerate(log) if line.startswith(_PHASE)), default=0)
    end = next((index for index in range(start, len(log)) if _ENDS.search(log[index])), len(log))
    finish = next((index for index in range(start, end) if log[index] == _FINISHES), end)
    command = max((index for index in range(start, finish) if _TRACED.match(log[index])), default=start)
    late = (index for index in range(finish, end) if not _TRACED.match(log[index]))
    places = [*range(command, finish), *late]
    found = next((index for index in places if _SAYS.search(log[index])), None)
    if found is None:
        found = next((index for index in places if _FAILS.match(log[index])), None)
    if found is None:
        found = next((i for i in places if _MENTIONS.search(log[i]) and not _LOST_IN_THE_NOISE.search(log[i])), None)
    if found is None:  # what comes late may be an earlier command's
        found = max((index for index in range(command, finish) if log[index].strip()), default=None)
    if found is None:
        return None
    first = max(start, min(found - AROUND // 2, end - AROUND))
    text = log[found].strip()
    if _TRACED.match(text):
        text = f"the command `{_TRACED.sub('', text)}`"
    return FirstError(found + 1, text, tuple(log[first : min(end, first + AROUND)]))
