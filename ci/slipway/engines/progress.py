"""What a build's log tells while it grows: which phase, which of Ninja's steps, and a disk that is full."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING

from slipway.base.events import Phase
from slipway.engines.worker_lines import PHASE_MARK

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    from slipway.base.log import Reporter, Task
    from slipway.model import RenderedOutput
    from slipway.observe.build import BuildObserver

FULL_DISK_SIGNS = (
    *(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)),
    "No usable temporary directory found",
)
"""How shells, compilers, Python and rattler-build say that nothing more can be written."""

COULD_NOT_WRITE = "Could not open or create, or write to file"
"""What rattler-build says of a temporary file, whatever the reason."""

NINJA_COUNT = re.compile(r"^\[(\d+)/(\d+)\]\s+(.*)$")

PHASES = {
    "Fetching source code": Phase.FETCH,
    "Running build": Phase.SOLVE,
    "Running build script": Phase.SCRIPT,
    "Packaging new files": Phase.PACK,
    "Running script test": Phase.TEST,
}
"""What rattler-build calls its phases."""


class BuildProgress:
    """Follows the worker's lines: which phase, which of Ninja's steps."""

    def __init__(self, output: RenderedOutput, stack: ExitStack, reporter: Reporter, observer: BuildObserver) -> None:
        self.phase = Phase.PREPARE
        self.disk_is_full = False
        self.could_not_write = False
        self.observer = observer
        self.listeners: list[Callable[[str], None]] = []
        self._reporter = reporter
        self.task: Task = stack.enter_context(reporter.task(output.name))
        self.task.update(text="starting")

    def enter(self, phase: Phase) -> None:
        """Another phase begins."""
        self.phase = phase
        self.task.update(text=phase)
        self.observer.line("", phase)

    def on_line(self, line: str) -> None:
        """Take one line of the log."""
        self._reporter.detail(line)
        if line.startswith(PHASE_MARK):
            name = line.removeprefix(PHASE_MARK)
            if name in PHASES and self.phase is not Phase.TEST:
                self.enter(PHASES[name])
        if any(sign in line for sign in FULL_DISK_SIGNS):
            self.disk_is_full = True  # compilers say so long before the build ends
        self.could_not_write = self.could_not_write or COULD_NOT_WRITE in line
        self.observer.line(line, self.phase)
        for listener in self.listeners:
            listener(line)
        match = NINJA_COUNT.match(line)
        if match:
            done, total, text = match.groups()
            self.task.update(completed=int(done), total=int(total), text=text)
