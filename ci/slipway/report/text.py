"""The report for the terminal: the same facts as the page, as plain text of 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from slipway.base.text import human_seconds, human_size
from slipway.report.parts import (
    FAILURE,
    FINDINGS,
    MODULES,
    OUTPUTS,
    PROFILE,
    RUN_PANELS,
    SIZES,
    STEPS,
    TIMELINE,
    is_stage_of,
    outcome,
    short_seconds,
)
from slipway.report.tables import WIDTH, bar_line, fitted_table, join_sections, paragraph, section
from slipway.verify.findings import sort_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.base.events import Failed, Finding
    from slipway.report.contents import PackageContents
    from slipway.report.run_report import OutputState, Report

SLOWEST = 10
LARGEST = 5
LOG_LINES = 12
"""Of the end of a failed build's log."""


def render_text(report: Report) -> str:
    """Everything, in sections with a headline each."""
    lines = {
        FAILURE: failure_lines(report.failure),
        OUTPUTS: _outputs(report.outputs) if report.outputs else ["the run ended before the first output"],
        TIMELINE: _timeline(report),
        PROFILE: _profile(report),
        STEPS: [line for state in report.outputs for line in _steps(state)],
        SIZES: [line for package in report.packages for line in package_lines(package)],
        MODULES: _modules(report),
        FINDINGS: finding_lines(report.findings),
    }
    headline = (
        f"slipway {report.command}: {outcome(report.ok)} in {human_seconds(report.seconds)}, "
        f"{report.jobs} jobs on {report.processors} processors"
    )
    return join_sections(headline, [section(panel.title, lines[panel]) for panel in RUN_PANELS])


def _outputs(outputs: Sequence[OutputState]) -> list[str]:
    rows = [
        (
            " ".join(state.key.rsplit("-", 2)),  # breaks at a word where it must
            state.reason,
            state.because_briefly,
            human_seconds(state.seconds),
            human_size(state.size) if state.size is not None else "none",
        )
        for state in outputs
    ]
    compiled = [f"{state.name}: {state.compiled.sentence}" for state in outputs if state.compiled is not None]
    table = fitted_table(("output", "decision", "because", "time", "package"), rows, right=(3, 4))
    return [*table, "", *compiled] if compiled else table


def _profile(report: Report) -> list[str]:
    rows = [
        (title, short_seconds(seconds), f"{seconds / report.seconds:.0%}" if report.seconds else "")
        for title, seconds in report.profile
    ]
    return fitted_table(("what", "time", "share"), rows, right=(1, 2))


def _timeline(report: Report) -> list[str]:
    lines = []
    for stage in report.stages:
        mark = {True: "", False: "failed", None: "cut off"}[stage.ok]
        indent = "  " * stage.depth
        lines.append(bar_line(f"{indent}{stage.stage}", stage.start, stage.end, report.started, report.seconds, mark))
        state = next((state for state in report.outputs if is_stage_of(stage, state)), None)
        if state is not None and state.current and state.record is not None:
            lines += [
                bar_line(f"{indent}  {phase.phase}", phase.start, phase.end, report.started, report.seconds)
                for phase in state.record.phases
            ]
    return lines


def _steps(state: OutputState) -> list[str]:
    record = state.record
    if record is None or not record.steps:
        return []
    busy = sum(step.seconds for step in record.steps)
    chain = [step for step in record.steps if step.critical]
    slowest = sorted(record.steps, key=lambda step: -step.seconds)[:SLOWEST]
    rows = [
        (
            step.source,
            human_seconds(step.seconds),
            human_size(step.memory) if step.memory is not None else "too short",
            "critical" if step.critical else "",
        )
        for step in slowest
    ]
    path = " > ".join(f"{step.source.rpartition('/')[2]} {human_seconds(step.seconds)}" for step in chain)
    return [
        f"{record.name}{'' if state.current else ' (from an earlier run)'}",
        *paragraph(
            f"{len(record.steps)} steps, {human_seconds(busy)} of compiling with {record.jobs} jobs, "
            f"{human_size(record.peak_memory)} of memory at most"
        ),
        *paragraph(f"critical path {human_seconds(record.critical_seconds)}: {path}", "  "),
        "",
        *fitted_table((f"slowest {len(rows)}", "time", "memory", ""), rows, right=(1, 2)),
        "",
    ]


def package_lines(package: PackageContents) -> list[str]:
    """One package: its size, its largest files, its GPU code by architecture."""
    lines = paragraph(f"{package.name}: {human_size(package.packed)}, {human_size(package.installed)} installed", "  ")
    for file in sorted(package.files, key=lambda file: -file.size)[:LARGEST]:
        lines += paragraph(f"  {human_size(file.size):>9}  {file.path}", " " * 13)
    codes = package.device_code
    if codes:
        lines += paragraph(
            "  GPU code: " + ", ".join(f"{name} {human_size(size)}" for name, size in codes.items()), "  "
        )
    return lines


def _modules(report: Report) -> list[str]:
    rows = [
        (module.name, module.kind, output or "a dependency", ", ".join((*module.links, *module.waits)))
        for output, module in report.modules
    ]
    return fitted_table(("module", "kind", "in", "needs"), rows) if rows else []


def failure_lines(failure: Failed | None) -> list[str]:
    """Why the run failed: the end of the log, what it means, where, what to do next."""
    if failure is None:
        return []
    log = [part for line in failure.detail.splitlines()[-LOG_LINES:] for part in textwrap.wrap(line, WIDTH)]
    named = (("", failure.message), ("at: ", failure.where), ("hint: ", failure.hint))
    said = [line for name, text in named if text for line in paragraph(f"{name}{text}", "  ")]
    return [*log, "", *said] if log else said


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """The findings as a table, the gravest first."""
    rows = [
        (found.severity, found.rule, found.package, found.where, found.message) for found in sort_findings(findings)
    ]
    return fitted_table(("severity", "rule", "package", "where", "finding"), rows) if rows else ["none"]
