"""The journal of a run: one JSON object per line, written as things happen.

Each line is one of the frozen events below, with its class's name and its time. A line that a kill cut off is skipped
on reading; everything before it counts.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO, get_args

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from slipway.base.log import Reporter, Task

KEPT_RUNS = 20
"""How many journals stay in dist/logs/runs."""


@dataclass(frozen=True)
class RunStarted:
    """A command began: its words, and the machine's size (bytes of memory, processors)."""

    command: str
    jobs: int
    processors: int
    memory: int


@dataclass(frozen=True)
class RunEnded:
    """The command came to its end; a run without this line was killed."""

    ok: bool


@dataclass(frozen=True)
class Failed:
    """Why the command ended badly: what happened, where, what to do next, and the longer text that explains it."""

    message: str
    where: str = ""
    hint: str = ""
    detail: str = ""


@dataclass(frozen=True)
class StageStarted:
    """A stage began, inside the stage `parent` (0: none)."""

    number: int
    parent: int
    title: str


@dataclass(frozen=True)
class StageEnded:
    """That stage is over."""

    number: int
    ok: bool


@dataclass(frozen=True)
class Decided:
    """What is done with an output, and why: ``up to date``, ``new``, ``changed``; `causes` names what changed."""

    output: str
    reason: str
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PhaseStarted:
    """The build of an output entered another phase."""

    output: str
    phase: str


@dataclass(frozen=True)
class Compiled:
    """What the compiler cache did for the build of an output, in numbers of compiles.

    Attributes:
        store: where compiled files are kept, for people.
        errors: times that the store did not take or give a file; it was compiled then.
        not_cached: compiles that sccache leaves to the compiler.
        failed: files that did not compile.
    """

    output: str
    store: str
    requests: int
    hits: int
    misses: int
    errors: int
    not_cached: int
    failed: int

    @property
    def sentence(self) -> str:
        """For people: ``118 of 125 compiles taken from the store (folder /home/ada/.cache/slipway/sccache)``."""
        text = f"{self.hits} of {self.hits + self.misses} compiles taken from the store ({self.store})"
        text += f", {self.not_cached} not for it" if self.not_cached else ""
        return text + (f"; it failed {self.errors} times" if self.errors else "")


@dataclass(frozen=True)
class Packaged:
    """A package file is there: its path relative to dist when it is below it, size in bytes, seconds of work."""

    output: str
    path: str
    size: int
    sha256: str
    seconds: float
    reused: bool


@dataclass(frozen=True)
class Found:
    """One finding of `verify`."""

    severity: str
    package: str
    rule: str
    where: str
    message: str
    cure: str = ""
    detail: str = ""


@dataclass(frozen=True)
class JobListed:
    """A job that a run of many is going to do: the output that it builds, and the jobs that it waits for."""

    job: str
    output: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class JobStarted:
    """That job began, with so many cores."""

    job: str
    cores: int


@dataclass(frozen=True)
class JobEnded:
    """That job is over: ``built``, ``up to date``, ``failed`` or ``left out``; `size` is its package's, in bytes."""

    job: str
    state: str
    size: int = 0


Event = (
    RunStarted
    | RunEnded
    | Failed
    | StageStarted
    | StageEnded
    | Decided
    | PhaseStarted
    | Compiled
    | Packaged
    | Found
    | JobListed
    | JobStarted
    | JobEnded
)
_KINDS: dict[str, Callable[..., Event]] = {kind.__name__: kind for kind in get_args(Event)}


@dataclass(frozen=True)
class Entry:
    """An event and when it was, in seconds since 1970."""

    time: float
    event: Event


class Journal:
    """Takes events and writes them down at once; without a stream it forgets them."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._number = 0
        self._open: list[int] = [0]

    def add(self, event: Event) -> None:
        """Write one event down."""
        if self._stream is not None:
            line = {"time": round(time.time(), 3), "event": type(event).__name__, **asdict(event)}
            self._stream.write(json.dumps(line) + "\n")
            self._stream.flush()

    @contextmanager
    def stage(self, title: str) -> Iterator[None]:
        """A stage that lasts as long as the block; stages nest."""
        self._number += 1
        number = self._number
        self.add(StageStarted(number, self._open[-1], title))
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
    """Every journal in `folder`, oldest first."""
    return sorted(folder.glob("*.jsonl"))


def read_journal(path: Path) -> list[Entry]:
    """The events of one journal in the order written; lines that are no event are left out."""
    entries = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            given = json.loads(line)
        except ValueError:
            continue  # cut off by a kill
        entry = _entry(given) if isinstance(given, dict) else None
        if entry is not None:
            entries.append(entry)
    return entries


def _entry(given: Mapping[str, Any]) -> Entry | None:
    kind = _KINDS.get(str(given.get("event")))
    if kind is None or not isinstance(given.get("time"), (int, float)):
        return None
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    del values["time"], values["event"]
    try:
        event = kind(**values)
    except TypeError:
        return None  # written by another version, with other fields
    return Entry(float(given["time"]), event)


class JournalingReporter:
    """Passes everything on to another reporter, and writes its steps down as stages."""

    def __init__(self, reporter: Reporter, journal: Journal) -> None:
        self._reporter = reporter
        self._journal = journal

    def line(self, text: str) -> None:
        """See `slipway.base.log.Reporter`."""
        self._reporter.line(text)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """See `slipway.base.log.Reporter`."""
        with self._journal.stage(title), self._reporter.step(title):
            yield

    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> AbstractContextManager[Task]:
        """See `slipway.base.log.Reporter`."""
        return self._reporter.task(title, total=total, unit=unit)
