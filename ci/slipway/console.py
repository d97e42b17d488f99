"""The two faces of a `Reporter`: a live display on a terminal, plain lines in a pipe or a log.

Both print the same permanent lines. rich is imported only when there is something live to draw.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from slipway.base.log import NullReporter, Reporter, Task
from slipway.base.secrets import redact
from slipway.base.text import encodable, human_seconds, human_size, printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, TaskID

    from slipway.base.errors import RecipeWarning, SlipwayError
    from slipway.base.events import Stage

PLAIN_INTERVAL_SECONDS = 5.0
"""How often a running task may print a line where no live display is possible."""


def print_error(error: SlipwayError, stream: TextIO | None = None) -> None:
    """What happened, where, what to do next, and the longer detail above it so that the message stays in sight."""
    stream = stream or sys.stderr
    if error.detail:
        print(_make_printable(error.detail.rstrip("\n"), stream), file=stream)
    print(f"{_paint('error:', '1;31', stream)} {_make_printable(shorten(error.message), stream)}", file=stream)
    if error.where:
        print(f"  at: {_make_printable(shorten(error.where), stream)}", file=stream)
    if error.hint:
        print(f"  hint: {_make_printable(shorten(error.hint), stream)}", file=stream)


def print_warning(warning: RecipeWarning, stream: TextIO | None = None) -> None:
    """The same for what only may be a mistake."""
    stream = stream or sys.stderr
    print(f"{_paint('warning:', '1;33', stream)} {_make_printable(shorten(warning.message), stream)}", file=stream)
    print(f"  at: {_make_printable(shorten(warning.where), stream)}", file=stream)
    print(f"  hint: {_make_printable(shorten(warning.hint), stream)}", file=stream)


def _make_printable(text: str, stream: TextIO) -> str:
    """What may come from anyone's recipe or package, without what moves a cursor, as the stream can write it."""
    lines = (printable(line.replace("\t", "    ")) for line in text.split("\n"))
    return encodable("\n".join(lines), stream)


def _paint(text: str, code: str, stream: TextIO) -> str:
    colour = stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


@contextmanager
def make_reporter(*, quiet: bool = False) -> Iterator[Reporter]:
    """The reporter that fits: silent (for ``--json``), live on a terminal, plain elsewhere."""
    if quiet:
        yield NullReporter()
    elif sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        with LiveReporter().live() as reporter:
            yield reporter
    else:
        yield PlainReporter(sys.stdout)


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
        if now - self.printed >= PLAIN_INTERVAL_SECONDS:
            self.printed = now
            self.reporter.line(f"{self.title}: {self.describe()}")

    def describe(self) -> str:
        seconds = max(time.monotonic() - self.started, 1e-6)
        if self.unit == "bytes":
            total = f" of {human_size(self.total)}" if self.total else ""
            return f"{human_size(self.completed)}{total}, {human_size(self.completed / seconds)}/s"
        total = f"/{self.total}" if self.total else ""
        return f"[{self.completed}{total}] {self.text}".rstrip()

    def finish(self) -> None:
        if self.unit == "bytes" and self.completed:
            self.reporter.line(f"{self.title}: {self.describe()}")


class PlainReporter:
    """Lines with the seconds since the start in front, for pipes, files and CI."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.started = time.monotonic()
        self.depth = 0

    def line(self, text: str) -> None:
        prefix = f"[{time.monotonic() - self.started:7.1f}] " + "  " * self.depth
        for part in redact(text).split("\n"):
            print(encodable(f"{prefix}{part}".rstrip(), self.stream), file=self.stream, flush=True)

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


class _LiveTask:
    def __init__(self, progress: Progress, identifier: TaskID) -> None:
        self.progress = progress
        self.identifier = identifier

    def advance(self, amount: int) -> None:
        self.progress.advance(self.identifier, amount)

    def update(self, *, completed: int | None = None, total: int | None = None, text: str | None = None) -> None:
        if completed is not None or total is not None:
            self.progress.update(self.identifier, completed=completed, total=total)
        if text is not None:
            self.progress.update(self.identifier, text=text)


class LiveReporter:
    """Spinners, bars and speeds at the foot of the terminal; finished steps scroll up as plain lines."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(highlight=False)
        self.progress: Progress | None = None
        self.depth = 0

    @contextmanager
    def live(self) -> Iterator[LiveReporter]:
        """Keeps the terminal sane: whatever happens, the live display is taken down."""
        try:
            yield self
        finally:
            if self.progress is not None:
                self.progress.stop()

    def _display(self) -> Progress:
        if self.progress is None:
            self.progress = _make_progress(self.console)
            self.progress.start()
        return self.progress

    def line(self, text: str) -> None:
        for part in redact(text).split("\n"):
            text = encodable("  " * self.depth + part, self.console.file)
            self.console.print(text, markup=False, soft_wrap=True)

    @contextmanager
    def step(self, title: Stage | str) -> Iterator[None]:
        progress = self._display()
        indent = "  " * self.depth
        identifier = progress.add_task(f"{indent}{title}", total=None, text="", unit="steps")
        started = time.monotonic()
        self.depth += 1
        mark, style = "\N{MULTIPLICATION X}", "red"
        try:
            yield
            mark, style = "\N{CHECK MARK}", "green"
        finally:
            self.depth -= 1
            progress.remove_task(identifier)
            seconds = human_seconds(time.monotonic() - started)
            self.console.print(f"{indent}[{style}]{mark}[/] {_escape(str(title))} [dim]{seconds}[/]", soft_wrap=True)

    @contextmanager
    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> Iterator[Task]:
        progress = self._display()
        identifier = progress.add_task("  " * self.depth + title, total=total, text="", unit=unit)
        try:
            yield _LiveTask(progress, identifier)
        finally:
            progress.remove_task(identifier)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _make_progress(console: object) -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        Task as RichTask,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    assert isinstance(console, Console)

    class CountColumn(ProgressColumn):
        """``[12/80] text`` for steps; ``3.1 of 20.5 MB  8.2 MB/s`` for bytes."""

        def render(self, task: RichTask) -> Text:
            if task.fields["unit"] == "bytes":
                total = f" of {human_size(task.total)}" if task.total else ""
                speed = f"  {human_size(task.speed)}/s" if task.speed else ""
                return Text(f"{human_size(task.completed)}{total}{speed}")
            count = f"[{task.completed:.0f}/{task.total:.0f}] " if task.total else ""
            return Text(f"{count}{task.fields['text']}", overflow="ellipsis", no_wrap=True)

    class MeasuredBarColumn(BarColumn):
        """A bar where the end is known, nothing where only time passes."""

        def render(self, task: RichTask) -> Text:  # type: ignore[override]
            return super().render(task) if task.total else Text("")  # type: ignore[return-value]

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        MeasuredBarColumn(bar_width=24),
        CountColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        refresh_per_second=8,
    )
