"""Puts a report together from what runs left: journals, records of builds, packages. Reads only; knows no HTML."""

from __future__ import annotations

import functools
from collections import defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from slipway.base.errors import IntegrityError, UsageError
from slipway.base.events import (
    Compiled,
    Decided,
    Failed,
    Finding,
    Packaged,
    Reason,
    RunEnded,
    RunStarted,
    Stage,
    StageEnded,
    StageKey,
    StageStarted,
)
from slipway.base.journal import Entry, journal_paths, read_journal
from slipway.base.paths import RUNS
from slipway.observe.modules import Module, merge
from slipway.observe.record import BuildRecord, read_record, record_path
from slipway.report.contents import PackageContents, contents_of, kept_contents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.base.paths import Workspace

BRIEFLY = 2
"""Causes that stand where there is little room."""

UNNAMED = "between these"
"""What a profile says of the time that neither a stage nor a phase accounts for."""

_TITLES = {StageKey.PUBLISH: "publish", StageKey.INSTALL: "install"}
"""How a profile calls stages whose titles name more than what is done."""

BECAUSE = {
    Reason.NEW: "no package of this name and build was in the channel",
    Reason.CHANGED: "its sources, recipe or environments are others than those of the package in the channel",
    Reason.REBUILT: "nothing changed, but --rebuild asked for it",
    Reason.UP_TO_DATE: "made from the same sources, recipe and environments",
    Reason.HANDED_ON: "another job built it",
    Reason.DEPENDS: "what it links is built first",
}
"""What a decision means, where no cause says more."""


@dataclass(frozen=True)
class TimedStage:
    """A stage of the run: when it ran, in seconds since 1970; `depth` counts those around it; `ok`: None if cut off."""

    number: int
    depth: int
    stage: Stage
    start: float
    end: float
    ok: bool | None


@dataclass(frozen=True)
class OutputState:
    """What became of one output.

    Attributes:
        causes: what changed, where that is known.
        size: bytes of the package; None when there is none.
        record: its last build, if one is kept.
        current: whether that build was in this run.
        compiled: what the compiler cache did in it.
    """

    key: str
    reason: Reason
    causes: tuple[str, ...]
    seconds: float
    size: int | None
    record: BuildRecord | None
    current: bool
    compiled: Compiled | None = None

    @property
    def name(self) -> str:
        """The output's name, without version and build string."""
        return self.key.rsplit("-", 2)[0]

    @property
    def because(self) -> str:
        """Why it was built, or not, in words."""
        return "; ".join(self.causes) or BECAUSE[self.reason]

    @property
    def because_briefly(self) -> str:
        """The same where there is little room: the first causes, and how many more."""
        more = len(self.causes) - BRIEFLY
        return "; ".join((*self.causes[:BRIEFLY], f"and {more} more")) if more > 0 else self.because

    @property
    def built(self) -> bool:
        """Whether this run built it, or tried to."""
        return self.reason.builds

    @property
    def done(self) -> bool:
        """Whether there is a package that is right; else building or judging it failed, or was cut off."""
        return self.size is not None


@dataclass(frozen=True)
class Report:
    """Everything that a report shows, of one run.

    Attributes:
        ok: None when the run was killed; `failure` says why, when it is False.
        modules: pairs of output and module, see `slipway.observe.modules.merge`.
        damaged: packages that could not be read, with the reason.
    """

    command: str
    started: float
    ended: float
    ok: bool | None
    jobs: int
    processors: int
    memory: int
    stages: tuple[TimedStage, ...]
    outputs: tuple[OutputState, ...]
    packages: tuple[PackageContents, ...]
    modules: tuple[tuple[str, Module], ...]
    findings: tuple[Finding, ...]
    failure: Failed | None = None
    damaged: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """From the first event to the last."""
        return self.ended - self.started

    @property
    def profile(self) -> list[tuple[str, float]]:
        """What took the time, the most first: phases of all builds and stages of the run, each without those in it.

        The seconds add up to the whole run's. What no phase and no stage accounts for comes last.
        """
        seconds: defaultdict[str, float] = defaultdict(float)
        within = [stage for stage in self.stages if stage.stage.key not in (StageKey.OUTPUT, StageKey.TOP_LEVEL)]
        for index, stage in enumerate(within):
            inner = [one for one in within[index + 1 :] if one.start < stage.end]
            shallowest = min((one.depth for one in inner), default=0)
            inside = sum(one.end - one.start for one in inner if one.depth == shallowest)
            seconds[_TITLES.get(stage.stage.key) or str(stage.stage)] += stage.end - stage.start - inside
        for state in self.outputs:
            if state.current and state.record is not None:
                for phase in state.record.phases:
                    seconds[phase.phase] += phase.end - phase.start
        known = sorted(seconds.items(), key=lambda item: -item[1])
        return [*known, (UNNAMED, self.seconds - sum(seconds.values()))]

    @property
    def records(self) -> list[BuildRecord]:
        """The builds that are known, in the order of the outputs."""
        return [state.record for state in self.outputs if state.record is not None]


def collect(workspace: Workspace) -> Report:
    """The report of the last run in `workspace`.

    Raises:
        UsageError: nothing was ever run there.
    """
    paths = journal_paths(workspace.dist / RUNS)[::-1]
    last = next(filter(None, map(read_journal, paths)), None)
    if last is None:
        raise UsageError(
            "there is no run to report on",
            where=str(workspace.dist / RUNS),
            hint="`slipway ship` makes one; a folder other than dist/ is given with --dist",
        )
    started = next((entry for entry in last if isinstance(entry.event, RunStarted)), None)
    run = started.event if started is not None and isinstance(started.event, RunStarted) else RunStarted("?", 0, 0, 0)
    ended = next((entry.event.ok for entry in last if isinstance(entry.event, RunEnded)), None)
    logs = workspace.dist / "logs"
    outputs = _outputs(last, workspace)
    packages, damaged = [], []
    for event in (entry.event for entry in last):
        if isinstance(event, Packaged):
            places = (workspace.channel, workspace.proved)
            path = next((place / event.path for place in places if (place / event.path).is_file()), None)
            name = PurePosixPath(event.path).name
            try:
                contents = contents_of(path, event.sha256, logs) if path else kept_contents(name, event.sha256, logs)
            except IntegrityError as error:
                damaged.append(f"{name}: {error.message}")
                continue
            if contents is not None:
                packages.append(contents)
    return Report(
        command=run.command,
        started=last[0].time,
        ended=last[-1].time,
        ok=ended,
        jobs=run.jobs,
        processors=run.processors,
        memory=run.memory,
        stages=_stages(last),
        outputs=outputs,
        packages=tuple(packages),
        modules=tuple(merge([(state.record.name, state.record.modules) for state in outputs if state.record])),
        findings=_findings(paths, outputs),
        failure=next((entry.event for entry in last if isinstance(entry.event, Failed)), None),
        damaged=tuple(damaged),
    )


def _stages(entries: Sequence[Entry]) -> tuple[TimedStage, ...]:
    last = entries[-1].time
    ends = {
        entry.event.number: (entry.time, entry.event.ok) for entry in entries if isinstance(entry.event, StageEnded)
    }
    depths = {0: -1}
    stages = []
    for entry in entries:
        event = entry.event
        if isinstance(event, StageStarted):
            depths[event.number] = depths.get(event.parent, -1) + 1
            end, ok = ends.get(event.number, (last, None))
            stages.append(TimedStage(event.number, depths[event.number], event.stage, entry.time, end, ok))
    return tuple(stages)


def _outputs(entries: Sequence[Entry], workspace: Workspace) -> tuple[OutputState, ...]:
    compiled = {entry.event.output: entry.event for entry in entries if isinstance(entry.event, Compiled)}
    packaged = {entry.event.output: entry.event for entry in entries if isinstance(entry.event, Packaged)}
    states = []
    for entry in entries:
        decided = entry.event
        if not isinstance(decided, Decided):
            continue
        record = read_record(record_path(workspace.dist / "logs", decided.output))
        package = packaged.get(decided.output)
        # A second of tolerance: the journal and the record round their times.
        current = record is not None and bool(record.phases) and record.phases[0].start >= entries[0].time - 1
        seconds = package.seconds if package else record.seconds if record and current else 0.0
        size = package.size if package else None
        states.append(
            OutputState(
                decided.output,
                decided.reason,
                decided.causes,
                seconds,
                size,
                record,
                current,
                compiled.get(decided.output),
            )
        )
    return tuple(states)


def _findings(paths: Sequence[Path], outputs: Sequence[OutputState]) -> tuple[Finding, ...]:
    """For each output those of the run that judged it last: what is reused is not judged again.

    Args:
        paths: of the journals, the newest first; older ones than needed are not read.
    """
    read = functools.cache(functools.partial(read_journal, kinds=(Decided, Finding)))
    found: list[Finding] = []
    for state in outputs:
        for events in ([entry.event for entry in read(path)] for path in paths):
            if any(isinstance(one, Decided) and one.output == state.key and one.reason.builds for one in events):
                own = (one for one in events if isinstance(one, Finding))
                found += [one for one in own if one.package.removesuffix(".conda") == state.key]
                break
    return tuple(found)
