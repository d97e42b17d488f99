"""The journal: what is written is read again, also after a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.events import (
    KEPT_RUNS,
    Decided,
    Journal,
    JournalingReporter,
    RunEnded,
    RunStarted,
    StageEnded,
    StageStarted,
    journal_paths,
    keep_journal,
    read_journal,
)
from slipway.base.log import NullReporter

if TYPE_CHECKING:
    from pathlib import Path

STARTED = RunStarted("ship", jobs=2, processors=2, memory=8_000_000_000)


def test_events_are_read_as_written(tmp_path: Path) -> None:
    decided = Decided("libtoy-1.0-0", "changed", ("src/toy.c", "ninja 1.12 -> 1.13"))
    with (
        keep_journal(tmp_path, STARTED) as journal,
        JournalingReporter(NullReporter(), journal).step("build"),
        journal.stage("verify"),
    ):
        journal.add(decided)
    events = [entry.event for entry in read_journal(journal_paths(tmp_path)[0])]
    assert events == [
        STARTED,
        StageStarted(1, 0, "build"),
        StageStarted(2, 1, "verify"),
        decided,
        StageEnded(2, ok=True),
        StageEnded(1, ok=True),
        RunEnded(ok=True),
    ]


def test_a_failed_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), keep_journal(tmp_path, STARTED) as journal, journal.stage("build"):
        raise KeyboardInterrupt
    events = [entry.event for entry in read_journal(journal_paths(tmp_path)[0])]
    assert events[-2:] == [StageEnded(1, ok=False), RunEnded(ok=False)]


def test_every_line_is_on_disk_at_once_and_half_a_line_is_skipped(tmp_path: Path) -> None:
    with keep_journal(tmp_path, STARTED) as journal:
        journal.add(Decided("a-1-0", "new"))
        path = journal_paths(tmp_path)[0]
        assert len(read_journal(path)) == 2, "a kill now must leave both"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[: whole.rindex('"ok"')] + '\n{"time": 1, "event": "Unknown"}\n[]\n', encoding="utf-8")
    assert [entry.event for entry in read_journal(path)] == [STARTED, Decided("a-1-0", "new")]


def test_only_the_newest_journals_stay(tmp_path: Path) -> None:
    for number in range(KEPT_RUNS + 3):
        (tmp_path / f"20200101T0000{number:02d}.000Z.jsonl").write_text("", encoding="utf-8")
    with keep_journal(tmp_path, STARTED):
        pass
    names = [path.name for path in journal_paths(tmp_path)]
    assert len(names) == KEPT_RUNS
    assert names[0] == "20200101T000004.000Z.jsonl"


def test_a_journal_without_a_file_is_silent() -> None:
    with Journal().stage("nothing"):
        pass
