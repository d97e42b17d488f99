"""The jobs of a recipe: in the order of their needs, as many at once as memory and cores of the machines allow.

Each job is a slipway of its own (``slipway ci job``) in a folder of its own, exactly as on a hosted runner; packages
are handed on through dist/ci/handed. `Run` decides which job starts when and where; its `Hosts` do it: this machine
(`slipway.workflows.here`), or others (`slipway.workflows.fleet`). What is finished is found finished again by its
digest, so a run that was killed goes on where it was. A file keeps how long each job took, so that the longest chain
starts first.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from slipway.base.events import JobEnded, JobListed, JobStarted, JobState
from slipway.base.files import write_file
from slipway.base.journal import Journal
from slipway.base.json_file import read_json
from slipway.base.text import human_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.workflows.graph import Job
    from slipway.workflows.settings import Settings

TAIL_LINES = 30
"""How much of a failed job's output is shown."""

MOST_LOSSES = 3
"""So many machines may go while they do a job; then it is taken for the cause, and failed."""


@dataclass(frozen=True)
class Result:
    """One job's end; `seconds` is its whole time, its environment's preparation included."""

    job: Job
    state: JobState
    seconds: float
    size: int = 0


@dataclass(frozen=True)
class Machine:
    """What may be used: GB of memory, cores, and jobs at once. This machine has no name."""

    memory_gb: float
    cores: int
    jobs: int
    name: str = ""


@dataclass(frozen=True)
class Share:
    """A job that is to start now, the cores it gets, and of which machine."""

    job: Job
    cores: int
    machine: Machine


@dataclass(frozen=True)
class Done:
    """How a job's own slipway ended: its exit code; whether its package was there already, and its size in bytes."""

    code: int
    reused: bool = False
    size: int = 0


class MachineLostError(Exception):
    """A machine went, or is of no more use, while it did a job; what the job is has nothing to do with it."""


class Hosts(Protocol):
    """Where jobs are done; entered before the first one and left after the last."""

    async def __aenter__(self) -> Hosts: ...
    async def __aexit__(self, *error: object) -> None: ...

    @property
    def machines(self) -> Sequence[Machine]:
        """Those that take jobs now."""

    def warmth(self, job: Job, machine: Machine) -> tuple[float, ...]:
        """How much of what the job needs is there already; the larger the better."""

    async def do(self, share: Share, on_line: Callable[[str], None]) -> Done:
        """Do one job, and put its package into the run's handed folder.

        Raises:
            MachineLostError: another machine has to do it.
        """

    async def change(self) -> None:
        """Come back when there are other machines than before.

        Raises:
            HostError: there are none, and there is no hope of any.
        """


@dataclass
class _Room:
    """What is left of a machine, and what is about to start there."""

    memory: float
    cores: int
    jobs: int
    busy: bool
    chosen: list[Job] = field(default_factory=list)

    def takes(self, memory: float, *, alone: bool) -> bool:
        """Whether one more job may start there, which needs so much, or has to be `alone`."""
        room = len(self.chosen) < min(self.jobs, max(self.cores, 0))
        return room and (not self.busy if alone else memory <= self.memory)

    def put(self, job: Job, memory: float) -> None:
        """Start it there."""
        self.chosen.append(job)
        self.memory -= memory
        self.busy = True


def choose_next(
    ready: Sequence[Job],
    running: Sequence[Share],
    machines: Sequence[Machine],
    settings: Settings,
    warmth: Callable[[Job, Machine], tuple[float, ...]] = lambda job, machine: (),
) -> list[Share]:
    """Which of the ready jobs start now, and where. `ready` is in order of urgency.

    A job starts if its memory fits beside what runs; one that is too large for every machine starts alone. An idle
    machine goes before a busy one, and of those the warmest. Cores are shared evenly among jobs that start together on
    a machine, at least one each.
    """
    rooms: dict[Machine, _Room] = {}
    for machine in machines:
        there = [share for share in running if share.machine == machine]
        used = sum(settings.resources_of(share.job.output.name).memory_gb for share in there)
        cores = machine.cores - sum(share.cores for share in there)
        rooms[machine] = _Room(machine.memory_gb - used, cores, machine.jobs - len(there), bool(there))
    largest = max((machine.memory_gb for machine in machines), default=0.0)
    for job in ready:
        needed = settings.resources_of(job.output.name).memory_gb
        fitting = [machine for machine, room in rooms.items() if room.takes(needed, alone=needed > largest)]
        if fitting:
            best = max(
                fitting,
                key=lambda machine: (
                    not rooms[machine].busy,
                    warmth(job, machine),
                    rooms[machine].cores - len(rooms[machine].chosen),
                ),
            )
            rooms[best].put(job, needed)
    shares = []
    for machine, room in rooms.items():
        free = room.cores
        for position, job in enumerate(room.chosen):
            most = settings.resources_of(job.output.name).cores
            cores = max(1, min(most, free // (len(room.chosen) - position)))
            free -= cores
            shares.append(Share(job, cores, machine))
    return shares


def urgency(jobs: Sequence[Job], known: Mapping[str, float], settings: Settings) -> dict[Job, float]:
    """Seconds from a job's start to the end of the longest chain that waits for it."""
    found: dict[Job, float] = {}
    for job in reversed(jobs):
        own = known.get(job.name, settings.resources_of(job.output.name).minutes * 60.0)
        found[job] = own + max((found[other] for other in jobs if job in other.direct), default=0.0)
    return found


class JobSeconds:
    """Seconds that each job's last build took, by name; a broken file counts as an empty one and is written anew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        known = read_json(path)
        items = known.items() if isinstance(known, dict) else ()
        self.seconds = {name: float(value) for name, value in items if isinstance(value, int | float)}

    def note(self, job: Job, seconds: float) -> None:
        """Keep it, in one step."""
        self.seconds[job.name] = round(seconds, 3)
        write_file(self.path, json.dumps(self.seconds, indent=1, sort_keys=True) + "\n")


@dataclass
class Run:
    """One walk over the jobs.

    Attributes:
        folder: dist/ci.
        events: what the run does is written down there, for its report.
    """

    jobs: Sequence[Job]
    folder: Path
    hosts: Hosts
    settings: Settings
    reporter: Reporter
    events: Journal = field(default_factory=Journal)
    results: dict[Job, Result] = field(default_factory=dict)
    losses: dict[Job, int] = field(default_factory=dict)

    def run(self) -> list[Result]:
        """Do them all; a job whose needs failed is left out, the others go on.

        Raises:
            KeyboardInterrupt: after all jobs were stopped.
            HostError: no machine is left.
        """
        (self.folder / "logs").mkdir(parents=True, exist_ok=True)
        for job in self.jobs:
            needs = tuple(other.identifier for other in job.direct)
            self.events.add(JobListed(job.identifier, job.output.key, needs))
        asyncio.run(self._walk())
        return [self.results[job] for job in self.jobs]

    async def _walk(self) -> None:
        known = JobSeconds(self.folder / "journal.json")
        urgent = urgency(self.jobs, known.seconds, self.settings)
        waiting = set(self.jobs)
        running: dict[asyncio.Task[Result | None], Share] = {}
        async with self.hosts:
            changed = asyncio.create_task(self.hosts.change())
            try:
                with self.reporter.task("jobs", total=len(self.jobs)) as progress:
                    while waiting or running:
                        for job in [job for job in waiting if self._is_hopeless(job)]:
                            waiting.remove(job)
                            self._finish(Result(job, JobState.LEFT_OUT, 0.0))
                            progress.advance(1)
                        ready = [job for job in waiting if all(other in self.results for other in job.needs)]
                        ready.sort(key=lambda job: (-urgent[job], self.jobs.index(job)))
                        there = list(running.values())
                        machines = self.hosts.machines
                        for share in choose_next(ready, there, machines, self.settings, self.hosts.warmth):
                            waiting.remove(share.job)
                            running[asyncio.create_task(self._do(share))] = share
                        progress.update(text=", ".join(share.job.identifier for share in running.values()))
                        if not (waiting or running):
                            break
                        done, _ = await asyncio.wait({changed, *running}, return_when=asyncio.FIRST_COMPLETED)
                        if changed in done:
                            changed.result()
                            changed = asyncio.create_task(self.hosts.change())
                        for task in [task for task in running if task in done]:
                            job = running.pop(task).job
                            result = task.result()
                            if result is None:
                                waiting.add(job)
                                continue
                            if result.state is JobState.BUILT:
                                known.note(job, result.seconds)
                            self._finish(result)
                            progress.advance(1)
            finally:
                for ending in (changed, *running):
                    ending.cancel()
                await asyncio.gather(changed, *running, return_exceptions=True)

    def _is_hopeless(self, job: Job) -> bool:
        ended = [self.results[other].state for other in job.needs if other in self.results]
        return any(state in (JobState.FAILED, JobState.LEFT_OUT) for state in ended)

    def _finish(self, result: Result) -> None:
        self.results[result.job] = result
        self.events.add(JobEnded(result.job.identifier, result.state, result.size))
        self.reporter.line(f"{result.job.identifier}: {result.state}, {human_seconds(result.seconds)}")

    async def _do(self, share: Share) -> Result | None:
        """Do a job, and keep what it prints; None if its machine was lost, and another one may try."""
        job = share.job
        started = time.monotonic()
        self.events.add(JobStarted(job.identifier, share.cores, share.machine.name))
        log = self.folder / "logs" / f"{job.identifier}.log"
        tail: list[str] = []
        with ExitStack() as stack:
            task = stack.enter_context(self.reporter.task(job.identifier))
            stream = stack.enter_context(log.open("w", encoding="utf-8"))

            def note(text: str) -> None:
                stream.write(f"{text}\n")
                tail[:] = [*tail[1 - TAIL_LINES :], text]
                task.update(text=text[:100])

            try:
                done = await self.hosts.do(share, note)
            except MachineLostError as lost:
                return self._lose(share, str(lost), time.monotonic() - started)
        seconds = time.monotonic() - started
        if done.code != 0:
            self.reporter.line("\n".join(tail))
            self.reporter.line(f"{job.identifier} failed with exit code {done.code}; its whole output: {log}")
            return Result(job, JobState.FAILED, seconds)
        return Result(job, JobState.UP_TO_DATE if done.reused else JobState.BUILT, seconds, done.size)

    def _lose(self, share: Share, reason: str, seconds: float) -> Result | None:
        self.losses[share.job] = self.losses.get(share.job, 0) + 1
        self.reporter.line(f"{share.job.identifier} has to start again: {reason}")
        if self.losses[share.job] < MOST_LOSSES:
            return None
        self.reporter.line(f"{share.job.identifier} failed: {MOST_LOSSES} machines were lost while they did it")
        return Result(share.job, JobState.FAILED, seconds)
