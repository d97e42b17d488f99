"""The report for the terminal: the same facts as the page, as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.console import format_table, human_seconds, human_size
from slipway.report.views import is_stage_of, outcome, sort_findings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slipway.report.collect import OutputState, Report
    from slipway.report.contents import PackageContents
    from slipway.report.record import BuildRecord

BAR = 40
"""Characters of the longest bar."""

SLOWEST = 10
LARGEST = 5


def render_text(report: Report) -> str:
    """Everything, in sections with a headline each."""
    steps = [state for state in report.outputs if state.record is not None and state.record.steps]
    sections = [
        f"slipway {report.command}: {outcome(report)} in {human_seconds(report.seconds)}, "
        f"{report.jobs} jobs on {report.processors} processors",
        _section(
            "outputs", [_outputs(report.outputs)] if report.outputs else ["the run ended before the first output"]
        ),
        _section("compiler cache", _compiled(report.outputs)),
        _section("timeline", _timeline(report)),
        *(_section(_headline(state), _steps(state.record)) for state in steps if state.record is not None),
        _section("package sizes", [line for package in report.packages for line in _package(package)]),
        _section("modules", _modules(report)),
        _section("findings", _findings(report)),
    ]
    return "\n\n".join(section for section in sections if section)


def _section(title: str, lines: Sequence[str]) -> str:
    return "\n".join((title, "=" * len(title), *lines)) if lines else ""


def _outputs(outputs: Sequence[OutputState]) -> str:
    rows = [
        (
            state.key,
            state.reason,
            "; ".join(state.causes),
            human_seconds(state.seconds),
            human_size(state.size) if state.size is not None else "none",
        )
        for state in outputs
    ]
    return format_table(("output", "decision", "because", "time", "package"), rows, right=(3, 4))


def _compiled(outputs: Sequence[OutputState]) -> list[str]:
    rows = [
        (
            state.name,
            str(state.compiled.hits),
            str(state.compiled.misses),
            str(state.compiled.errors),
            state.compiled.store,
        )
        for state in outputs
        if state.compiled is not None
    ]
    header = ("output", "from the store", "compiled", "store's errors", "store")
    return format_table(header, rows, right=(1, 2, 3)).split("\n") if rows else []


def _timeline(report: Report) -> list[str]:
    rows = []
    for stage in report.stages:
        mark = {True: "", False: "failed", None: "cut off"}[stage.ok]
        rows.append(("  " * stage.depth + stage.title, stage.start, stage.end, mark))
        state = next((state for state in report.outputs if is_stage_of(stage.title, state)), None)
        if state is not None and state.current and state.record is not None:
            rows += [("  " * (stage.depth + 1) + p.name, p.start, p.end, "") for p in state.record.phases]
    total = report.seconds or 1.0
    width = min(max((len(title) for title, *_ in rows), default=0), 48)
    lines = []
    for title, start, end, mark in rows:
        first = round((start - report.started) / total * BAR)
        length = max(1, round((end - start) / total * BAR))
        bar = (" " * min(first, BAR - 1) + "#" * length)[:BAR]
        lines.append(f"{title[:width]:<{width}}  {bar:<{BAR}}  {human_seconds(end - start):>12}  {mark}".rstrip())
    return lines


def _headline(state: OutputState) -> str:
    record = state.record
    assert record is not None
    return f"steps of {record.name}{'' if state.current else ' (from an earlier run)'}"


def _steps(record: BuildRecord) -> list[str]:
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
        f"{len(record.steps)} steps, {human_seconds(busy)} of compiling with {record.jobs} jobs, "
        f"{human_size(record.peak_memory)} of memory at most",
        f"critical path {human_seconds(record.critical_seconds)}: {path}",
        "",
        format_table((f"slowest {len(rows)}", "time", "memory", ""), rows, right=(1, 2)),
    ]


def _package(package: PackageContents) -> list[str]:
    lines = [f"{package.name}: {human_size(package.packed)}, {human_size(package.installed)} when installed"]
    for file in sorted(package.files, key=lambda file: -file.size)[:LARGEST]:
        lines.append(f"  {human_size(file.size):>9}  {file.path}")
    codes = package.device_code
    if codes:
        lines.append("  GPU code: " + ", ".join(f"{name} {human_size(size)}" for name, size in codes.items()))
    return lines


def _modules(report: Report) -> list[str]:
    rows = [
        (module.name, module.kind, output or "a dependency", ", ".join((*module.links, *module.waits)))
        for output, module in report.modules
    ]
    return format_table(("module", "kind", "in", "needs"), rows).split("\n") if rows else []


def _findings(report: Report) -> list[str]:
    rows = [
        (found.severity, found.rule, found.package, found.where, found.message)
        for found in sort_findings(report.findings)
    ]
    return format_table(("severity", "rule", "package", "where", "finding"), rows).split("\n") if rows else ["none"]
