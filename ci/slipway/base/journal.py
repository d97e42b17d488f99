"""The journal of a run: one JSON object per line, written as things happen.

Each line is one of `slipway.base.events`, with its class's name and its time. A line that a kill cut off is skipped on
reading; everything before it counts.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO, get_args

from slipway.base.events import Event, RunEnded, RunStarted, Stage, StageEnded, StageStarted
from slipway.base.json_file import parse_json
from slipway.base.schema import convert
from slipway.base.secrets import redact_values

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from slipway.base.log import Reporter, Task

KEPT_RUNS = 20
"""How many journals stay in dist/logs/runs."""

_LAST_TIME = 1 << 40
"""Seconds since 1970 of which calendars know the day."""

_KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in get_args(Event)}


@dataclass(frozen=True)
class Entry:
    """An event and when it was, in seconds since 1970."""

    time: float
    event: Event


class Journal:
    """Takes events and writes them down at once, without secrets; without a stream it forgets them."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._number = 0
        self._open: list[int] = [0]

    def add(self, event: Event) -> None:
        """Write one event down."""
        if self._stream is not None:
            line = {"time": round(time.time(), 3), "event": type(event).__name__, **redact_values(asdict(event))}
            self._stream.write(json.dumps(line) + "\n")
            self._stream.flush()

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """A stage that lasts as long as the block; stages nest."""
        self._number += 1
        number = self._number
        self.add(StageStarted(number, self._open[-1], stage))
        self._open.append(number)
        ok = False
        try:
            yield
            ok = True
        finally:
            self._open.remove(number)
            self.add(StageEnded(number, ok))


@contextmanager
def keep_journal(folder: Path, started: RunStarted) -> Iterator[Journal]:
    """A journal in a new file of `folder`; the oldest of more than `KEPT_RUNS` files go."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in journal_paths(folder)[: -KEPT_RUNS + 1]:
        old.unlink(missing_ok=True)
    # Names sort by time; the fraction keeps two runs of one second apart.
    now = time.time()
    name = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z.jsonl"
    with (folder / name).open("w", encoding="utf-8") as stream:
        journal = Journal(stream)
        journal.add(started)
        ok = False
        try:
            yield journal
            ok = True
        finally:
            journal.add(RunEnded(ok))


def journal_paths(folder: Path) -> list[Path]:
    """Every journal in `folder`, oldest first; a link that leads nowhere is none."""
    return sorted(path for path in folder.glob("*.jsonl") if path.is_file())


def read_journal(path: Path, kinds: Collection[type[Event]] = tuple(_KINDS.values())) -> list[Entry]:
    """The events of one journal in the order written, of some kinds only; lines that are no event are left out."""
    names = [f'"{kind.__name__}"' for kind in kinds]
    entries = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if not any(name in line for name in names):  # faster than reading what the line holds
            continue
        given = parse_json(line)  # None where a kill cut it off
        entry = _entry(given) if isinstance(given, dict) else None
        if entry is not None:
            entries.append(entry)
    return [entry for entry in entries if type(entry.event) in kinds]


def _entry(given: Mapping[str, Any]) -> Entry | None:
    kind = _KINDS.get(str(given.get("event")))
    when = convert(given.get("time"), float)
    if kind is None or when is None or not 0 <= when < _LAST_TIME:
        return None
    event = convert({key: value for key, value in given.items() if key not in ("time", "event")}, kind)
    return None if event is None else Entry(when, event)  # written by another version, with other fields or keys


class JournalingReporter:
    """Passes everything on to another reporter, and writes its steps down as stages."""

    def __init__(self, reporter: Reporter, journal: Journal) -> None:
        self._reporter = reporter
        self._journal = journal

    def line(self, text: str) -> None:
        """See `slipway.base.log.Reporter`."""
        self._reporter.line(text)

    def detail(self, text: str) -> None:
        """See `slipway.base.log.Reporter`."""
        self._reporter.detail(text)

    @contextmanager
    def step(self, title: Stage | str) -> Iterator[None]:
        """See `slipway.base.log.Reporter`; a step without a key is shown and not written down."""
        with ExitStack() as stack:
            if isinstance(title, Stage):
                stack.enter_context(self._journal.stage(title))
            stack.enter_context(self._reporter.step(title))
            yield

    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> AbstractContextManager[Task]:
        """See `slipway.base.log.Reporter`."""
        return self._reporter.task(title, total=total, unit=unit)
