"""The journal: what is written is read again, also after a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.events import (
    Decided,
    JobEnded,
    JobState,
    Reason,
    RunEnded,
    RunStarted,
    Stage,
    StageEnded,
    StageKey,
    StageStarted,
)
from slipway.base.journal import KEPT_RUNS, Journal, JournalingReporter, journal_paths, keep_journal, read_journal
from slipway.base.log import NullReporter

if TYPE_CHECKING:
    from pathlib import Path

STARTED = RunStarted("ship", jobs=2, processors=2, memory=8_000_000_000)
OUTPUT = Stage(StageKey.OUTPUT, "libtoy-1.0-0", 1, 2)
VERIFY = Stage(StageKey.VERIFY, "libtoy-1.0-0")


def test_events_are_read_as_written(tmp_path: Path) -> None:
    decided = Decided("libtoy-1.0-0", Reason.CHANGED, ("src/toy.c", "ninja 1.12 -> 1.13"))
    with (
        keep_journal(tmp_path, STARTED) as journal,
        JournalingReporter(NullReporter(), journal).step(OUTPUT),
        journal.stage(VERIFY),
    ):
        journal.add(decided)
    events = [entry.event for entry in read_journal(journal_paths(tmp_path)[0])]
    assert events == [
        STARTED,
        StageStarted(1, 0, OUTPUT),
        StageStarted(2, 1, VERIFY),
        decided,
        StageEnded(2, ok=True),
        StageEnded(1, ok=True),
        RunEnded(ok=True),
    ]


def test_keys_are_members_of_their_enums_again(tmp_path: Path) -> None:
    with keep_journal(tmp_path, STARTED) as journal, journal.stage(OUTPUT):
        journal.add(JobEnded("a", JobState.LEFT_OUT))
    path = journal_paths(tmp_path)[0]
    stage, job = (entry.event for entry in read_journal(path)[1:3])
    assert isinstance(stage, StageStarted)
    assert isinstance(job, JobEnded)
    assert (stage.stage.key, job.state) == (StageKey.OUTPUT, JobState.LEFT_OUT)
    assert isinstance(stage.stage.key, StageKey)
    assert isinstance(job.state, JobState)
    path.write_text(path.read_text(encoding="utf-8").replace('"left out"', '"a state to come"'), encoding="utf-8")
    assert not any(isinstance(entry.event, JobEnded) for entry in read_journal(path))


def test_a_step_without_a_key_is_shown_only(tmp_path: Path) -> None:
    with keep_journal(tmp_path, STARTED) as journal, JournalingReporter(NullReporter(), journal).step("a detail"):
        pass
    events = [entry.event for entry in read_journal(journal_paths(tmp_path)[0])]
    assert events == [STARTED, RunEnded(ok=True)]


def test_a_failed_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), keep_journal(tmp_path, STARTED) as journal, journal.stage(OUTPUT):
        raise KeyboardInterrupt
    events = [entry.event for entry in read_journal(journal_paths(tmp_path)[0])]
    assert events[-2:] == [StageEnded(1, ok=False), RunEnded(ok=False)]


def test_every_line_is_on_disk_at_once_and_half_a_line_is_skipped(tmp_path: Path) -> None:
    with keep_journal(tmp_path, STARTED) as journal:
        journal.add(Decided("a-1-0", Reason.NEW))
        path = journal_paths(tmp_path)[0]
        assert len(read_journal(path)) == 2, "a kill now must leave both"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[: whole.rindex('"ok"')] + '\n{"time": 1, "event": "Unknown"}\n[]\n', encoding="utf-8")
    assert [entry.event for entry in read_journal(path)] == [STARTED, Decided("a-1-0", Reason.NEW)]


def test_events_of_some_kinds_are_read_alone(tmp_path: Path) -> None:
    decided = Decided("RunEnded-1-0", Reason.NEW)  # a name of another kind inside
    with keep_journal(tmp_path, STARTED) as journal:
        journal.add(decided)
    (path,) = journal_paths(tmp_path)
    assert [entry.event for entry in read_journal(path, (Decided,))] == [decided]
    assert [entry.event for entry in read_journal(path, (RunEnded, RunStarted))] == [STARTED, RunEnded(ok=True)]


def test_only_the_newest_journals_stay(tmp_path: Path) -> None:
    for number in range(KEPT_RUNS + 3):
        (tmp_path / f"20200101T0000{number:02d}.000Z.jsonl").write_text("", encoding="utf-8")
    with keep_journal(tmp_path, STARTED):
        pass
    names = [path.name for path in journal_paths(tmp_path)]
    assert len(names) == KEPT_RUNS
    assert names[0] == "20200101T000004.000Z.jsonl"


def test_a_journal_without_a_file_is_silent() -> None:
    with Journal().stage(VERIFY):
        pass
