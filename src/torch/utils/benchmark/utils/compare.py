"""`Compare`: measurements as a table."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from torch.utils.benchmark.utils.common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Colorize", "Compare"]

_END = "\033[0m\033[0m"
# What is within so much of the best is printed so; all else in the last two.
_COLOURS = ((1.01, "\033[92m\033[1m"), (1.1, "\033[34m\033[1m"))
_BAD, _VERY_BAD = "\033[2m\033[91m", "\033[31m\033[1m"
_SAME = 100e-9


class Colorize(Enum):
    """What colours compare: nothing, the rows of a column, or the columns of a row."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _coloured(text: str, value: float, best: float) -> str:
    for share, colour in _COLOURS:
        if value <= best * share or (colour is _COLOURS[0][1] and value <= best + _SAME):
            return colour + text + _END
    return (_VERY_BAD if value > best * 5 else _BAD) + text + _END


class Compare:
    """A table of measurements for each label: a row for each `sub_label`, a column for each `description`.

    >>> measured = [torch.utils.benchmark.Timer("1 + 1", description="sum").timeit(10)]
    >>> print(torch.utils.benchmark.Compare(measured))  # doctest: +SKIP
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trims = self._warns = False
        self._colorize = Colorize.NONE

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """More of them. ValueError for what is no measurement."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
            self._results.append(result)

    def trim_significant_figures(self) -> None:
        """Shows the digits that mean something only."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Shows fast ones in green and slow ones in red, in each column, or in each row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Marks those whose runs differ much."""
        self._warns = True

    def print(self) -> None:
        """Prints the tables."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(item.task_spec.label or "" for item in merged)
        return "\n".join(
            self._table(label, [item for item in merged if (item.task_spec.label or "") == label]) for label in labels
        )

    def _table(self, label: str, items: list[Measurement]) -> str:
        unit, length = select_unit(min(item.median for item in items))
        columns = ordered_unique(item.task_spec.description or "" for item in items)
        rows = ordered_unique(
            (item.task_spec.num_threads, item.task_spec.env or "", item.as_row_name) for item in items
        )
        rows.sort(key=lambda row: row[:1])
        found = {
            (
                item.task_spec.num_threads,
                item.task_spec.env or "",
                item.as_row_name,
                item.task_spec.description or "",
            ): item
            for item in items
        }
        cells = [[found.get((*row, column)) for column in columns] for row in rows]
        texts = [self._column([line[place] for line in cells], length) for place in range(len(columns))]
        widths = [max(len(title), *map(len, column)) for title, column in zip(columns, texts, strict=True)]
        names = self._row_names(rows)
        margin = max(map(len, names)) if names else 0
        head = "  |  ".join(
            [" " * margin, *(title.center(width) for title, width in zip(columns, widths, strict=True))]
        )
        lines = [f"[{f' {label} '.center(len(head) - 2, '-')}]"]
        rule = len(lines[0])
        lines.append(head)
        threads = None
        best_of_column = [
            min((item.median for item in column if item), default=0.0) for column in zip(*cells, strict=True)
        ]
        for place, ((count, _, _), name) in enumerate(zip(rows, names, strict=True)):
            if count != threads:
                threads = count
                lines.append(f"{count} threads: ".ljust(rule, "-"))
            line = [name.ljust(margin)]
            best_of_row = min((item.median for item in cells[place] if item), default=0.0)
            for number, item in enumerate(cells[place]):
                text = texts[number][place].rjust(max(map(len, texts[number]))).center(widths[number])
                if item is not None and self._colorize is not Colorize.NONE:
                    best = best_of_row if self._colorize is Colorize.ROWWISE else best_of_column[number]
                    text = _coloured(text, item.median, best)
                line.append(text)
            lines.append("  |  ".join(line))
        lines += ["", f"Times are in {unit_to_english(unit)}s ({unit})."]
        if self._warns and any(item.has_warnings for item in items):
            lines.append("(! XX%) Measurement has high variance, where XX is the IQR / median * 100.")
        return "\n".join([*lines, ""])

    def _column(self, items: list[Measurement | None], length: float) -> list[str]:
        """The numbers of a column, their points below each other."""
        values = [None if item is None else item.median / length for item in items]
        digits = 1
        if self._trims:
            kept = [
                (item.significant_figures, value) for item, value in zip(items, values, strict=True) if item and value
            ]
            values = [
                None if item is None or value is None else trim_sigfig(value, item.significant_figures)
                for item, value in zip(items, values, strict=True)
            ]
            digits = min((max(0, figures - len(str(int(value)))) for figures, value in kept), default=0)
        texts = ["" if value is None else f"{value:.{min(digits, 1)}f}" for value in values]
        if self._warns:
            texts = [
                f"{text} (! {100 * item.iqr / item.median:.0f}%)" if item is not None and item.has_warnings else text
                for text, item in zip(texts, items, strict=True)
            ]
        return texts

    def _row_names(self, rows: list[tuple[int, str, str]]) -> list[str]:
        environments = ordered_unique(environment for _, environment, _ in rows)
        if len(environments) < 2:
            return [f"      {name}" for _, _, name in rows]
        width = max(len(environment) for environment in environments)
        return [f"  {f'({environment})'.ljust(width + 2)}  {name}" for _, environment, name in rows]
