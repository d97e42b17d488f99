"""A run as a trace for Perfetto and Chrome's viewer: stages, phases and every compile in lanes, memory as a curve.

Each output that was built is a process of its own: its phases in the first thread, Ninja's steps in as many lanes as
ran at once. Of a run of many jobs, each machine is a process, and each lane a place where one job ran after the
other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from slipway.observe.record import BuildRecord
    from slipway.report.jobs_report import JobsReport
    from slipway.report.run_report import Report

RUN = 1
"""The process that stands for the run itself."""

Span = tuple[str, float, float, dict[str, Any]]
"""Name, start and end in seconds since 1970, and what is known beside."""


def trace_run(report: Report) -> dict[str, Any]:
    """One run, in Chrome's format of trace events."""
    events = [_name(RUN, f"slipway {report.command}")]
    stages = [(str(one.stage), one.start, one.end, {"ok": one.ok}) for one in report.stages]
    events += [_event(RUN, 1, span, report.started) for span in stages]
    built = [state.record for state in report.outputs if state.record is not None and state.current]
    for process, record in enumerate(built, RUN + 1):
        events += _trace_build(process, record, report.started)
    return _trace(events)


def trace_jobs(report: JobsReport) -> dict[str, Any]:
    """A run of many jobs, in the same format."""
    events = []
    for process, machine in enumerate(sorted({job.machine for job in report.jobs if job.start is not None}), RUN):
        spans = [
            (
                job.job,
                job.start,
                job.end if job.end is not None else report.ended,
                {"state": job.state, "cores": job.cores},
            )
            for job in report.jobs
            if job.start is not None and job.machine == machine
        ]
        events.append(_name(process, machine or f"slipway {report.command}"))
        events += _lanes(process, spans, report.started)
    return _trace(events)


def _trace_build(process: int, record: BuildRecord, origin: float) -> Iterator[dict[str, Any]]:
    yield _name(process, f"build {record.name}")
    for phase in record.phases:
        yield _event(process, 0, (str(phase.phase), phase.start, phase.end, {}), origin)
    spans = [
        (step.source, step.start, step.end, {"kind": step.kind, "critical": step.critical, "memory": step.memory})
        for step in record.steps
    ]
    yield from _lanes(process, spans, origin)
    for sample in record.samples:
        moment = {"name": "memory", "ph": "C", "pid": process, "ts": _microseconds(sample.time - origin)}
        yield {**moment, "args": {"bytes": sample.resident}}


def _lanes(process: int, spans: Iterable[Span], origin: float) -> Iterator[dict[str, Any]]:
    """What ran at once, in lanes: each span in the first one that is free."""
    free: list[float] = []
    for span in sorted(spans, key=lambda one: (one[1], one[2])):
        lane = next((number for number, until in enumerate(free) if until <= span[1]), len(free))
        free[lane : lane + 1] = [span[2]]
        yield _event(process, lane + 1, span, origin)


def _event(process: int, thread: int, span: Span, origin: float) -> dict[str, Any]:
    name, start, end, told = span
    times = {"ts": _microseconds(start - origin), "dur": _microseconds(max(0.0, end - start))}
    return {"name": name, "ph": "X", "pid": process, "tid": thread, **times, "args": told}


def _name(process: int, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}}


def _trace(events: list[dict[str, Any]]) -> dict[str, Any]:
    return {"displayTimeUnit": "ms", "traceEvents": events}


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)
