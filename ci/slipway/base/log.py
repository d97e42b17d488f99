"""What long work tells the person who waits for it.

Domain code takes a `Reporter` and calls it; whether that becomes a live display or plain lines is decided once, by the
command line. `NullReporter` keeps tests quiet.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from slipway.base.events import Stage


class Task(Protocol):
    """A running piece of work with a measurable end, such as a download."""

    def advance(self, amount: int) -> None:
        """`amount` more units (bytes for a download, steps for a build) are done."""

    def update(self, *, completed: int | None = None, total: int | None = None, text: str | None = None) -> None:
        """Set what is known by now."""


class Reporter(Protocol):
    """Where progress goes."""

    def line(self, text: str) -> None:
        """One permanent line."""

    def detail(self, text: str) -> None:
        """A line of what a program says, for those who asked for it."""

    def step(self, title: Stage | str) -> AbstractContextManager[None]:
        """A part of the work, timed from entry to exit; what a report tells of the run is a `Stage`."""

    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> AbstractContextManager[Task]:
        """Work with a count; `unit` is ``bytes``, ``steps`` or, where time itself is what counts, ``seconds``."""


class _NullTask:
    def advance(self, amount: int) -> None:
        pass

    def update(self, *, completed: int | None = None, total: int | None = None, text: str | None = None) -> None:
        pass


class NullReporter:
    """Says nothing."""

    def line(self, text: str) -> None:
        pass

    def detail(self, text: str) -> None:
        pass

    def step(self, title: Stage | str) -> AbstractContextManager[None]:
        return nullcontext()

    def task(self, title: str, *, total: int | None = None, unit: str = "steps") -> AbstractContextManager[Task]:
        return nullcontext(_NullTask())
