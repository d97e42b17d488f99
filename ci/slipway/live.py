"""The live display of a terminal, drawn by rich."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.live_render import LiveRender
from rich.markup import escape
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

from slipway.base.secrets import redact
from slipway.base.text import encodable, human_seconds, human_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.control import Control
    from rich.progress import Task as RichTask, TaskID

    from slipway.base.events import Stage
    from slipway.base.log import Task


WIDE = 100
"""Columns of a terminal in which a long bar leaves room for names."""


class LiveTask:
    """A line of the display, with a bar where its end is known."""

    def __init__(self, progress: Progress, identifier: TaskID) -> None:
        self.progress = progress
        self.identifier = identifier

    def advance(self, amount: int) -> None:
        self.progress.advance(self.identifier, amount)

    def update(self, *, completed: int | None = None, total: int | None = None, text: str | None = None) -> None:
        if completed is not None or total is not None:
            self.progress.update(self.identifier, completed=completed, total=total, moment=time.monotonic())
        if text is not None:
            self.progress.update(self.identifier, text=text)


class LiveReporter:
    """Spinners, bars and speeds at the foot of the terminal; finished steps scroll up as plain lines."""

    def __init__(self) -> None:
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

    def detail(self, text: str) -> None:
        pass  # who asked for it gets a plain reporter

    @contextmanager
    def step(self, title: Stage | str) -> Iterator[None]:
        progress = self._display()
        indent = "  " * self.depth
        identifier = progress.add_task(f"{indent}{title}", total=None, text="", unit="steps", moment=0.0)
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
            self.console.print(f"{indent}[{style}]{mark}[/] {escape(str(title))} [dim]{seconds}[/]", soft_wrap=True)

    @contextmanager
    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> Iterator[Task]:
        progress = self._display()
        name = "  " * self.depth + title
        identifier = progress.add_task(name, total=total, text="", unit=unit, moment=time.monotonic())
        try:
            yield LiveTask(progress, identifier)
        finally:
            progress.remove_task(identifier)


class CountColumn(ProgressColumn):
    """``[12/80] text`` for steps; ``3.1 of 20.5 MB  8.2 MB/s`` for bytes."""

    def render(self, task: RichTask) -> Text:
        """See rich."""
        if task.fields["unit"] == "bytes":
            total = f" of {human_size(task.total)}" if task.total else ""
            speed = f"  {human_size(task.speed)}/s" if task.speed else ""
            return Text(f"{human_size(task.completed)}{total}{speed}")
        if task.fields["unit"] == "seconds":
            left = (task.total or 0) - passed_of(task)
            return Text(f"~{left // 60:.0f}:{left % 60:02.0f} left" if left >= 1 else "nearly", no_wrap=True)
        count = f"[{task.completed:.0f}/{task.total:.0f}] " if task.total else ""
        return Text(f"{count}{task.fields['text']}", overflow="ellipsis", no_wrap=True)


def passed_of(task: RichTask) -> float:
    """How far a task is; one that is counted in seconds goes on by itself, and waits for the rest before its end."""
    if task.fields["unit"] != "seconds":
        return task.completed
    passed: float = task.completed + time.monotonic() - task.fields["moment"]
    return min(passed, 0.99 * (task.total or 0))


class MeasuredBarColumn(ProgressColumn):
    """A bar where the end is known, nothing where only time passes; a short one where the terminal is narrow."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def render(self, task: RichTask) -> ProgressBar | Text:
        """See rich."""
        if not task.total:
            return Text("")
        width = 24 if self._console.width >= WIDE else 8
        return ProgressBar(total=task.total, completed=passed_of(task), width=width)


class ReflowedRender(LiveRender):
    """A frame of the display, which is found again after the terminal became narrower and broke its lines."""

    def __init__(self, frame: RenderableType, console: Console) -> None:
        super().__init__(frame)
        self._console = console

    def position_cursor(self) -> Control:
        """See rich."""
        self._reflow()
        return super().position_cursor()

    def restore_cursor(self) -> Control:
        """See rich."""
        self._reflow()
        return super().restore_cursor()

    def _reflow(self) -> None:
        if self._shape is not None:
            width, height = self._shape
            rows = -(-width // self._console.width) or 1
            self._shape = min(width, self._console.width), height * rows


def _make_progress(console: Console) -> Progress:
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        MeasuredBarColumn(console),
        CountColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        refresh_per_second=8,
    )
    progress.live._live_render = ReflowedRender(progress.get_renderable(), console)
    return progress
