"""How much memory the processes of a build take, sampled from /proc while they run.

Ninja starts one shell or compiler per step. A step's memory is that of the process Ninja started and of everything
below it: the driver, the compiler proper, the assembler. A compiler cache compiles in a server of its own, in a session
of its own: what the server starts counts for the step that writes the same file.
"""

from __future__ import annotations

import os
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

INTERVAL_SECONDS = 0.2
"""Between two samples; a step that is shorter may have no figure."""

SAMPLE_SECONDS = 1.0
"""How coarse the kept curve of the whole build is."""

NINJA, SERVER = "ninja", "sccache"
OUTPUT_OPTION = re.compile(r"(?:^|\s)-o[\s=]?(\S+)")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Process:
    """One process: its parent, its session, its name, its resident bytes."""

    identifier: int
    parent: int
    session: int
    name: str
    resident: int


@dataclass(frozen=True)
class Sample:
    """The build at one moment: seconds since 1970, resident bytes of all its processes, steps that Ninja runs."""

    time: float
    resident: int
    steps: int


def read_process(folder: Path) -> Process | None:
    """The facts in one folder of /proc; None when the process is gone."""
    try:
        head, _, rest = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
    except OSError:
        return None
    words = rest.split()
    # Fields 4 (parent), 6 (session) and 24 (resident pages) of proc(5); the name may hold anything but ends at ")".
    return Process(int(folder.name), int(words[1]), int(words[3]), head.partition("(")[2], int(words[21]) * PAGE)


def processes_of(sessions: Container[int], root: Path = Path("/proc")) -> dict[int, Process]:
    """Every process of those sessions."""
    found = (read_process(folder) for folder in root.iterdir() if folder.name.isdigit())
    return {process.identifier: process for process in found if process is not None and process.session in sessions}


def step_roots(processes: Mapping[int, Process]) -> Iterator[tuple[Process, int]]:
    """What Ninja or sccache's server started, each with the resident bytes of itself and all below it."""
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)

    def total(process: Process) -> int:
        return process.resident + sum(total(child) for child in children.get(process.identifier, ()))

    for process in processes.values():
        parent = processes.get(process.parent)
        if parent is not None and parent.name in (NINJA, SERVER):
            yield process, total(process)


def output_of(identifier: int, root: Path = Path("/proc")) -> str | None:
    """The file that a step's command writes, by its ``-o``."""
    try:
        command = (root / str(identifier) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    found = OUTPUT_OPTION.findall(command)
    return found[-1] if found else None


class MemorySampler:
    """Samples the processes of some sessions in a thread of its own, until it is stopped."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.peaks: dict[str, int] = {}
        self._outputs: dict[int, str | None] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._sessions: set[int] = set()

    def start(self, session: int) -> None:
        """Begin, if that is to be done, with the processes of `session`."""
        self.watch(session)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True, name="memory-sampler")
            self._thread.start()

    def watch(self, session: int) -> None:
        """Sample the processes of `session`, too."""
        self._sessions = self._sessions | {session}

    def stop(self) -> None:
        """End; afterwards `samples` and `peaks` (file -> bytes) are complete."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_SECONDS):
            self.take(self._sessions, time.time())

    def take(self, sessions: Container[int], now: float, root: Path = Path("/proc")) -> None:
        """Take one sample."""
        processes = processes_of(sessions, root)
        steps = 0
        for process, resident in step_roots(processes):
            steps += processes[process.parent].name == NINJA
            if not self._outputs.get(process.identifier):
                # A process that was just forked still has Ninja's own command line: ask again next time.
                self._outputs[process.identifier] = output_of(process.identifier, root)
            output = self._outputs[process.identifier]
            if output is not None:
                self.peaks[output] = max(self.peaks.get(output, 0), resident)
        everything = sum(process.resident for process in processes.values())
        last = self.samples[-1] if self.samples else None
        if last is not None and now - last.time < SAMPLE_SECONDS:
            self.samples[-1] = Sample(last.time, max(last.resident, everything), max(last.steps, steps))
        else:
            self.samples.append(Sample(now, everything, steps))
