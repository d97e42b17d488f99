"""Watches one build from outside: its phases as the log tells them, its processes' memory, and what Ninja left.

The engine calls it at four places; nothing in a recipe has to change.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.base.events import PhaseStarted
from slipway.observe.history import remember_steps
from slipway.observe.memory import MemorySampler
from slipway.observe.record import BuildRecord, Phase, read_ninja, record_path, write_record

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.base.events import Journal

NINJA_FOLDER = "ninja"
"""Below rattler-build's output folder: where build scripts leave Ninja's files, see `KEEP_NINJA_FILES`."""

KEEP_NINJA_FILES = f"""\
  # What Ninja did, for `slipway report`: the folder it lies in goes when the package is packed.
  (cd "$SRC_DIR" && mkdir -p "../../../{NINJA_FOLDER}" && find . -maxdepth 4 -name .ninja_log -size -8M |
    while read -r log; do
      cp -p --parents "$log" "${{log%/*}}/build.ninja" "../../../{NINJA_FOLDER}"
    done) || echo 'the files of Ninja could not be kept for the report'
"""

SCRIPT = "build.sh"
"""The engine's phase that runs the recipe's script; it is told apart further by what CMake and Ninja print."""

_SIGNS = (
    (re.compile(r"-- (The \w+ compiler identification|Configuring|Detecting|Check for working)"), "configure"),
    (re.compile(r"\[\d+/\d+\] \S*(Linking|LINK)"), "link"),
    (re.compile(r"\[\d+/\d+\] "), "compile"),
    (re.compile(r"-- Install(ing| configuration)"), "install files"),
)


@dataclass
class BuildObserver:
    """The eyes on one build; used by one thread, beside the sampler's."""

    key: str
    name: str
    jobs: int
    journal: Journal
    sampler: MemorySampler = field(default_factory=MemorySampler)
    phases: list[Phase] = field(default_factory=list)
    _current: str = ""
    _since: float = 0.0

    def started(self, process: int) -> None:
        """The engine's process runs, in a session of its own number."""
        self._enter("prepare")
        self.sampler.start(process)

    def line(self, text: str, phase: str) -> None:
        """One line of the log, in the engine's `phase`."""
        if phase == SCRIPT:
            found = next((name for sign, name in _SIGNS if sign.match(text)), None)
            if found == "link" and self._current == "compile":
                found = "compile"  # links run among compiles; only the file of Ninja's log tells them apart
            phase = found or (self._current if self._in_script else "script")
        if phase and phase != self._current:
            self._enter(phase)

    @property
    def _in_script(self) -> bool:
        return self._current in ("script", *(name for _, name in _SIGNS))

    def _enter(self, phase: str) -> None:
        now = time.time()
        self._leave(now)
        self._current, self._since = phase, now
        self.journal.add(PhaseStarted(self.key, phase))

    def _leave(self, now: float) -> None:
        if self._current:
            self.phases.append(Phase(self._current, round(self._since, 3), round(now, 3)))
        self._current = ""

    def finish(self, output_folder: Path, logs: Path) -> None:
        """The build ended, well or not: keep what is known."""
        self.sampler.stop()
        self._leave(time.time())
        steps, modules = read_ninja(output_folder / NINJA_FOLDER, self.sampler.peaks)
        record = BuildRecord(
            self.key, self.name, self.jobs, tuple(self.phases), steps, tuple(self.sampler.samples), modules
        )
        write_record(record_path(logs, self.key), record)
        remember_steps(logs, record)
