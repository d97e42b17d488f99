"""One report from journals, records and packages; also of runs that were cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import UsageError
from slipway.base.events import Decided, Reason, RunStarted, Stage, StageEnded, StageKey, StageStarted
from slipway.report.run_report import collect

from ..recorded_build import KEY, RECORD, START
from .conftest import EVENTS, OTHER, MakeRun, write_journal

if TYPE_CHECKING:
    from slipway.base.paths import Workspace


def test_a_whole_run(make_run: MakeRun) -> None:
    report = collect(make_run())
    assert (report.command, report.ok, report.seconds, report.jobs) == ("ship", True, 10.0, 2)
    assert [(str(stage.stage), stage.depth, stage.end - stage.start) for stage in report.stages] == [
        ("render the recipe", 0, 1.0),
        ("[1/2] libtoy 1.0 h0_0", 0, 8.0),
        ("verify", 1, 1.0),
        ("[2/2] toy-data 1.0 h1_0", 0, 1.0),
    ]
    built, reused = report.outputs
    assert (built.name, built.built, built.causes, built.size, built.current) == (
        *("libtoy", True, ("src/<toy>.c",), 500, True),
    )
    assert (reused.key, reused.built, reused.record) == (OTHER, False, None)
    assert [package.installed for package in report.packages] == [10_000, 500]
    assert [name for _, module in report.modules for name in (module.name,)] == ["toy", "gen", "m-extra"]
    assert [found.rule for found in report.findings] == ["linking"]


def test_profile_adds_up_to_the_run(make_run: MakeRun) -> None:
    within = ((0.25, StageStarted(9, 1, Stage(StageKey.DEBIAN_INDEX))), (0.75, StageEnded(9, ok=True)))
    assert collect(make_run((*EVENTS[:2], *within, *EVENTS[2:]))).profile == [
        ("compile", 5.0),
        ("verify", 1.0),
        ("configure", 1.0),
        ("render the recipe", 0.5),
        ("read Debian's index", 0.5),
        ("between these", 2.0),
    ]


@pytest.mark.parametrize("length", range(1, len(EVENTS)))
def test_a_run_that_was_killed_anywhere(make_run: MakeRun, length: int) -> None:
    report = collect(make_run(EVENTS[:length]))
    assert report.ok is None
    assert report.ended == START + EVENTS[length - 1][0]
    assert all(report.started <= stage.start <= stage.end <= report.ended for stage in report.stages)


def test_what_is_reused_keeps_its_last_build_and_findings(make_run: MakeRun) -> None:
    workspace = make_run()
    later = ((100.0, RunStarted("ship", 2, 4, 1)), (101.0, Decided(KEY, Reason.UP_TO_DATE)))
    write_journal(workspace, later, name="2")
    report = collect(workspace)
    (state,) = report.outputs
    assert state.record == RECORD
    assert not state.current
    assert [found.where for found in report.findings] == ["lib/libtoy.so"]


def test_findings_of_an_older_build_are_gone(make_run: MakeRun) -> None:
    workspace = make_run()
    later = ((100.0, RunStarted("ship", 2, 4, 1)), (101.0, Decided(KEY, Reason.CHANGED)))
    write_journal(workspace, later, name="2")
    assert collect(workspace).findings == ()


def test_a_damaged_package_is_named(make_run: MakeRun) -> None:
    workspace = make_run()
    path = workspace.channel / f"linux-64/{KEY}.conda"
    path.write_bytes(path.read_bytes()[:100])
    report = collect(workspace)
    assert [package.name for package in report.packages] == [f"{OTHER}.conda"]
    assert report.damaged[0].startswith(f"{KEY}.conda: the package is damaged")


def test_nothing_was_ever_run(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="no run to report on"):
        collect(workspace)
