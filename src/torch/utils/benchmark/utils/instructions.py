"""Numbers of instructions by function, as valgrind's callgrind counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch.utils.benchmark.utils.common import TaskSpec

__all__ = ["CallgrindStats", "CopyIfCallgrind", "FunctionCount", "FunctionCounts"]


class CopyIfCallgrind:
    """A global of a `Timer` that another process may get as a copy; `setup` are imports that this needs."""

    def __init__(self, value: Any, *, setup: str | None = None) -> None:
        self._copied_value, self._setup = value, setup

    @property
    def value(self) -> Any:
        """What it holds."""
        return self._copied_value

    @property
    def setup(self) -> str | None:
        """The imports."""
        return self._setup


class FunctionCount(NamedTuple):
    """How many instructions a function took."""

    count: int
    function: str


@dataclass(repr=False, eq=False, frozen=True)
class FunctionCounts:
    """Counts of many functions, the largest first: added, subtracted, filtered and renamed as a whole."""

    _data: tuple[FunctionCount, ...]
    inclusive: bool
    truncate_rows: bool = True
    _linewidth: int | None = None

    def __iter__(self) -> Iterator[FunctionCount]:
        yield from self._data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, item: Any) -> Any:
        found = self._data[item]
        return FunctionCounts(found, self.inclusive, truncate_rows=False) if isinstance(item, slice) else found

    def __repr__(self) -> str:
        width = max([len(str(row.count)) for row in self._data] + [0]) + 2
        rows = [f"{row.count:>{width}}  {row.function}" for row in self._data]
        if self.truncate_rows and len(rows) > 18:
            rows = [*rows[:9], "...".rjust(width + 2), *rows[-9:]]
        return "\n".join([object.__repr__(self), *rows, "", f"Total: {self.sum()}"])

    def __add__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merged(other, 1)

    def __sub__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merged(other, -1)

    def __mul__(self, other: float) -> FunctionCounts:
        return self._from_dict({row.function: int(row.count * other) for row in self._data})

    def transform(self, map_fn: Callable[[str], str]) -> FunctionCounts:
        """Other names; functions that get the same one are counted together."""
        counts: dict[str, int] = {}
        for row in self._data:
            name = map_fn(row.function)
            counts[name] = counts.get(name, 0) + row.count
        return self._from_dict(counts)

    def filter(self, filter_fn: Callable[[str], bool]) -> FunctionCounts:
        """Those whose names pass."""
        return FunctionCounts(tuple(row for row in self._data if filter_fn(row.function)), self.inclusive)

    def sum(self) -> int:
        """All instructions."""
        return sum(row.count for row in self._data)

    def denoise(self) -> FunctionCounts:
        """Those without CPython's dictionaries, whose counts differ from run to run."""
        return self.filter(lambda name: "dictobject.c:lookdict_unicode" not in name)

    def _merged(self, other: FunctionCounts, sign: int) -> FunctionCounts:
        if self.inclusive is not other.inclusive:
            raise AssertionError("Cannot merge inclusive and exclusive counts.")
        counts = {row.function: row.count for row in self._data}
        for row in other._data:
            counts[row.function] = counts.get(row.function, 0) + sign * row.count
        return self._from_dict(counts)

    def _from_dict(self, counts: dict[str, int]) -> FunctionCounts:
        rows = [FunctionCount(count, name) for name, count in counts.items() if count != 0]
        return FunctionCounts(tuple(sorted(rows, reverse=True)), self.inclusive, self.truncate_rows, self._linewidth)


@dataclass(repr=False, eq=False, frozen=True)
class CallgrindStats:
    """The counts of a statement, and of an empty one to take away."""

    task_spec: TaskSpec
    number_per_run: int
    built_with_debug_symbols: bool
    baseline_inclusive_stats: FunctionCounts
    baseline_exclusive_stats: FunctionCounts
    stmt_inclusive_stats: FunctionCounts
    stmt_exclusive_stats: FunctionCounts
    stmt_callgrind_out: str | None

    def stats(self, inclusive: bool = False) -> FunctionCounts:
        """The functions' own counts, or with those that they call."""
        return self.stmt_inclusive_stats if inclusive else self.stmt_exclusive_stats

    def counts(self, *, denoise: bool = False) -> int:
        """All instructions."""
        return (self.stmt_exclusive_stats.denoise() if denoise else self.stmt_exclusive_stats).sum()

    def delta(self, other: CallgrindStats, inclusive: bool = False) -> FunctionCounts:
        """The counts less those of another statement."""
        return self.stats(inclusive) - other.stats(inclusive)

    def as_standardized(self) -> CallgrindStats:
        """The same without the paths of files."""

        def strip(stats: FunctionCounts) -> FunctionCounts:
            return stats.transform(lambda name: name.rpartition("/")[2] if "/" in name.partition(":")[0] else name)

        return CallgrindStats(
            self.task_spec,
            self.number_per_run,
            self.built_with_debug_symbols,
            strip(self.baseline_inclusive_stats),
            strip(self.baseline_exclusive_stats),
            strip(self.stmt_inclusive_stats),
            strip(self.stmt_exclusive_stats),
            self.stmt_callgrind_out,
        )
