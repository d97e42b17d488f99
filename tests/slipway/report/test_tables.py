"""Tables and bars that fit 80 columns."""

from __future__ import annotations

import pytest

from slipway.report.tables import WIDTH, bar_line, fitted_table, section


@pytest.mark.parametrize("words", [1, 40])
@pytest.mark.parametrize("length", [5, 200])
def test_long_cells_go_on_below_and_nothing_is_lost(words: int, length: int) -> None:
    long = " ".join(["x" * length] * words)
    rows = [(long, "short", long, "123456789.0 kB"), ("a", "b", "c", "1 kB")]
    lines = fitted_table(("first", "second", "third", "size"), rows, right=(3,))
    assert max(map(len, lines)) <= WIDTH
    assert "".join(lines[2:]).count("x") == 2 * length * words
    assert lines[2].endswith("  123456789.0 kB"), "numbers are never broken"


def test_bars() -> None:
    assert bar_line("all", 0, 10, 0, 10).count("#") == 32
    assert bar_line("late", 9.99, 10, 0, 10) == f"{'late':<30}  {' ' * 31}#         0.0 s"
    assert bar_line("x" * 99, 0, 0, 0, 0, "failed").startswith("x" * 27 + "...  #")
    assert len(bar_line("x" * 99, 0, 7000, 0, 10, "cut off")) <= WIDTH


def test_a_section_without_lines_is_none() -> None:
    assert section("title", []) == ""
    assert section("title", ["a"]) == "title\n=====\na"
