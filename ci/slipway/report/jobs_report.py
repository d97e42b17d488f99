"""The report of a run over many jobs (``slipway ci run``), from its journal and from the jobs' own reports.

Each job is a slipway of its own with a folder, a journal and a page of its own below the run's folder; what is told
there in full, this one adds up and links to. Reads only; knows no HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.events import (
    Failed,
    JobEnded,
    JobListed,
    JobStarted,
    JobState,
    Reason,
    RunEnded,
    RunStarted,
)
from slipway.base.journal import journal_paths, read_journal
from slipway.base.paths import PAGE, RUNS, Workspace
from slipway.report.run_report import collect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.base.events import Finding
    from slipway.base.journal import Entry
    from slipway.report.contents import PackageContents
    from slipway.report.run_report import OutputState, Report


@dataclass(frozen=True)
class JobRun:
    """One job of the run.

    Attributes:
        output: the key of the output that it builds, as the matrix has it; its package may end in another hash, since
            that counts what the job found in its environments.
        needs: the jobs that it waits for.
        start: seconds since 1970; None when it never started. `end` is the run's end for a job that was cut off.
        cores: those it was given, of the machine of that name (none: the run's own).
        size: bytes of its package, if there is one.
        critical: whether it is on the chain of jobs, each waiting for the one before, that took longest.
        built: what became of its output, by its own report of this run; `failure` is why it failed.
        page: its own report, and `log` all that it printed; relative to the run's folder, None when not there.
    """

    job: str
    output: str
    needs: tuple[str, ...]
    state: JobState
    start: float | None
    end: float | None
    cores: int
    machine: str
    size: int
    critical: bool
    built: OutputState | None
    failure: Failed | None
    page: str | None
    log: str | None

    @property
    def because(self) -> str:
        """Why it is in that state, in words."""
        if self.failure is not None and self.state is JobState.FAILED:
            return self.failure.message
        if self.built is not None:
            return self.built.because_briefly
        return {
            JobState.LEFT_OUT: "a job that it needs failed",
            JobState.WAITING: "the run ended before its turn",
        }.get(self.state, "")

    @property
    def seconds(self) -> float:
        """How long it ran; its environments' preparation included."""
        return self.end - self.start if self.start is not None and self.end is not None else 0.0


@dataclass(frozen=True)
class JobsReport:
    """Everything that the page of such a run shows. `ok`: None when it was killed; `failure` says why it failed."""

    command: str
    started: float
    ended: float
    ok: bool | None
    at_once: int
    processors: int
    memory: int
    jobs: tuple[JobRun, ...]
    packages: tuple[PackageContents, ...]
    findings: tuple[Finding, ...]
    failure: Failed | None = None
    damaged: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """From the first event to the last."""
        return self.ended - self.started

    @property
    def chain(self) -> list[JobRun]:
        """The jobs that decided how long it took at least, in their order."""
        return sorted((job for job in self.jobs if job.critical), key=lambda job: job.start or 0.0)


def collect_jobs(workspace: Workspace) -> JobsReport:
    """The report of the last run over jobs in `workspace` (dist/ci).

    Raises:
        UsageError: no such run was there.
    """
    journals = [entries for path in journal_paths(workspace.dist / RUNS) if (entries := read_journal(path))]
    if not journals:
        raise UsageError(
            "there is no run of CI's jobs to report on",
            where=str(workspace.dist / RUNS),
            hint="`slipway ci run` makes one; a folder other than dist/ is given with --dist",
        )
    last = journals[-1]
    run = next((entry.event for entry in last if isinstance(entry.event, RunStarted)), RunStarted("?", 0, 0, 0))
    listed = [entry.event for entry in last if isinstance(entry.event, JobListed)]
    reports = {event.job: _own_report(workspace, event.job, since=last[0].time) for event in listed}
    # A run that was killed has nothing to say of its end; the jobs' journals go on to theirs.
    end = max([last[-1].time, *(report.ended for report in reports.values() if report is not None)])
    jobs = _jobs(workspace, last, listed, reports, end)
    own = [(f"{job.built.key}.conda", report) for job in jobs if job.built and (report := reports[job.job]) is not None]
    return JobsReport(
        command=run.command,
        started=last[0].time,
        ended=end,
        ok=next((entry.event.ok for entry in last if isinstance(entry.event, RunEnded)), None),
        at_once=run.jobs,
        processors=run.processors,
        memory=run.memory,
        jobs=jobs,
        packages=tuple(package for name, report in own for package in report.packages if package.name == name),
        findings=tuple(found for _, report in own for found in report.findings),
        failure=next((entry.event for entry in last if isinstance(entry.event, Failed)), None),
        damaged=tuple(text for name, report in own for text in report.damaged if text.startswith(name)),
    )


def _own_report(workspace: Workspace, job: str, *, since: float) -> Report | None:
    try:
        report = collect(Workspace(workspace.dist / job))
    except UsageError:
        return None  # it never came so far as to write a journal
    # A second of tolerance: journals round their times.
    return report if report.started >= since - 1 else None


def _jobs(
    workspace: Workspace,
    entries: Sequence[Entry],
    listed: Sequence[JobListed],
    reports: Mapping[str, Report | None],
    until: float,
) -> tuple[JobRun, ...]:
    started: dict[str, tuple[float, JobStarted]] = {}
    ended: dict[str, tuple[float, JobEnded]] = {}
    for entry in entries:
        if isinstance(entry.event, JobStarted):
            started[entry.event.job] = entry.time, entry.event
        elif isinstance(entry.event, JobEnded):
            ended[entry.event.job] = entry.time, entry.event
    took = {job: (ended[job][0] if job in ended else until) - time for job, (time, _) in started.items()}
    chain = heaviest_chain({event.job: event.needs for event in listed}, took)
    runs = []
    for event in listed:
        begin, given = started.get(event.job, (None, JobStarted(event.job, 0)))
        end, outcome = ended.get(event.job, (None, None))
        report = reports[event.job]
        page, log = f"{event.job}/{PAGE}", f"logs/{event.job}.log"
        runs.append(
            JobRun(
                job=event.job,
                output=event.output,
                needs=event.needs,
                state=outcome.state if outcome else JobState.WAITING if begin is None else JobState.CUT_OFF,
                start=begin,
                end=None if begin is None else end if end is not None else until,
                cores=given.cores,
                machine=given.machine,
                size=outcome.size if outcome else 0,
                critical=event.job in chain,
                built=next((state for state in report.outputs if state.reason is not Reason.HANDED_ON), None)
                if report
                else None,
                failure=report.failure if report else None,
                page=page if report is not None and (workspace.dist / page).is_file() else None,
                log=log if begin is not None and (workspace.dist / log).is_file() else None,
            )
        )
    return tuple(runs)


def heaviest_chain(needs: Mapping[str, Sequence[str]], seconds: Mapping[str, float]) -> list[str]:
    """The jobs, each needing the one before, that take longest together; `needs` has each after those it needs."""
    total: dict[str, float] = {}
    before: dict[str, str | None] = {}
    for job, others in needs.items():
        best = max((other for other in others if other in total), key=lambda other: total[other], default=None)
        before[job] = best
        total[job] = seconds.get(job, 0.0) + (total[best] if best is not None else 0.0)
    current = max((job for job in total if total[job] > 0), key=lambda job: total[job], default=None)
    chain: list[str] = []
    while current is not None:
        chain.append(current)
        current = before[current]
    return chain[::-1]
