"""Every program is started here: with an explicit environment, in a session of its own, and ended with its children.

`run` is for work that takes its time: a kept log, lines as they come, an error worth reading. `capture` is for a short
question, whose answer it gives whole; `Processes` asks several at once, from threads, and can end all of them.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from slipway.base.errors import BuildError, HostError, SlipwayError
from slipway.base.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

TAIL_LINES = 40
"""How much of a failed program's output an error shows."""

GRACE_SECONDS = 5.0
"""What a program gets between SIGTERM and SIGKILL."""


WATCH_SECONDS = 1.0
"""How often somebody looks after a program that is watched."""


def own_python() -> list[str]:
    """The words that start the Python which runs slipway, with its own packages only and its bytecode at hand."""
    bytecode = [] if sys.pycache_prefix is None else ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    return [sys.executable, "-P", "-s", *bytecode]


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


def start(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    what: str,
    cwd: Path | None = None,
    source: int = subprocess.DEVNULL,
    output: IO[bytes] | int = subprocess.PIPE,
    errors: IO[bytes] | int = subprocess.STDOUT,
) -> subprocess.Popen[bytes]:
    """Start a program with exactly the environment `env`, in a session of its own; the caller ends it.

    Args:
        what: what the program does, for the error message.
        source: where its input comes from: nowhere, unless somebody says so.
        output: where its output goes, and `errors` its errors; all three as `subprocess.Popen` takes them.

    Raises:
        HostError: the program does not exist.
    """
    words = [str(word) for word in command]
    try:
        return subprocess.Popen(
            words,
            cwd=cwd,
            env=dict(env),
            stdin=source,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
    except FileNotFoundError as missing:
        if cwd is not None and not cwd.is_dir():
            raise
        raise HostError(f"`{words[0]}` is not installed", hint=f"it is needed for {what}") from missing


@dataclass(frozen=True)
class Answer:
    """What a program said: its exit status, its output, and its errors where they were asked for apart."""

    status: int
    output: bytes
    errors: bytes = b""

    @property
    def text(self) -> str:
        """The output as text."""
        return self.output.decode(errors="replace")

    @property
    def tail(self) -> str:
        """The last lines of everything it said, for an error's detail."""
        return "\n".join((self.output + self.errors).decode(errors="replace").strip().splitlines()[-15:])


def capture(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    what: str,
    cwd: Path | None = None,
    to: IO[bytes] | None = None,
    seconds: float | None = None,
) -> Answer:
    """Run a program to its end, see `start`; output and errors come apart, and the output goes `to` a file if given.

    Raises:
        subprocess.TimeoutExpired: it took longer than `seconds`, and was ended.
    """
    process = None
    try:
        with _interrupts_held():
            process = start(command, env=env, what=what, cwd=cwd, output=to or subprocess.PIPE, errors=subprocess.PIPE)
        output, errors = process.communicate(timeout=seconds)
    except BaseException:
        if process is not None:
            _stop(process)
        raise
    return Answer(process.returncode, output or b"", errors)


class Processes:
    """Runs programs from several threads at once, so that Ctrl-C in the main thread can end all of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        what: str,
        env: Mapping[str, str] = os.environ,
        watch: Callable[[], None] | None = None,
    ) -> Answer:
        """Run to the end; output and errors come in one stream.

        Args:
            watch: called every second while the program runs; what it raises ends the program.

        Raises:
            InterruptedError: `stop` was called before.
            HostError: the program does not exist.
        """
        with self._lock:
            if self._stopped:
                raise InterruptedError("stopped")
            process = start(command, env=env, what=what, cwd=cwd)
            self._running.add(process)
        try:
            output = _communicate(process, watch)
        finally:
            with self._lock:
                self._running.discard(process)
        return Answer(process.returncode, output)

    def stop(self) -> None:
        """End everything that runs, and start nothing more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                if process.poll() is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGTERM)


def _communicate(process: subprocess.Popen[bytes], watch: Callable[[], None] | None) -> bytes:
    while True:
        try:
            return process.communicate(timeout=None if watch is None else WATCH_SECONDS)[0]
        except subprocess.TimeoutExpired:
            try:
                assert watch is not None
                watch()
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise


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
    append: bool = False,
    on_line: Callable[[str], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    error: type[SlipwayError] = BuildError,
    check: bool = True,
) -> Completed:
    """Run `command` with exactly the environment `env`; stdout and stderr arrive in one stream.

    Args:
        what: what the program does, for the error message: ``building libtorch``.
        log: file that receives the command and all its output, without secrets; overwritten, unless it is to `append`.
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
    with (log or Path(os.devnull)).open("a" if append else "w", encoding="utf-8", errors="replace") as stream:
        stream.write(redact(f"$ {shlex.join(words)}\n"))
        stream.flush()
        process = None
        try:
            with _interrupts_held():
                process = start(words, env=env, what=what, cwd=cwd)
            assert process.stdout is not None
            with io.TextIOWrapper(process.stdout, encoding="utf-8", errors="replace") as lines:
                if on_start is not None:
                    on_start(process.pid)
                for raw in lines:
                    text = redact(raw.rstrip("\n"))
                    stream.write(f"{text}\n")
                    tail.append(text)
                    if on_line is not None:
                        on_line(text)
            returncode = process.wait()
        except BaseException:
            if process is not None:
                _stop(process)
            raise
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


def hand_over(command: Sequence[str | Path], *, env: Mapping[str, str]) -> int:
    """Run a program with this process's input and output, until it ends; Ctrl-C is its affair. Its exit status."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with subprocess.Popen([str(word) for word in command], env=dict(env), preexec_fn=_default_interrupt) as process:
            return process.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _default_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let Ctrl-C and its like wait until the block ends: a program that starts is nobody's before it is known.

    On a busy machine the program may run for long before `subprocess.Popen` returns; an interrupt in between would
    leave it running. Signals reach the main thread only, so in others there is nothing to hold.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    usual = {int(number): signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    ours = {number: handler for number, handler in usual.items() if callable(handler)}
    try:
        for number in ours:
            signal.signal(number, lambda number, _frame: held.append(number))
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
        for number in held:
            ours[number](number, None)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the program's whole group: politely, then for good, also where somebody is too impatient to wait."""
    try:
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(GRACE_SECONDS)
    finally:
        # A child that ignored SIGTERM may outlive its parent: nothing of the group survives.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
