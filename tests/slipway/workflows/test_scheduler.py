"""Which jobs start when, without starting any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.workflows.graph import Job
from slipway.workflows.scheduler import JobSeconds, Machine, Share, choose_next, urgency
from slipway.workflows.settings import Resources, load_settings

if TYPE_CHECKING:
    from pathlib import Path

MakeJobs = Callable[..., dict[str, Job]]
META = """\
package:
  name: top
  version: "1.0"
outputs:
  - name: a
    build: {string: "0"}
  - name: b
    build: {string: "0"}
  - name: c
    build: {string: "0"}
    requirements: {run: [a]}
"""
SETTINGS = replace(
    load_settings(),
    resources={
        "default": Resources(memory_gb=2, cores=64, minutes=1),
        "b": Resources(memory_gb=7, cores=1, minutes=10),
    },
)


@pytest.fixture
def jobs(jobs_of: MakeJobs) -> list[Job]:
    return list(jobs_of(META).values())


def chosen(ready: list[Job], running: dict[Job, int], *machines: Machine) -> dict[str, int]:
    """Cores by the name of the output; what runs, runs on the first machine."""
    there = [Share(job, cores, machines[0]) for job, cores in running.items()]
    return {share.job.output.name: share.cores for share in choose_next(ready, there, machines, SETTINGS)}


def placed(
    ready: list[Job],
    running: list[Share],
    machines: list[Machine],
    warmth: Callable[[Job, Machine], tuple[float, ...]] = lambda job, machine: (),
) -> dict[str, str]:
    """Name of the machine by the name of the output."""
    shares = choose_next(ready, running, machines, SETTINGS, warmth)
    return {share.job.output.name: share.machine.name for share in shares}


def test_as_many_as_memory_allows(jobs: list[Job]) -> None:
    assert chosen(jobs[:2], {}, Machine(8, 4, 9)) == {"a": 4}
    assert chosen(jobs[:2], {}, Machine(9, 4, 9)) == {"a": 2, "b": 1}


def test_a_job_too_large_for_the_machine_runs_alone(jobs: list[Job]) -> None:
    a, b, _ = jobs
    assert chosen([b], {}, Machine(1, 4, 9)) == {"b": 1}
    assert chosen([b], {a: 1}, Machine(1, 4, 9)) == {}


def test_never_more_jobs_than_cores_or_than_asked_for(jobs: list[Job]) -> None:
    assert len(chosen(jobs, {}, Machine(100, 2, 9))) == 2
    assert len(chosen(jobs, {}, Machine(100, 8, 1))) == 1
    assert chosen(jobs[1:], {jobs[0]: 4}, Machine(100, 4, 9)) == {}


def test_idle_machines_first_and_each_job_gets_all_of_one(jobs: list[Job]) -> None:
    one, two = Machine(8, 4, 9, "one"), Machine(8, 2, 9, "two")
    assert placed(jobs[:2], [], [one, two]) == {"a": "one", "b": "two"}
    assert chosen(jobs[:2], {}, one, two) == {"a": 4, "b": 1}
    assert placed(jobs[1:2], [Share(jobs[0], 4, one)], [one, two]) == {"b": "two"}
    assert placed(jobs, [], []) == {}


def test_a_job_goes_where_what_it_needs_is(jobs: list[Job]) -> None:
    one, two = Machine(8, 4, 9, "one"), Machine(8, 4, 9, "two")
    assert placed(jobs[:1], [], [one, two], lambda job, machine: (machine is two, 0)) == {"a": "two"}
    assert placed(jobs[:1], [], [one, two], lambda job, machine: (False, 10 if machine is one else 20)) == {"a": "two"}


def test_a_large_job_waits_for_the_machine_that_has_room(jobs: list[Job]) -> None:
    a, b, _ = jobs
    small, large = Machine(4, 4, 9, "small"), Machine(8, 4, 9, "large")
    assert placed([b], [Share(a, 1, large)], [small, large]) == {}
    assert placed([b], [], [small, large]) == {"b": "large"}


def test_the_longest_chain_is_urgent(jobs: list[Job]) -> None:
    a, b, c = jobs
    urgent = urgency(jobs, {}, SETTINGS)
    assert urgent == {a: 120, b: 600, c: 60}
    assert urgency(jobs, {b.name: 5.0, c.name: 90.0}, SETTINGS) == {a: 150, b: 5, c: 90}


def test_journal_survives_a_broken_file(tmp_path: Path, jobs: list[Job]) -> None:
    path = tmp_path / "journal.json"
    for text in ("{", "[1]", '{"a": "x"}', ""):
        path.write_text(text, encoding="utf-8")
        assert JobSeconds(path).seconds == {}
    JobSeconds(path).note(jobs[0], 2.5)
    assert JobSeconds(path).seconds == {jobs[0].name: 2.5}
    assert [entry.name for entry in tmp_path.iterdir()] == ["journal.json"]
