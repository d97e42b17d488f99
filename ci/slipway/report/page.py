"""The report as one HTML file: numbers become places and words here, the look is in ``templates/``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.base.events import Phase
from slipway.base.files import write_file
from slipway.base.text import human_size
from slipway.report.drawings import module_drawing
from slipway.report.layout import lanes
from slipway.report.parts import (
    FAILURE,
    MODULES,
    RUN_PANELS,
    SIZES,
    STEPS,
    is_stage_of,
    make_axis,
    moment,
    outcome,
    short_seconds,
    templates,
)
from slipway.report.tiles import tile_packages
from slipway.verify.findings import sort_findings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.observe.record import BuildRecord
    from slipway.report.run_report import OutputState, Report

SLOWEST = 12
"""Steps that are listed before the rest is unfolded."""

PHASE_KINDS = {
    Phase.PREPARE: "solve",
    Phase.FETCH: "solve",
    Phase.SOLVE: "solve",
    Phase.TAKE: "solve",
    Phase.START: "solve",
    Phase.SCRIPT: "script",
    Phase.CONFIGURE: "configure",
    Phase.COMPILE: "compile",
    Phase.LINK: "compile",
    Phase.INSTALL: "install",
    Phase.PACK: "pack",
    Phase.TEST: "test",
}
"""The colour of each phase of a build; stages have their own, ``stage``."""

KINDS = {
    "solve": "solve and fetch",
    "script": "build script",
    "configure": "configure",
    "compile": "compile and link",
    "install": "install files",
    "pack": "pack",
    "test": "test",
    "stage": "slipway itself",
}


def render_page(report: Report) -> str:
    """The whole file as text; nothing in it refers to anything outside."""
    rows = _timeline(report)
    builds = [_compilation(state) for state in report.outputs if state.record is not None and state.record.steps]
    packages = tile_packages(report.packages)
    drawing = module_drawing(report.modules)
    empty = {FAILURE: report.failure is None, STEPS: not builds, SIZES: not packages, MODULES: drawing is None}
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            report=report,
            outcome=outcome(report.ok),
            when=moment(report.started),
            tiles=_figures(report),
            axis=make_axis(report.seconds),
            rows=rows,
            kinds={
                kind: name
                for kind, name in KINDS.items()
                if kind in {bar["kind"] for row in rows for bar in row["bars"]}
            },
            panels=[panel for panel in RUN_PANELS if not empty.get(panel)],
            builds=builds,
            packages=packages,
            drawing=drawing,
            findings=sort_findings(report.findings),
        )
    )


def write_page(report: Report, path: Path) -> None:
    """Write the page of one run, see `write_text`."""
    write_file(path, render_page(report))


def _figures(report: Report) -> list[tuple[str, str, str]]:
    """The row of large numbers: what it is, the number, what it means."""
    steps = [step for state in report.outputs if state.record and state.current for step in state.record.steps]
    built = [state for state in report.outputs if state.built]
    whole = sum(state.done for state in built)
    rest = f"{len(report.outputs) - len(built)} reused as they were"
    if len(built) > whole:
        rest += f", {len(built) - whole} {'failed' if report.ok is False else 'cut off'}"
    figures = [("total time", short_seconds(report.seconds), f"{report.jobs} jobs on {report.processors} processors")]
    figures.append(("packages", f"{whole} built", rest))
    if steps:
        busy = sum(step.seconds for step in steps)
        wall = sum(_ran(state.record) for state in built if state.record is not None and state.current)
        chain = sum(state.record.critical_seconds for state in built if state.record is not None and state.current)
        at_once = f"{busy / wall:.1f} at once on average" if wall else "one after the other"
        figures.append(("compiler time", short_seconds(busy), f"{len(steps)} steps, {at_once}"))
        figures.append(
            ("critical path", short_seconds(chain), f"{short_seconds(wall)} of compiling with {report.jobs} jobs")
        )
        peak = max((state.record.peak_memory for state in built if state.record is not None), default=0)
        figures.append(("peak memory", human_size(peak), f"of {human_size(report.memory)}"))
    compiled = [state.compiled for state in report.outputs if state.compiled is not None]
    if compiled:
        hits, all_of_them = sum(one.hits for one in compiled), sum(one.hits + one.misses for one in compiled)
        figures.append(("compiler cache", f"{hits} of {all_of_them}", "compiles taken from the store"))
    if report.packages:
        packed = sum(package.packed for package in report.packages)
        installed = sum(package.installed for package in report.packages)
        figures.append(("download", human_size(packed), f"{human_size(installed)} when installed"))
    return figures


def _ran(record: BuildRecord) -> float:
    """Seconds from the first step's start to the last one's end."""
    if not record.steps:
        return 0.0
    return max(step.end for step in record.steps) - min(step.start for step in record.steps)


def _timeline(report: Report) -> list[dict[str, Any]]:
    """One row per stage, each with its bar; the stage of an output that was built is divided into its phases."""
    total = report.seconds or 1.0
    rows = []
    for stage in report.stages:
        state = next((state for state in report.outputs if is_stage_of(stage, state)), None)
        title = str(stage.stage)
        bars = [_bar(report, total, title, "stage", stage.start, stage.end)]
        if state is not None and state.record is not None and state.current:
            bars += [
                _bar(report, total, phase.phase, PHASE_KINDS[phase.phase], phase.start, phase.end)
                for phase in state.record.phases
            ]
        rows.append(
            {
                "title": title,
                "label": f"[{stage.stage.position}/{stage.stage.count}] {state.name}" if state else title,
                "depth": stage.depth,
                "ok": stage.ok,
                "seconds": stage.end - stage.start,
                "bars": bars,
                "output": state is not None,
            }
        )
    return rows


def _bar(report: Report, total: float, title: str, kind: str, start: float, end: float) -> dict[str, Any]:
    start = min(max(start, report.started), report.ended)
    end = min(max(end, start), report.ended)
    return {
        "kind": kind,
        "left": (start - report.started) / total,
        "width": (end - start) / total,
        "tip": f"{title}: {short_seconds(end - start)}, from {short_seconds(start - report.started)}",
    }


def _compilation(state: OutputState) -> dict[str, Any]:
    """One output's steps of Ninja: lanes of bars, the memory below, and the list."""
    record = state.record
    assert record is not None
    start = min(step.start for step in record.steps)
    length = max(step.end for step in record.steps) - start or 1.0
    lane = lanes([(step.start, step.end) for step in record.steps])
    bars = [
        {
            "lane": lane[index],
            "left": (step.start - start) / length,
            "width": step.seconds / length,
            "critical": step.critical,
            "kind": step.kind,
            "source": step.source,
            "short": step.source.rpartition("/")[2],
            "seconds": step.seconds,
            "memory": step.memory,
        }
        for index, step in enumerate(record.steps)
    ]
    slowest = sorted(bars, key=lambda bar: -float(str(bar["seconds"])))
    inside = [sample for sample in record.samples if start <= sample.time <= start + length]
    peak = max((sample.resident for sample in inside), default=0)
    points = [((sample.time - start) / length, sample.resident / peak) for sample in inside if peak]
    return {
        "key": record.key,
        "name": record.name,
        "current": state.current,
        "seconds": length,
        "busy": sum(step.seconds for step in record.steps),
        "jobs": record.jobs,
        "lanes": max(lane) + 1,
        "bars": sorted(bars, key=lambda bar: (bar["left"], bar["lane"])),
        "slowest": slowest,
        "shown": SLOWEST,
        "longest": slowest[0]["seconds"],
        "chain": [step for step in record.steps if step.critical],
        "critical": record.critical_seconds,
        "axis": make_axis(length),
        "memory": _area(points),
        "peak": peak,
    }


def _area(points: Sequence[tuple[float, float]]) -> str:
    """An SVG path over a box of 1000 by 100: the curve, closed at the ground."""
    if len(points) < 2:
        return ""
    curve = " ".join(f"L{1000 * x:.1f},{100 - 96 * y:.1f}" for x, y in points)
    return f"M{1000 * points[0][0]:.1f},100 {curve} L{1000 * points[-1][0]:.1f},100 Z"
