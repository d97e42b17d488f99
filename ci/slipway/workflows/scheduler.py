"""The jobs of a recipe on this machine: in the order of their needs, as many at once as memory and cores allow.

Each job is a slipway of its own (``slipway ci job``) in a folder of its own, dist/ci/IDENTIFIER, exactly as on a hosted
runner; packages are handed on through dist/ci/handed. What is finished is found finished again by its digest, so a run
that was killed goes on where it was. A file keeps how long each job took, so that the longest chain starts first.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.base.events import JobEnded, JobListed, JobStarted, JobState
from slipway.base.files import write_file
from slipway.base.journal import Journal
from slipway.base.json_file import read_json
from slipway.base.proc import GRACE_SECONDS, own_python
from slipway.base.text import human_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.workflows.graph import Job
    from slipway.workflows.settings import Resources, Settings

PR_SET_PDEATHSIG = 1
"""From the kernel's prctl.h: a signal for when the parent dies, so that a killed run leaves no compilers behind."""

TAIL_LINES = 30
"""How much of a failed job's output is shown."""


@dataclass(frozen=True)
class Result:
    """One job's end; `seconds` is its whole time, its environment's preparation included."""

    job: Job
    state: JobState
    seconds: float
    size: int = 0


@dataclass(frozen=True)
class Machine:
    """What may be used: GB of memory, cores, and jobs at once."""

    memory_gb: float
    cores: int
    jobs: int


@dataclass(frozen=True)
class Share:
    """A job that is to start now, and the cores it gets."""

    job: Job
    cores: int


def choose_next(ready: Sequence[Job], running: Mapping[Job, int], machine: Machine, settings: Settings) -> list[Share]:
    """Which of the ready jobs start now. `ready` is in order of urgency; `running` has each job's cores.

    A job starts if its memory fits beside what runs; one that is too large for the machine starts alone. Cores are
    shared evenly among those that start together, at least one each.
    """
    memory = machine.memory_gb - sum(settings.resources_of(job.output.name).memory_gb for job in running)
    free = machine.cores - sum(running.values())
    room = machine.jobs - len(running)
    chosen: list[Job] = []
    for job in ready:
        needed = settings.resources_of(job.output.name).memory_gb
        alone = not running and not chosen
        if len(chosen) < min(room, max(free, 0)) and (needed <= memory or alone):
            chosen.append(job)
            memory -= needed
    shares = []
    for position, job in enumerate(chosen):
        most: Resources = settings.resources_of(job.output.name)
        cores = max(1, min(most.cores, free // (len(chosen) - position)))
        free -= cores
        shares.append(Share(job, cores))
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
class LocalRun:
    """One walk over the jobs.

    Attributes:
        folder: dist/ci.
        words: what follows ``slipway ci job IDENTIFIER``: the recipe and the options that all jobs share.
        events: what the run does is written down there, for its report.
    """

    jobs: Sequence[Job]
    folder: Path
    words: Sequence[str]
    machine: Machine
    settings: Settings
    reporter: Reporter
    events: Journal = field(default_factory=Journal)
    results: dict[Job, Result] = field(default_factory=dict)

    @property
    def handed(self) -> Path:
        """Where finished packages lie."""
        return self.folder / "handed"

    def run(self) -> list[Result]:
        """Do them all; a job whose needs failed is left out, the others go on.

        Raises:
            KeyboardInterrupt: after all jobs were stopped.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        for job in self.jobs:
            needs = tuple(other.identifier for other in job.direct)
            self.events.add(JobListed(job.identifier, job.output.key, needs))
        asyncio.run(self._walk())
        return [self.results[job] for job in self.jobs]

    async def _walk(self) -> None:
        known = JobSeconds(self.folder / "journal.json")
        urgent = urgency(self.jobs, known.seconds, self.settings)
        waiting = sorted(self.jobs, key=lambda job: -urgent[job])
        running: dict[asyncio.Task[Result], Job] = {}
        cores: dict[Job, int] = {}
        try:
            with self.reporter.task("jobs", total=len(self.jobs)) as progress:
                while waiting or running:
                    for job in [job for job in waiting if self._is_hopeless(job)]:
                        waiting.remove(job)
                        self._finish(Result(job, JobState.LEFT_OUT, 0.0))
                        progress.advance(1)
                    ready = [job for job in waiting if all(other in self.results for other in job.needs)]
                    for share in choose_next(ready, cores, self.machine, self.settings):
                        waiting.remove(share.job)
                        cores[share.job] = share.cores
                        running[asyncio.create_task(self._do(share))] = share.job
                    progress.update(text=", ".join(job.identifier for job in cores))
                    if not running:
                        continue
                    done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        job = running.pop(task)
                        del cores[job]
                        result = task.result()
                        if result.state is JobState.BUILT:
                            known.note(job, result.seconds)
                        self._finish(result)
                        progress.advance(1)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _is_hopeless(self, job: Job) -> bool:
        ended = [self.results[other].state for other in job.needs if other in self.results]
        return any(state in (JobState.FAILED, JobState.LEFT_OUT) for state in ended)

    def _finish(self, result: Result) -> None:
        self.results[result.job] = result
        self.events.add(JobEnded(result.job.identifier, result.state, result.size))
        self.reporter.line(f"{result.job.identifier}: {result.state}, {human_seconds(result.seconds)}")

    async def _do(self, share: Share) -> Result:
        job = share.job
        dist = self.folder / job.identifier
        answer = dist / "job.json"
        answer.unlink(missing_ok=True)
        started = time.monotonic()
        self.events.add(JobStarted(job.identifier, share.cores))
        command = [*own_python(), "-m", "slipway", "ci", "job", job.identifier, *self.words]
        command += ["--dist", str(dist), "--handed", str(self.handed), "--jobs", str(share.cores)]
        log = self.folder / "logs" / f"{job.identifier}.log"
        log.parent.mkdir(exist_ok=True)
        with ExitStack() as stack:
            task = stack.enter_context(self.reporter.task(job.identifier))
            code, tail = await _run(command, log, lambda line: task.update(text=line[:100]))
        seconds = time.monotonic() - started
        if code != 0:
            self.reporter.line("\n".join(tail))
            self.reporter.line(f"{job.identifier} failed with exit code {code}; its whole output: {log}")
            return Result(job, JobState.FAILED, seconds)
        facts = json.loads(answer.read_text(encoding="utf-8"))
        return Result(job, JobState.UP_TO_DATE if facts["reused"] else JobState.BUILT, seconds, int(facts["size"]))


async def _run(command: Sequence[str], log: Path, on_line: Callable[[str], None]) -> tuple[int, list[str]]:
    """Run one program, its output kept; it ends when this process ends, however that comes about."""
    prctl = ctypes.CDLL(None).prctl
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGTERM),
        limit=2**20,
    )
    assert process.stdout is not None
    tail: list[str] = []
    try:
        with log.open("w", encoding="utf-8") as stream:
            async for raw in process.stdout:
                text = raw.decode("utf-8", "replace").rstrip("\n")
                stream.write(f"{text}\n")
                tail = [*tail[1 - TAIL_LINES :], text]
                on_line(text)
        return await process.wait(), tail
    except BaseException:
        await _stop(process)
        raise


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End a job: politely, so that it stops its own compilers, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 2 * GRACE_SECONDS)
            return
