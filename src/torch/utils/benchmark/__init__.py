"""How long statements take: `Timer` measures, `Measurement` tells, `Compare` sets several beside each other."""

from __future__ import annotations

import math
import statistics
import timeit
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Compare", "Measurement", "TaskSpec", "Timer", "select_unit", "timer"]

timer = timeit.default_timer


def select_unit(t: float) -> tuple[str, float]:
    """The unit that suits a time in seconds, and its length."""
    for unit, length in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if t < length * 1000:
            return unit, length
    return "s", 1.0


@dataclass(frozen=True)
class TaskSpec:
    """What is measured, and how it is called in tables."""

    stmt: str
    setup: str = "pass"
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
        return self.stmt


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

    @property
    def iqr(self) -> float:
        """The distance of its quartiles."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean something."""
        spread = max(self.iqr, 1e-12) / math.sqrt(max(len(self.times), 1))
        return max(1, min(4, math.floor(math.log10(max(self.median, 1e-12) / spread)) + 1))

    @property
    def title(self) -> str:
        """What was measured."""
        return self.task_spec.title

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "task_spec":
            raise AttributeError(name)
        return getattr(self.task_spec, name)

    def __repr__(self) -> str:
        unit, length = select_unit(self.median)
        threads = self.task_spec.num_threads
        return (
            f"<{type(self).__module__}.{type(self).__name__}>\n{self.title}\n"
            f"  Median: {self.median / length:.2f} {unit}\n  IQR:    {self.iqr / length:.2f} {unit}\n"
            f"  {len(self.raw_times)} measurements, {self.number_per_run} runs per measurement, "
            f"{threads} thread{'s' if threads > 1 else ''}"
        )

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of one task put together."""
        groups: dict[TaskSpec, list[Measurement]] = {}
        for item in measurements:
            groups.setdefault(item.task_spec, []).append(item)
        return [Measurement(1, [time for item in items for time in item.times], spec) for spec, items in groups.items()]


class Timer:
    """Measures a statement, on one thread unless more are asked for.

    >>> measured = torch.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(4)}).timeit(10)
    >>> measured.number_per_run
    10
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: str = "py",
    ) -> None:
        if str(language).lower().rpartition(".")[2] not in ("py", "python"):
            raise NotImplementedError("torch.utils.benchmark measures statements of Python only")
        space = {"torch": torch, **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, space)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _run(self, number: int) -> float:
        before = torch.get_num_threads()
        torch.set_num_threads(self._task_spec.num_threads)
        try:
            return self._timer.timeit(number)
        finally:
            torch.set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of `number` calls, after a shorter one to warm up."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._task_spec)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Runs for `min_run_time` seconds in all, each so long that its timer does not matter."""
        number = 1
        while True:
            time = self._run(number)
            if time > min_run_time / 1000 or number >= 10**9:
                break
            number *= 10
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None
    ) -> Measurement:
        """Runs until the quartiles are within `threshold` of the median, or for `max_run_time` seconds."""
        result = self.blocked_autorange(callback, min_run_time)
        while result.iqr > threshold * result.median and sum(result.raw_times) < max_run_time:
            result.raw_times += self.blocked_autorange(callback, max(min_run_time, sum(result.raw_times))).raw_times
        return result

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError: instructions are not counted here."""
        raise NotImplementedError("collect_callgrind is not supported: use blocked_autorange()")


class Compare:
    """A table of measurements: a row for each `sub_label`, a column for each `description`."""

    def __init__(self, results: list[Measurement]) -> None:
        self._results = list(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """More of them."""
        self._results += results

    def trim_significant_figures(self) -> None:
        """Accepted: the table shows three digits."""

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted: the table has no colours."""

    def highlight_warnings(self) -> None:
        """Accepted."""

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        unit, length = select_unit(min((item.median for item in merged), default=1.0))
        lines: list[str] = []
        for label in dict.fromkeys(item.task_spec.label for item in merged):
            chosen = [item for item in merged if item.task_spec.label == label]
            columns = list(dict.fromkeys(str(item.task_spec.description or "") for item in chosen))
            names = list(dict.fromkeys(str(item.task_spec.sub_label or item.task_spec.stmt) for item in chosen))
            found = {
                (str(i.task_spec.sub_label or i.task_spec.stmt), str(i.task_spec.description or "")): i for i in chosen
            }
            cells = [["", *columns]]
            for name in names:
                medians = [
                    found[name, column].median / length if (name, column) in found else None for column in columns
                ]
                cells.append([name, *("" if median is None else f"{median:.3g}" for median in medians)])
            widths = [max(len(row[place]) for row in cells) for place in range(len(columns) + 1)]
            lines.append(f"[{label or ''}]")
            lines += ["  |  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
            lines.append("")
        return "\n".join([*lines, f"Times are in {unit}."])

    def print(self) -> None:
        """Prints the table."""
        print(str(self))
