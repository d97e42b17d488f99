"""The report of a run over many jobs as one HTML file, and as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.base.events import JobState
from slipway.base.text import human_seconds, human_size
from slipway.report.drawings import CHARACTER
from slipway.report.graph import draw
from slipway.report.parts import (
    FAILURE,
    FINDINGS,
    JOBS,
    JOBS_PANELS,
    ORDER,
    SIZES,
    TIMELINE,
    make_axis,
    moment,
    outcome,
    short_seconds,
    templates,
)
from slipway.report.tables import bar_line, fitted_table, join_sections, section
from slipway.report.text import failure_lines, finding_lines, package_lines
from slipway.report.tiles import tile_packages
from slipway.verify.findings import sort_findings

if TYPE_CHECKING:
    from slipway.report.jobs_report import JobRun, JobsReport

CHIPS = {
    JobState.BUILT: "built",
    JobState.UP_TO_DATE: "reused",
    JobState.FAILED: "failed",
    JobState.LEFT_OUT: "cut-off",
    JobState.WAITING: "",
    JobState.CUT_OFF: "cut-off",
}
"""The colour of a state."""


def render_jobs_page(report: JobsReport) -> str:
    """The whole file as text; it refers to nothing but the jobs' own pages and logs, beside it."""
    packages = tile_packages(report.packages)
    drawing = _draw(report)
    empty = {FAILURE: report.failure is None, ORDER: drawing is None, SIZES: not packages}
    return (
        templates()
        .get_template("jobs.html.j2")
        .render(
            report=report,
            outcome=outcome(report.ok),
            when=moment(report.started),
            tiles=_figures(report),
            chips=CHIPS,
            axis=make_axis(report.seconds),
            rows=[_row(report, job) for job in report.jobs],
            panels=[panel for panel in JOBS_PANELS if not empty.get(panel)],
            drawing=drawing,
            packages=packages,
            findings=sort_findings(report.findings),
        )
    )


def _figures(report: JobsReport) -> list[tuple[str, str, str]]:
    count = {state: sum(job.state == state for job in report.jobs) for state in {job.state for job in report.jobs}}
    others = [
        f"{number} {state}"
        for state, number in sorted(count.items())
        if state not in (JobState.BUILT, JobState.UP_TO_DATE)
    ]
    reused = f"{count.get(JobState.UP_TO_DATE, 0)} reused as they were"
    busy = sum(job.seconds for job in report.jobs)
    ran = [job for job in report.jobs if job.start is not None and job.end is not None]
    wall = max((job.end or 0.0 for job in ran), default=0.0) - min((job.start or 0.0 for job in ran), default=0.0)
    figures = [
        (
            "total time",
            short_seconds(report.seconds),
            f"at most {report.at_once} jobs on {report.processors} processors",
        ),
        ("jobs", f"{count.get(JobState.BUILT, 0)} built", ", ".join([reused, *others])),
        ("time of all jobs", short_seconds(busy), f"{busy / wall:.1f} at once on average" if wall else ""),
        (
            "critical path",
            short_seconds(sum(job.seconds for job in report.chain)),
            f"{len(report.chain)} jobs in a row",
        ),
    ]
    if report.packages:
        packed = sum(package.packed for package in report.packages)
        installed = sum(package.installed for package in report.packages)
        figures.append(("packages", human_size(packed), f"{human_size(installed)} when installed"))
    return figures


def _row(report: JobsReport, job: JobRun) -> dict[str, Any]:
    """The job's bar, its wait for what it needs in front: from 0 to 1 of the whole time."""
    total = report.seconds or 1.0
    row: dict[str, Any] = {"job": job, "bar": None}
    if job.start is not None and job.end is not None:
        cores = f"{job.cores} core{'s' if job.cores != 1 else ''}" + (f" of {job.machine}" if job.machine else "")
        critical = ", on the critical path" if job.critical else ""
        row["bar"] = {
            "left": (job.start - report.started) / total,
            "width": (job.end - job.start) / total,
            "tip": f"{job.job}: {job.state}, {short_seconds(job.seconds)} with {cores}{critical}",
        }
    return row


def _draw(report: JobsReport) -> dict[str, Any] | None:
    if not report.jobs:
        return None
    details = {
        job.job: f"{job.state}, {short_seconds(job.seconds)}" if job.seconds else job.state for job in report.jobs
    }
    widths = {name: max(96.0, 30 + CHARACTER * max(len(name), len(detail) * 0.86)) for name, detail in details.items()}
    # What is needed stands above what needs it: time runs downwards.
    users = {job.job: [other.job for other in report.jobs if job.job in other.needs] for job in report.jobs}
    drawing = draw(widths, users)
    nodes = [(job, drawing.nodes[job.job], details[job.job]) for job in report.jobs]
    critical = {(first.job, second.job) for first, second in zip(report.chain, report.chain[1:], strict=False)}
    return {
        "width": drawing.width,
        "height": drawing.height,
        "nodes": nodes,
        "links": drawing.links,
        "critical": critical,
    }


def render_jobs_text(report: JobsReport) -> str:
    """The same facts in sections with a headline each."""
    lines = {
        FAILURE: failure_lines(report.failure),
        JOBS: _job_lines(report),
        TIMELINE: _timeline(report),
        ORDER: ["critical path", *(f"{human_seconds(job.seconds):>12}  {job.job}" for job in report.chain)],
        SIZES: [line for package in report.packages for line in package_lines(package)],
        FINDINGS: finding_lines(report.findings),
    }
    headline = (
        f"slipway {report.command}: {outcome(report.ok)} in {human_seconds(report.seconds)}, "
        f"at most {report.at_once} jobs on {report.processors} processors"
    )
    return join_sections(headline, [section(panel.title, lines[panel]) for panel in JOBS_PANELS])


def _job_lines(report: JobsReport) -> list[str]:
    rows = [
        (
            job.job,
            job.state,
            human_seconds(job.seconds) if job.seconds else "",
            human_size(job.size) if job.size else "",
            job.because,
        )
        for job in report.jobs
    ]
    return fitted_table(("job", "state", "time", "package", "because"), rows, right=(2, 3))


def _timeline(report: JobsReport) -> list[str]:
    return [
        bar_line(job.job, job.start, job.end, report.started, report.seconds, "" if job.size else job.state)
        for job in report.jobs
        if job.start is not None and job.end is not None
    ]
