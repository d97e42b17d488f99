"""Text that fits a terminal of 80 columns: tables whose long cells go on in the next line, and bars over time."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from slipway.base.text import format_table, human_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 80
GAP = "  "
TITLE = 30
BAR = 32


def section(title: str, lines: Sequence[str]) -> str:
    """A headline and what is below it; nothing at all without lines."""
    return "\n".join((title, "=" * len(title), *lines)) if lines else ""


def join_sections(headline: str, sections: Sequence[str]) -> str:
    """A whole text: what there is of these, a line between two."""
    return "\n\n".join(text.rstrip() for text in (headline, *sections) if text)


def fitted_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """The lines of a table, see `slipway.base.text.format_table`."""
    return format_table(header, rows, right=right, width=WIDTH).split("\n")


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
