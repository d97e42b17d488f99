"""What former builds teach the next one: how long an output takes, how much memory its compilers do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.observe.record import BuildRecord, read_records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RESERVE = 0.1
"""Share of the free memory that is left alone: sampling misses the last moment of a compiler."""


def last_build(logs: Path, name: str) -> BuildRecord | None:
    """The newest record of an output of that name, whatever its version, variant and build string."""
    records = [record for record in read_records(logs) if record.name == name and record.phases]
    return max(records, key=lambda record: record.phases[-1].end, default=None)


def expected_seconds(logs: Path, names: Sequence[str]) -> list[float]:
    """How long the builds of outputs will take, by their last ones; one that is new, as long as the others on average.

    Empty where none was ever built.
    """
    known = {name: record.seconds for name in dict.fromkeys(names) if (record := last_build(logs, name)) is not None}
    usual = sum(known.values()) / len(known) if known else 0.0
    return [known.get(name, usual) for name in names] if known else []


def fitting_jobs(peaks: Sequence[int], wanted: int, free: int) -> int:
    """How many compilers may run at once, from 1 to `wanted`, so that the largest ones together fit into memory.

    Args:
        peaks: bytes of memory that each step took; none known means no limit.
        free: bytes of memory that are available.
    """
    room = free * (1 - RESERVE)
    for count, peak in enumerate(sorted(peaks, reverse=True)[:wanted]):
        room -= peak
        if room < 0:
            return max(count, 1)
    return wanted


def needed_memory(record: BuildRecord, jobs: int) -> int:
    """Bytes that a build like that one needs with `jobs` compilers, in the worst case."""
    largest = sorted((step.memory for step in record.steps if step.memory is not None), reverse=True)
    return max(record.peak_memory, sum(largest[:jobs]))


def jobs_for(logs: Path, name: str, wanted: int, free: int) -> int:
    """How many compilers the next build of an output may run at once, by what its last build took."""
    record = last_build(logs, name)
    peaks = [step.memory for step in record.steps if step.memory is not None] if record is not None else []
    return fitting_jobs(peaks, wanted, free)
