"""Plain progress that does not flood a log."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from slipway import console

if TYPE_CHECKING:
    import pytest


def test_plain_task_is_throttled(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    reporter = console.PlainReporter(stream)
    with reporter.task("libtorch", total=1000) as task:
        for step in range(1000):
            now[0] += 0.0075
            task.update(completed=step + 1, text="Building a.cpp")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1, "ten seconds of work, one line per five seconds, none for the end"
    assert "] Building a.cpp" in lines[0]


def test_plain_download_ends_with_size_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with console.PlainReporter(stream).task("mkl", total=4_000_000, unit="bytes") as task:
        now[0] = 2.0
        task.advance(4_000_000)
    assert stream.getvalue() == "[    2.0] mkl: 4.0 MB of 4.0 MB, 2.0 MB/s\n"


def test_plain_time_that_is_left_is_not_told_when_none_is(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with console.PlainReporter(stream).task("all packages", total=40, unit="seconds") as task:
        for completed in (30, 40, 44):
            now[0] += 20.0
            task.update(completed=completed)
    assert stream.getvalue() == "[   20.0] all packages: about 10.0 s left\n"
