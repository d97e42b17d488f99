"""The report of many jobs: their order and times, what decided how long it took, and what their own reports say."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import UsageError
from slipway.base.events import Decided, Event, JobEnded, JobListed, JobStarted, JobState, Reason, RunEnded, RunStarted
from slipway.base.paths import Workspace
from slipway.report.jobs_page import render_jobs_page, render_jobs_text
from slipway.report.jobs_report import collect_jobs, heaviest_chain

from ..recorded_build import KEY, START
from .conftest import EVENTS, OTHER, MakeRun, write_journal
from .test_page import Reader

if TYPE_CHECKING:
    from pathlib import Path

RUN: tuple[tuple[float, Event], ...] = (
    (0, RunStarted("ci run", 2, 4, 8_000_000_000)),
    (0, JobListed("libtoy-h0_0", "libtoy-1.0-h9_0")),  # the hash of the matrix, before its environments are known
    (0, JobListed("a", "a-1-0")),
    (0, JobListed("b", "b-1-0", ("libtoy-h0_0", "a"))),
    (0, JobListed("c", "c-1-0", ("a",))),
    (0, JobStarted("libtoy-h0_0", 3)),
    (0, JobStarted("a", 1)),
    (4, JobEnded("a", JobState.UP_TO_DATE, 700)),
    (4, JobStarted("c", 1)),
    (10, JobEnded("libtoy-h0_0", JobState.BUILT, 500)),
    (10, JobStarted("b", 4)),
    (11, JobEnded("c", JobState.FAILED)),
    (12, JobEnded("b", JobState.BUILT, 300)),
    (13, RunEnded(ok=False)),
)


@pytest.fixture
def run(workspace: Workspace, make_run: MakeRun) -> Workspace:
    """Four jobs, one of which left a report of its own."""
    jobs = Workspace(workspace.dist / "ci")
    write_journal(jobs, RUN)
    handed = {Decided(OTHER, Reason.UP_TO_DATE): Decided(OTHER, Reason.HANDED_ON)}
    # In dist, as `slipway ship` does it: moved to where the job has its folder.
    make_run(tuple((at, handed.get(event, event) if isinstance(event, Decided) else event) for at, event in EVENTS))
    own = jobs.dist / "libtoy-h0_0"
    own.mkdir(parents=True)
    for name in ("logs", "channel"):
        (workspace.dist / name).rename(own / name)
    (own / "report.html").write_text("<!doctype html>", encoding="utf-8")
    for job in ("libtoy-h0_0", "c"):
        (jobs.dist / "logs" / f"{job}.log").write_text("said\n", encoding="utf-8")
    return jobs


def test_jobs_and_what_their_own_reports_say(run: Workspace) -> None:
    report = collect_jobs(run)
    assert [(job.job, job.state, job.seconds, job.cores) for job in report.jobs] == [
        ("libtoy-h0_0", JobState.BUILT, 10, 3),
        ("a", "up to date", 4, 1),
        ("b", JobState.BUILT, 2, 4),
        ("c", "failed", 7, 1),
    ]
    assert [job.job for job in report.chain] == ["libtoy-h0_0", "b"]
    first = report.jobs[0]
    assert (first.page, first.log) == ("libtoy-h0_0/report.html", "logs/libtoy-h0_0.log")
    assert first.built is not None
    assert first.built.because == "src/<toy>.c"
    assert [(job.page, job.log) for job in report.jobs[1:]] == [(None, None), (None, None), (None, "logs/c.log")]
    assert [package.name for package in report.packages] == [f"{KEY}.conda"], "what was handed to it counts elsewhere"
    assert [found.rule for found in report.findings] == ["linking"]
    assert report.ok is False


def test_what_a_job_built_on_another_machine_is_counted_too(run: Workspace) -> None:
    """Its logs came here, with what the page there read of its package; the folder with the package did not."""
    sizes = collect_jobs(run).packages
    assert sum(package.installed for package in sizes) == 10_000
    shutil.rmtree(run.dist / "libtoy-h0_0/channel")
    assert collect_jobs(run).packages == sizes


def test_a_report_of_an_earlier_run_says_nothing_of_this_one(run: Workspace) -> None:
    write_journal(run, tuple((at + 100, event) for at, event in RUN), name="2")
    report = collect_jobs(run)
    assert report.jobs[0].page is None
    assert report.packages == report.findings == ()


@pytest.mark.parametrize("length", range(1, len(RUN)))
def test_a_run_that_was_killed_anywhere(run: Workspace, length: int) -> None:
    write_journal(run, RUN[:length], name="1")
    report = collect_jobs(run)
    assert report.ok is None
    ended = {event.job for _, event in RUN[:length] if isinstance(event, JobEnded)}
    started = {event.job for _, event in RUN[:length] if isinstance(event, JobStarted)}
    for job in report.jobs:
        assert (job.state == "cut off") == (job.job in started - ended)
        assert (job.state == "waiting") == (job.job not in started)
    assert "cut off" in " ".join(Reader(render_jobs_page(report)).text)
    assert render_jobs_text(report).startswith("slipway ci run: cut off in ")


def test_the_page_links_to_the_jobs_and_to_nothing_else(run: Workspace) -> None:
    page = Reader(render_jobs_page(collect_jobs(run)))
    links = [value for _, name, value in page.attributes if name in ("href", "src") and not value.startswith("#")]
    assert links == ["data:,", "libtoy-h0_0/report.html", "logs/libtoy-h0_0.log", "logs/c.log"]
    assert "libtoy-h0_0: built, 10.0 s with 3 cores, on the critical path" in page.tips
    assert "c: failed, 7.0 s with 1 core" in page.tips
    assert "b: built, 2.0 s; needs libtoy-h0_0, a" in page.tips
    words = " ".join(filter(None, page.text))
    assert "needs libother.so" in words
    assert "1 reused as they were, 1 failed" in words


def test_the_text_fits_the_terminal(run: Workspace) -> None:
    text = render_jobs_text(collect_jobs(run))
    assert re.search(r"^c +#{17} +failed$", text, re.MULTILINE)
    assert "What waits for what\n===================\ncritical path\n      10.0 s  libtoy-h0_0\n       2.0 s  b" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_heaviest_chain() -> None:
    needs: dict[str, tuple[str, ...]] = {"a": (), "b": (), "c": ("a", "b"), "d": ("c", "gone")}
    assert heaviest_chain(needs, {"a": 1, "b": 2, "c": 1, "d": 1}) == ["b", "c", "d"]
    assert heaviest_chain(needs, {"a": 1}) == ["a"]
    assert heaviest_chain(needs, {}) == []


def test_nothing_to_report(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run of CI's jobs"):
        collect_jobs(Workspace(tmp_path))


def test_events_of_a_ship_are_no_jobs(workspace: Workspace) -> None:
    write_journal(workspace, EVENTS)
    report = collect_jobs(workspace)
    assert report.jobs == ()
    assert report.started == START
    Reader(render_jobs_page(report))
