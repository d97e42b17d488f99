"""Sizes, times and tables as people read them."""

from __future__ import annotations

import pytest

from slipway.base import text


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (999_960, "1.0 MB"), (2.5e9, "2.50 GB")],
)
def test_human_size(count: float, told: str) -> None:
    assert text.human_size(count) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
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
def test_human_seconds(seconds: float, told: str) -> None:
    assert text.human_seconds(seconds) == told


def test_table_aligns_columns() -> None:
    table = text.format_table(("name", "size"), [("libtorch", "8 MB"), ("x", "12 MB")], right=(1,))
    assert table.splitlines() == ["name       size", "--------  -----", "libtorch   8 MB", "x         12 MB"]


def test_table_of_a_width_wraps_its_widest_columns() -> None:
    rows = [("a", "lib/python3.11/site-packages/torch/_C.so", "one two three four five six")]
    lines = text.format_table(("x", "where", "what"), rows, width=40).splitlines()
    assert lines == [
        "x  where              what",
        "-  -----------------  ------------------",
        "a  lib/python3.11/    one two three four",
        "   site-packages/     five six",
        "   torch/_C.so",
    ]
    assert text.wrap("x" * 25, 10) == ["x" * 10, "x" * 10, "x" * 5]


def test_what_would_move_the_cursor_is_written_out() -> None:
    assert text.printable("a\x1b[2J\nb\u202ec é") == "a\\x1b[2J\\nb\\u202ec é"
