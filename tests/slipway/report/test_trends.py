"""Runs beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import UsageError
from slipway.base.events import Compiled, Decided, Packaged, Reason, RunStarted
from slipway.base.paths import Workspace
from slipway.report.trends import collect_trends, find_run, render_comparison, render_trends

from ..recorded_build import KEY
from .conftest import MakeRun, write_journal

if TYPE_CHECKING:
    from pathlib import Path


def test_runs_beside_each_other(make_run: MakeRun) -> None:
    workspace = make_run()
    later = (
        (100.0, RunStarted("ship", 2, 4, 1)),
        (101.0, Decided(KEY, Reason.CHANGED)),
        (102.0, Compiled(KEY, "folder", 10, 8, 2, 0, 0, 0)),
        (104.0, Packaged(KEY, f"linux-64/{KEY}.conda", 750, "cc", 4.0, reused=False)),
    )
    write_journal(workspace, later, name="2")
    last, first = collect_trends(workspace)
    assert (last.number, last.ok, last.seconds, last.size, last.compiles) == (1, None, 4.0, 750, (8, 10))
    assert (first.ok, first.seconds, first.size, first.compiles) == (True, 10.0, 600, (0, 0))
    table = render_trends([last, first])
    assert "killed" in table.splitlines()[2]
    assert "8 of 10" in table.splitlines()[2]
    assert "1 of 2" in table.splitlines()[3]
    text = render_comparison(find_run((last, first), 2), find_run((last, first), 1))
    whole, toy, data = text.splitlines()[6:9]
    assert whole.split()[-6:] == ["-60", "%", "600", "B", "750", "B"]
    assert toy.split()[0] == "libtoy"
    assert "-50 %" in toy
    assert data.split()[0] == "toy-data"
    assert "8 of 10" in text
    with pytest.raises(UsageError, match="there is no run 3"):
        find_run((last, first), 3)


def test_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no run"):
        collect_trends(Workspace(tmp_path))
