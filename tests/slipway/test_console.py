"""Sizes, times and tables as people read them; plain progress that does not flood a log."""

from __future__ import annotations

import io

import pytest

from slipway import console


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (999_960, "1.0 MB"), (2.5e9, "2.50 GB")],
)
def test_human_size(count: float, text: str) -> None:
    assert console.human_size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (59.94, "59.9 s"),
        (60, "1 min 00 s"),
        (83.4, "1 min 23 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 00 min"),
        (7199, "2 h 00 min"),
    ],
)
def test_human_seconds(seconds: float, text: str) -> None:
    assert console.human_seconds(seconds) == text


def test_table_aligns_columns() -> None:
    table = console.format_table(("name", "size"), [("libtorch", "8 MB"), ("x", "12 MB")], right=(1,))
    assert table.splitlines() == ["name       size", "--------  -----", "libtorch   8 MB", "x         12 MB"]


def test_table_of_a_width_wraps_its_widest_columns() -> None:
    rows = [("a", "lib/python3.11/site-packages/torch/_C.so", "one two three four five six")]
    lines = console.format_table(("x", "where", "what"), rows, width=40).splitlines()
    assert lines == [
        "x  where              what",
        "-  -----------------  ------------------",
        "a  lib/python3.11/    one two three four",
        "   site-packages/     five six",
        "   torch/_C.so",
    ]
    assert console.wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_what_would_move_the_cursor_is_written_out() -> None:
    assert console.printable("a\x1b[2J\nb\u202ec é") == "a\\x1b[2J\\nb\\u202ec é"


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
