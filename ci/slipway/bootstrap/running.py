"""Runs programs from several threads at once, so that Ctrl-C in the main thread can end all of them.

`slipway.base.proc` runs one program for the thread that waits for it; here, downloads and finishing steps run side by
side.
"""

from __future__ import annotations

import os
import subprocess
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """A finished program: its exit status, and what it printed (both streams together)."""

    status: int
    output: str

    @property
    def tail(self) -> str:
        """The last lines, for an error's detail."""
        return "\n".join(self.output.strip().splitlines()[-15:])


class Processes:
    """Starts programs and can end all that still run, from another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Sequence[str], *, cwd: Path, environment: Mapping[str, str] | None = None) -> Outcome:
        """Run to the end. `environment` None means the user's own."""
        with self._lock:
            if self._stopped:
                raise InterruptedError("stopped")
            process = subprocess.Popen(
                list(command),
                cwd=cwd,
                env=None if environment is None else dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self._running.add(process)
        try:
            output, _ = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        return Outcome(process.returncode, output)

    def stop(self) -> None:
        """End everything that runs, and start nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                if process.poll() is None:
                    # The program's own children are in its session, so they end with it.
                    try:
                        os.killpg(process.pid, 15)
                    except ProcessLookupError:
                        continue
