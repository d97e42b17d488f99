"""The two faces of a `Reporter`: a live display on a terminal, plain lines in a pipe or a log.

Both print the same permanent lines. The live display is `slipway.live`, which pipes and logs never load.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from slipway import live
from slipway.base.answers import StepAnswer
from slipway.base.log import NullReporter, Reporter, Task
from slipway.base.secrets import redact
from slipway.base.text import encodable, human_seconds, human_size, printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.base.errors import RecipeWarning, SlipwayError
    from slipway.base.events import Stage

PLAIN_INTERVAL_SECONDS = 5.0
"""How often a running task may print a line where no live display is possible."""


def print_error(error: SlipwayError, stream: TextIO | None = None) -> None:
    """What happened, where, what to do next, and the longer detail above it so that the message stays in sight."""
    stream = stream or sys.stderr
    if error.detail:
        print(_make_printable(error.detail.rstrip("\n"), stream), file=stream)
    print(
        f"{_paint(_headed('error', error.code), '1;31', stream)} {_make_printable(shorten(error.message), stream)}",
        file=stream,
    )
    if error.where:
        print(f"  at: {_make_printable(shorten(error.where), stream)}", file=stream)
    if error.hint:
        print(f"  hint: {_make_printable(shorten(error.hint), stream)}", file=stream)


def print_warning(warning: RecipeWarning, stream: TextIO | None = None) -> None:
    """The same for what only may be a mistake."""
    stream = stream or sys.stderr
    head = _paint(_headed("warning", warning.code), "1;33", stream)
    print(f"{head} {_make_printable(shorten(warning.message), stream)}", file=stream)
    print(f"  at: {_make_printable(shorten(warning.where), stream)}", file=stream)
    print(f"  hint: {_make_printable(shorten(warning.hint), stream)}", file=stream)


def _headed(kind: str, code: str | None) -> str:
    """``error:``, or ``error[CODE]:`` where `slipway explain CODE` tells more."""
    return f"{kind}[{code}]:" if code else f"{kind}:"


def _make_printable(text: str, stream: TextIO) -> str:
    """What may come from anyone's recipe or package, without what moves a cursor, as the stream can write it."""
    lines = (printable(line.replace("\t", "    ")) for line in text.split("\n"))
    return encodable("\n".join(lines), stream)


def _paint(text: str, code: str, stream: TextIO) -> str:
    colour = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


@contextmanager
def make_reporter(*, quiet: bool = False, verbose: bool = False, live_display: bool = True) -> Iterator[Reporter]:
    """The reporter that fits: silent (for ``--json``), live on a terminal, plain elsewhere and for many lines."""
    if quiet:
        yield NullReporter()
    elif live_display and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        with live.LiveReporter().live() as reporter:
            yield reporter
    else:
        yield PlainReporter(sys.stdout, verbose=verbose)


class RecordingReporter(NullReporter):
    """Keeps what is said, for an answer in JSON."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.steps: list[StepAnswer] = []

    def line(self, text: str) -> None:
        self.lines += redact(text).split("\n")

    @contextmanager
    def step(self, title: Stage | str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.steps.append(StepAnswer(redact(str(title)), round(time.monotonic() - started, 3)))


class _PlainTask:
    """Prints at most one line per interval, and a last one with size and speed when bytes were counted."""

    def __init__(self, reporter: PlainReporter, title: str, total: int | None, unit: str) -> None:
        self.reporter = reporter
        self.title = title
        self.total = total
        self.unit = unit
        self.completed = 0
        self.text = ""
        self.started = time.monotonic()
        self.printed = self.started

    def advance(self, amount: int) -> None:
        self.update(completed=self.completed + amount)

    def update(self, *, completed: int | None = None, total: int | None = None, text: str | None = None) -> None:
        self.completed = self.completed if completed is None else completed
        self.total = self.total if total is None else total
        self.text = self.text if text is None else text
        now = time.monotonic()
        waits = self.unit == "bytes" and not self.completed
        over = self.unit == "seconds" and self.completed >= (self.total or 0)  # what else there is took no time before
        if now - self.printed >= PLAIN_INTERVAL_SECONDS and not (waits or over):
            self.printed = now
            self.reporter.line(f"{self.title}: {self.describe()}")

    def describe(self) -> str:
        seconds = max(time.monotonic() - self.started, 1e-6)
        if self.unit == "bytes":
            total = f" of {human_size(self.total)}" if self.total else ""
            return f"{human_size(self.completed)}{total}, {human_size(self.completed / seconds)}/s"
        if self.unit == "seconds":
            return f"about {human_seconds(max((self.total or 0) - self.completed, 0))} left"
        total = f"/{self.total}" if self.total else ""
        return f"[{self.completed}{total}] {self.text}".rstrip()

    def finish(self) -> None:
        if self.unit == "bytes" and self.completed:
            self.reporter.line(f"{self.title}: {self.describe()}")


class PlainReporter:
    """Lines with the seconds since the start in front, for pipes, files and CI."""

    def __init__(self, stream: TextIO, *, verbose: bool = False) -> None:
        self.stream = stream
        self.verbose = verbose
        self.started = time.monotonic()
        self.depth = 0

    def line(self, text: str) -> None:
        prefix = f"[{time.monotonic() - self.started:7.1f}] " + "  " * self.depth
        for part in redact(text).split("\n"):
            print(encodable(f"{prefix}{part}".rstrip(), self.stream), file=self.stream, flush=True)

    def detail(self, text: str) -> None:
        if self.verbose:
            self.line(f"| {printable(text)}")

    @contextmanager
    def step(self, title: Stage | str) -> Iterator[None]:
        self.line(str(title))
        started = time.monotonic()
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
        seconds = time.monotonic() - started
        if seconds >= 0.05:
            self.line(f"{title}: done in {human_seconds(seconds)}")

    @contextmanager
    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> Iterator[Task]:
        task = _PlainTask(self, title, total, unit)
        yield task
        task.finish()
