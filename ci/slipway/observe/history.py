"""What former builds teach the next one: how long an output takes, how much memory its compilers do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.observe.record import BuildRecord, read_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESERVE = 0.1
"""Share of the free memory that is left alone: sampling misses the last moment of a compiler."""


def last_build(logs: Path, name: str) -> BuildRecord | None:
    """The newest record of an output of that name, whatever its version, variant and build string."""
    records = [record for record in read_records(logs) if record.name == name and record.phases]
    return max(records, key=lambda record: record.phases[-1].end, default=None)


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


def available_memory(meminfo: Path = Path("/proc/meminfo"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that can be used without swapping: what the machine has left, or less in a container with a limit.

    Args:
        groups: where control groups (version 2) are mounted; in a container, its own.

    Raises:
        ValueError: the kernel does not say.
    """
    for line in meminfo.read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return min([int(rest.split()[0]) * 1024, *_group_room(groups)])
    raise ValueError(f"{meminfo} has no MemAvailable")


def _group_room(groups: Path) -> Iterator[int]:
    """What this process's control group and those around it have left, where there is a limit."""
    own = ""
    with suppress(OSError):
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        own = next((line[3:].lstrip("/") for line in lines if line.startswith("0::")), "")
    folder = groups / own
    for place in (folder, *(parent for parent in folder.parents if parent.is_relative_to(groups))):
        with suppress(OSError, ValueError):  # "max": no limit
            limit = int((place / "memory.max").read_text(encoding="ascii"))
            used = int((place / "memory.current").read_text(encoding="ascii"))
            facts = dict(line.split() for line in (place / "memory.stat").read_text(encoding="ascii").splitlines())
            # Cached files that nobody reads just now make room when it is needed.
            yield max(limit - used + int(facts.get("inactive_file", 0)), 0)
