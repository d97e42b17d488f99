"""Watches one build from outside: its phases as the log tells them, its processes' memory, and what Ninja left.

The engine calls it at four places; nothing in a recipe has to change.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.base.events import Phase, PhaseStarted
from slipway.observe.memory import MemorySampler
from slipway.observe.record import BuildRecord, TimedPhase, read_ninja, record_path, write_record

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.base.journal import Journal

NINJA_FOLDER = "ninja"
"""Below rattler-build's output folder: where build scripts leave Ninja's files, see `KEEP_NINJA_FILES`."""

KEEP_NINJA_FILES = f"""\
  # What Ninja did, for `slipway report`: the folder it lies in goes when the package is packed.
  (cd "$SRC_DIR" && mkdir -p "../../../{NINJA_FOLDER}" && find . -maxdepth 4 -name .ninja_log -size -8M |
    while read -r log; do
      cp -p --parents "$log" "${{log%/*}}/build.ninja" "../../../{NINJA_FOLDER}"
    done) || echo 'the files of Ninja could not be kept for the report'
"""

_SIGNS = (
    (re.compile(r"-- (The \w+ compiler identification|Configuring|Detecting|Check for working)"), Phase.CONFIGURE),
    (re.compile(r"\[\d+/\d+\] \S*(Linking|LINK)"), Phase.LINK),
    (re.compile(r"\[\d+/\d+\] "), Phase.COMPILE),
    (re.compile(r"-- Install(ing| configuration)"), Phase.INSTALL),
)

_SCRIPT_PARTS = (Phase.SCRIPT, *(part for _, part in _SIGNS))


@dataclass
class BuildObserver:
    """The eyes on one build; used by one thread, beside the sampler's."""

    key: str
    name: str
    jobs: int
    journal: Journal
    sampler: MemorySampler = field(default_factory=MemorySampler)
    phases: list[TimedPhase] = field(default_factory=list)
    _current: Phase | None = None
    _since: float = 0.0

    def started(self, process: int) -> None:
        """A process of the engine's runs, in a session of its own number."""
        self.sampler.start(process)

    def line(self, text: str, phase: Phase) -> None:
        """One line of the log, in the engine's `phase`; its script is divided further by what CMake and Ninja print."""
        if phase is Phase.SCRIPT:
            found = next((part for sign, part in _SIGNS if sign.match(text)), None)
            if found is Phase.LINK and self._current is Phase.COMPILE:
                found = Phase.COMPILE  # links run among compiles; only the file of Ninja's log tells them apart
            current = self._current if self._current in _SCRIPT_PARTS else Phase.SCRIPT
            phase = found or current or phase
        if phase is not self._current:
            self._enter(phase)

    def _enter(self, phase: Phase) -> None:
        now = time.time()
        self._leave(now)
        self._current, self._since = phase, now
        self.journal.add(PhaseStarted(self.key, phase))

    def _leave(self, now: float) -> None:
        if self._current is not None:
            self.phases.append(TimedPhase(self._current, round(self._since, 3), round(now, 3)))
        self._current = None

    def stop(self) -> None:
        """Look no longer, and keep nothing: no build ended."""
        self.sampler.stop()
        self._leave(time.time())

    def finish(self, output_folder: Path, logs: Path) -> None:
        """The build ended, well or not: keep what is known."""
        self.stop()
        steps, modules = read_ninja(output_folder / NINJA_FOLDER, self.sampler.peaks)
        record = BuildRecord(
            self.key, self.name, self.jobs, tuple(self.phases), steps, tuple(self.sampler.samples), modules
        )
        write_record(record_path(logs, self.key), record)
