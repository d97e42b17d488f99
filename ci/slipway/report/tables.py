"""Text that fits a terminal of 80 columns: tables whose long cells go on in the next line, and bars over time."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from slipway.console import human_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 80
GAP = "  "
NARROWEST = 9
"""Characters that a column keeps, however long the others are."""

TITLE = 30
BAR = 32


def section(title: str, lines: Sequence[str]) -> str:
    """A headline and what is below it; nothing at all without lines."""
    return "\n".join((title, "=" * len(title), *lines)) if lines else ""


def fitted_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Columns as wide as their cells, or narrower so that a line fits: then cells go on below, broken at words.

    Args:
        right: indices of the columns that are right-aligned; these hold numbers and are never made narrower.
    """
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    room = WIDTH - len(GAP) * (len(header) - 1)
    while sum(widths) > room:
        index = max((index for index in range(len(header)) if index not in right), key=lambda index: widths[index])
        if widths[index] <= NARROWEST:
            break
        widths[index] = max(NARROWEST, widths[index] - (sum(widths) - room), _second(widths, index, right) - 1)
    lines = [*_row(header, widths, right), GAP.join("-" * width for width in widths)]
    return [*lines, *(line for row in rows for line in _row(row, widths, right))]


def _second(widths: Sequence[int], widest: int, right: Sequence[int]) -> int:
    """The width of the widest column that can shrink beside that one."""
    return max((width for index, width in enumerate(widths) if index != widest and index not in right), default=0)


def _row(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    broken = [
        textwrap.wrap(cell, width, break_on_hyphens=False) or [""] for cell, width in zip(cells, widths, strict=True)
    ]
    lines = []
    for number in range(max(map(len, broken))):
        parts = [part[number] if number < len(part) else "" for part in broken]
        padded = [
            part.rjust(width) if index in right else part.ljust(width)
            for index, (part, width) in enumerate(zip(parts, widths, strict=True))
        ]
        lines.append(GAP.join(padded).rstrip())
    return lines


def paragraph(text: str, indent: str = "") -> list[str]:
    """Words in lines that fit, the second and later ones indented."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def bar_line(title: str, start: float, end: float, origin: float, total: float, mark: str = "") -> str:
    """One line of a timeline: title, a bar from `start` to `end` (seconds), and how long that is.

    Args:
        origin: where the line begins; it is `total` seconds long.
        mark: said instead of nothing, such as ``failed``.
    """
    scale = BAR / total if total > 0 else 0.0
    first = min(round((start - origin) * scale), BAR - 1)
    bar = (" " * first + "#" * max(1, round((end - start) * scale)))[:BAR]
    if len(title) > TITLE:
        title = title[: TITLE - 3] + "..."
    took = mark or human_seconds(end - start)
    return f"{title:<{TITLE}}{GAP}{bar:<{BAR}}{GAP}{took:>12}".rstrip()
