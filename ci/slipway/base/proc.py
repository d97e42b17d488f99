"""One function runs every program: explicit environment, a kept log, lines as they come, and an error worth reading."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sysconfig
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import BuildError, HostError, SlipwayError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TAIL_LINES = 40
"""How much of a failed program's output an error shows."""

GRACE_SECONDS = 5.0
"""What a program gets between SIGTERM and SIGKILL."""


def own_program(name: str) -> Path:
    """A program that was installed with slipway, from its lock file.

    Raises:
        HostError: it is missing.
    """
    beside = Path(sysconfig.get_path("scripts")) / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise HostError(f"`{name}` is missing", hint=f"install the Python package `{name}` beside slipway")
    return Path(found)


@dataclass(frozen=True)
class Completed:
    """A program that ended: its exit status, its last lines, and how long it took."""

    returncode: int
    tail: tuple[str, ...]
    seconds: float


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    what: str,
    cwd: Path | None = None,
    log: Path | None = None,
    on_line: Callable[[str], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    error: type[SlipwayError] = BuildError,
    check: bool = True,
) -> Completed:
    """Run `command` with exactly the environment `env`; stdout and stderr arrive in one stream.

    Args:
        what: what the program does, for the error message: ``building libtorch``.
        log: file that receives the command and all its output; overwritten.
        on_line: called with each line, without its end.
        on_start: called once with the number of the process, which is that of its session too.
        error: type to raise on a non-zero exit status, when `check` is true.

    Raises:
        HostError: the program does not exist.
        KeyboardInterrupt: after the program and all its children were stopped.
    """
    words = [str(word) for word in command]
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    started = time.monotonic()
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
    with (log or Path(os.devnull)).open("w", encoding="utf-8", errors="replace") as stream:
        stream.write(f"$ {shlex.join(words)}\n")
        stream.flush()
        try:
            process = subprocess.Popen(
                words,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except FileNotFoundError as missing:
            raise HostError(f"`{words[0]}` is not installed", hint=f"it is needed for {what}") from missing
        assert process.stdout is not None
        try:
            if on_start is not None:
                on_start(process.pid)
            for raw in process.stdout:
                text = raw.rstrip("\n")
                stream.write(f"{text}\n")
                tail.append(text)
                if on_line is not None:
                    on_line(text)
            returncode = process.wait()
        except BaseException:
            _stop(process)
            raise
        finally:
            process.stdout.close()
    seconds = time.monotonic() - started
    if check and returncode != 0:
        ended = f"exit status {returncode}" if returncode > 0 else f"signal {-returncode}"
        raise error(
            f"{what} failed ({ended})",
            where=str(log) if log is not None else shlex.join(words),
            hint="the whole output is in that file" if log is not None else None,
            detail="\n".join(tail),
        )
    return Completed(returncode, tuple(tail), seconds)


def _stop(process: subprocess.Popen[str]) -> None:
    """End the program's whole group: politely, then for good."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    # A child that ignored SIGTERM may outlive its parent: nothing of the group survives.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
