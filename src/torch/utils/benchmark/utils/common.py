"""What was measured, and the times it took."""

from __future__ import annotations

import math
import statistics
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "trim_sigfig",
    "unit_to_english",
]

_UNITS = {"ns": ("nanosecond", 1e-9), "us": ("microsecond", 1e-6), "ms": ("millisecond", 1e-3), "s": ("second", 1.0)}
_WIDE, _VERY_WIDE = 0.1, 0.25  # spreads, as a share of the median, that a measurement warns of
_CLOCK_ERROR = 25e-9


def select_unit(t: float) -> tuple[str, float]:
    """The unit that suits a time in seconds, and its length."""
    found = [(name, length) for name, (_, length) in _UNITS.items() if length <= t < 1000 * length]
    return found[0] if found else ("s", 1)


def unit_to_english(u: str) -> str:
    """The unit's name: "us" is a microsecond."""
    return _UNITS[u][0]


def trim_sigfig(x: float, n: int) -> float:
    """`x` with so many significant digits.

    >>> torch.utils.benchmark.trim_sigfig(1234.5, 2)
    1200.0
    """
    if x == 0:
        return 0.0
    scale = 10.0 ** (math.ceil(math.log10(abs(x))) - n)
    return round(x / scale) * scale if scale >= 1 else round(x / scale) / round(1 / scale)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements, each once, in the order in which they come first."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """A block in which torch computes on so many threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class TaskSpec:
    """What is measured, and how it is called in tables."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": ({self.sub_label})" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup, as `summarize` shows it."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{textwrap.indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup, with blank lines around what has several."""
        parts = [part for part in (self.title, self.description or "", self.setup_str()) if part]
        return "\n".join(f"{part}\n" if "\n" in part else part for part in parts)


@dataclass
class Measurement:
    """Times of runs, in seconds; each of `raw_times` is of `number_per_run` calls."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    @property
    def times(self) -> list[float]:
        """The time of one call, for each run."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def median(self) -> float:
        """The median of one call's time."""
        return statistics.median(self.times)

    @property
    def mean(self) -> float:
        """Its mean."""
        return statistics.fmean(self.times)

    def _quartiles(self) -> tuple[float, float]:
        if len(self.times) < 2:
            return self.median, self.median
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return low, high

    @property
    def iqr(self) -> float:
        """The distance of its quartiles."""
        low, high = self._quartiles()
        return high - low

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean something: those above its own spread, 1 to 4."""
        count = len(self.times)
        middle = sorted(self.times)[count // 4 : math.ceil(3 * count / 4)]
        spread = max(1.645 * statistics.pstdev(middle) / math.sqrt(len(middle)), _CLOCK_ERROR)
        return min(max(math.floor(-math.log10(spread / self.median)), 1), 4)

    @property
    def has_warnings(self) -> bool:
        """Whether the quartiles are far from each other."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WIDE) -> bool:
        """Whether the distance of the quartiles is below a share of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """What was measured."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """How it is called in tables."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "task_spec":
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    def __repr__(self) -> str:
        unit, length = select_unit(self.median)
        count, threads = len(self.raw_times), self.task_spec.num_threads
        spread = self.iqr / self.median
        low, high = (quartile / length for quartile in self._quartiles())
        middle = f"{self.median / length:.2f} {unit}"
        lines = [object.__repr__(self), self.task_spec.summarize(), f"  {'Median: ' if count > 1 else ''}{middle}"]
        if count > 3:
            lines.append(f"  IQR:    {self.iqr / length:.2f} {unit} ({low:.2f} to {high:.2f})")
        runs = f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}"
        lines.append(
            f"  {count} measurement{'s' if count > 1 else ''}, {runs}, {threads} thread{'s' if threads > 1 else ''}"
        )
        if spread >= _WIDE:
            cause = (
                "suggests significant environmental influence"
                if spread >= _VERY_WIDE
                else "could indicate system fluctuation"
            )
            lines.append(f"  WARNING: Interquartile range is {100 * spread:.1f}% of the median measurement.")
            lines.append(f"           This {cause}.")
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of one task put together."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for item in measurements:
            groups.setdefault(item.task_spec, []).append(item)
        return [Measurement(1, [time for item in items for time in item.times], spec) for spec, items in groups.items()]
