"""Text for people: sizes, times, tables, and what a terminal can show of anybody's words."""

from __future__ import annotations

import re
import shutil
import sys
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEAST_COLUMN = 10
"""A column is not wrapped to less than this."""

TABLE_INDENT = 4
"""What steps around a table may put in front of its lines."""

LONGEST_MESSAGE = 1000
"""An error's message, place or hint is cut to this many characters."""


def human_size(count: float) -> str:
    """``12345678`` -> ``12.3 MB``: decimal units, as package managers print them."""
    for unit in ("B", "kB", "MB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} GB"


def human_seconds(seconds: float) -> str:
    """``83.4`` -> ``1 min 23 s``; below a minute one decimal, from an hour on no seconds."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes + round(rest / 60), 60)
    return f"{hours} h {minutes:02d} min"


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), width: int | None = None
) -> str:
    """Columns padded to their widest cell; columns whose index is in `right` are right-aligned.

    Args:
        width: how wide the table may be: the widest columns are wrapped until it fits. None: as wide as it gets.
    """
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    if width is not None:
        while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > LEAST_COLUMN:
            widths[widths.index(max(widths))] -= 1

    def lines(cells: Sequence[str]) -> Iterator[str]:
        wrapped = [wrap(cell, columns) for cell, columns in zip(cells, widths, strict=True)]
        for number in range(max(map(len, wrapped))):
            parts = [found[number] if number < len(found) else "" for found in wrapped]
            padded = (
                part.rjust(columns) if index in right else part.ljust(columns)
                for index, (part, columns) in enumerate(zip(parts, widths, strict=True))
            )
            yield "  ".join(padded).rstrip()

    underlined = "  ".join("-" * columns for columns in widths)
    return "\n".join([*lines(header), underlined, *(line for row in rows for line in lines(row))])


def table_width() -> int | None:
    """The columns of the terminal that tables go to; None for pipes and files, where lines are better kept whole."""
    return shutil.get_terminal_size().columns - TABLE_INDENT if sys.stdout.isatty() else None


def wrap(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` characters, cut at spaces, after slashes, and where nothing else helps."""
    if len(text) <= width:
        return [text]
    lines = [""]
    for piece in re.findall(r"\s+|[^\s/]*/|[^\s/]+", text):
        if len(lines[-1]) + len(piece) <= width:
            lines[-1] += piece
        elif not piece.isspace():
            lines += [piece[start : start + width] for start in range(0, len(piece), width)]
    return [line.rstrip() for line in lines if line.strip()]


def printable(text: str) -> str:
    """`text` without what would move a terminal's cursor or change its colours: such characters are written out."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def encodable(text: str, stream: IO[str]) -> str:
    """`text` with what the stream's encoding does not have written out: names of files can be any bytes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def shorten(text: str) -> str:
    """`text` with its middle left out where it is longer than anybody reads: it may repeat what a recipe says."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 60]} ... {text[-50:]}"
