"""The runs that are kept, one beside the other: time, bytes, what the compiler cache gave; and two of them compared."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.events import Compiled, Decided, Packaged, RunEnded, RunStarted
from slipway.base.journal import Entry, journal_paths, read_journal
from slipway.base.paths import RUNS
from slipway.base.text import human_seconds, human_size
from slipway.report.tables import fitted_table, join_sections, section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.base.paths import Workspace


@dataclass(frozen=True)
class OutputFigures:
    """What one output cost in one run: seconds, bytes of its package (None: there is none), compiles."""

    built: bool
    seconds: float
    size: int | None
    hits: int
    misses: int


@dataclass(frozen=True)
class RunFigures:
    """One run.

    Attributes:
        number: 1 is the last one.
        ok: None if it was killed.
        outputs: by name, without version and build.
    """

    number: int
    started: float
    command: str
    seconds: float
    ok: bool | None
    outputs: dict[str, OutputFigures]

    @property
    def size(self) -> int:
        """Bytes of all its packages."""
        return sum(one.size or 0 for one in self.outputs.values())

    @property
    def compiles(self) -> tuple[int, int]:
        """Those that the cache gave, and all."""
        hits = sum(one.hits for one in self.outputs.values())
        return hits, hits + sum(one.misses for one in self.outputs.values())


def collect_trends(workspace: Workspace) -> tuple[RunFigures, ...]:
    """The runs that are kept, the last one first.

    Raises:
        UsageError: there is none.
    """
    journals = [read_journal(path) for path in journal_paths(workspace.dist / RUNS)]
    runs = [journal for journal in reversed(journals) if journal]
    if not runs:
        raise UsageError(
            "there is no run to report on", where=str(workspace.dist / RUNS), hint="`slipway ship` makes one"
        )
    return tuple(_figures(number, journal) for number, journal in enumerate(runs, 1))


def _figures(number: int, journal: Sequence[Entry]) -> RunFigures:
    events = [entry.event for entry in journal]
    compiled = {event.output: event for event in events if isinstance(event, Compiled)}
    packaged = {event.output: event for event in events if isinstance(event, Packaged)}
    outputs = {}
    for event in events:
        if isinstance(event, Decided):
            package, cache = packaged.get(event.output), compiled.get(event.output)
            outputs[event.output.rsplit("-", 2)[0]] = OutputFigures(
                built=event.reason.builds,
                seconds=package.seconds if package is not None else 0.0,
                size=package.size if package is not None else None,
                hits=cache.hits if cache is not None else 0,
                misses=cache.misses if cache is not None else 0,
            )
    started = next((event for event in events if isinstance(event, RunStarted)), None)
    return RunFigures(
        number=number,
        started=journal[0].time,
        command=started.command if started is not None else "?",
        seconds=journal[-1].time - journal[0].time,
        ok=next((event.ok for event in events if isinstance(event, RunEnded)), None),
        outputs=outputs,
    )


def render_trends(runs: Sequence[RunFigures]) -> str:
    """The runs as a table, for people."""
    rows = []
    for run in runs:
        hits, compiles = run.compiles
        rows.append(
            (
                str(run.number),
                time.strftime("%m-%d %H:%M", time.localtime(run.started)),
                run.command,
                {True: "ok", False: "failed", None: "killed"}[run.ok],
                human_seconds(run.seconds),
                f"{sum(one.built for one in run.outputs.values())} of {len(run.outputs)}",
                f"{hits} of {compiles}" if compiles else "",
                human_size(run.size) if run.size else "",
            )
        )
    header = ("run", "when", "command", "end", "time", "built", "from cache", "packages")
    return "\n".join(fitted_table(header, rows, right=(0, 4, 5, 6, 7)))


def find_run(runs: Sequence[RunFigures], number: int) -> RunFigures:
    """The run of a number.

    Raises:
        UsageError: there is none.
    """
    if not 1 <= number <= len(runs):
        raise UsageError(f"there is no run {number}", hint=f"runs are 1, the last one, to {len(runs)}: --trends")
    return runs[number - 1]


def render_comparison(before: RunFigures, after: RunFigures) -> str:
    """Two runs side by side, for people: as a whole, and each output."""
    times = (human_seconds(before.seconds), human_seconds(after.seconds), _share(before.seconds, after.seconds))
    rows = [("the whole run", *times, human_size(before.size), human_size(after.size))]
    nothing = OutputFigures(built=False, seconds=0.0, size=None, hits=0, misses=0)
    for name in {**before.outputs, **after.outputs}:
        one, other = before.outputs.get(name, nothing), after.outputs.get(name, nothing)
        rows.append(
            (
                name,
                human_seconds(one.seconds) if one.built else "-",
                human_seconds(other.seconds) if other.built else "-",
                _share(one.seconds, other.seconds) if one.built and other.built else "",
                human_size(one.size) if one.size is not None else "-",
                human_size(other.size) if other.size is not None else "-",
            )
        )
    names = (f"run {before.number}", f"run {after.number}")
    header = ("output", *names, "", *names)
    table = fitted_table(header, rows, right=(1, 2, 3, 4, 5))
    caches = [f"run {run.number}: {run.compiles[0]} of {run.compiles[1]}" for run in (before, after) if run.compiles[1]]
    headline = f"run {before.number} and run {after.number}: time, and bytes of packages"
    return join_sections(headline, [section("Outputs", table), section("Compiles from the cache", caches)])


def _share(before: float, after: float) -> str:
    return f"{(after / before - 1) * 100:+.0f} %" if before > 0 else ""
