"""Every program runs the same way: explicit environment, kept log, helpful error, no survivors."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from slipway.base import proc
from slipway.base.errors import BuildError, HostError

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def test_environment_is_exactly_the_given_one() -> None:
    completed = proc.run(["env"], env={**ENVIRONMENT, "ONE": "1"}, what="listing")
    assert sorted(line for line in completed.tail if not line.startswith(("PWD", "SHLVL", "_="))) == [
        "ONE=1",
        "PATH=/usr/bin:/bin",
    ]


def test_log_holds_command_and_both_streams(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "a.log"
    lines: list[str] = []
    proc.run(["sh", "-c", "echo out; echo err >&2"], env=ENVIRONMENT, what="x", log=log, on_line=lines.append)
    assert log.read_text(encoding="utf-8") == "$ sh -c 'echo out; echo err >&2'\nout\nerr\n"
    assert lines == ["out", "err"]


def test_failure_shows_the_end_and_names_the_log(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    with pytest.raises(BuildError) as caught:
        proc.run(["sh", "-c", "seq 100; exit 3"], env=ENVIRONMENT, what="counting", log=log)
    error = caught.value
    assert error.message == "counting failed (exit status 3)"
    assert error.where == str(log)
    assert error.detail is not None
    assert error.detail.splitlines() == [str(number) for number in range(61, 101)]


def test_missing_program_is_the_machines_fault() -> None:
    with pytest.raises(HostError, match="`no-such-program` is not installed"):
        proc.run(["no-such-program"], env=ENVIRONMENT, what="nothing")


def test_interrupt_ends_the_whole_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proc, "GRACE_SECONDS", 0.5)
    pid_file = tmp_path / "pid"
    script = f"trap '' TERM; sleep 60 & echo $! > {pid_file}; wait; sleep 60"

    def interrupt_when_running() -> None:
        while not pid_file.exists() or not pid_file.read_text(encoding="ascii").strip():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt_when_running)
    thread.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        proc.run(["sh", "-c", script], env=ENVIRONMENT, what="sleeping")
    thread.join()
    assert time.monotonic() - started < 20
    assert is_gone(int(pid_file.read_text(encoding="ascii"))), "the child survived"


def is_gone(process: int) -> bool:
    """Whether a process is gone, or a zombie, within five seconds: the kernel takes its time to kill."""
    for _ in range(100):
        try:
            if Path(f"/proc/{process}/stat").read_text(encoding="ascii").split()[2] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("way", ["run", "capture"])
def test_an_interrupt_while_a_program_starts_ends_it(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, way: str
) -> None:
    """On a busy machine the program runs before `Popen` returns to whoever would end it."""
    started = []
    real = proc.start

    def start_slowly(*words: Any, **options: Any) -> Any:
        process = real(*words, **options)
        started.append(process.pid)
        os.kill(os.getpid(), number)
        time.sleep(0.01)  # the signal's handler would run here
        return process

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {one: signal.signal(one, interrupt) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    monkeypatch.setattr(proc, "start", start_slowly)
    try:
        with pytest.raises(KeyboardInterrupt):
            getattr(proc, way)(["sleep", "60"], env=ENVIRONMENT, what="sleeping")
        assert {signal.getsignal(one) for one in before} == {interrupt}
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert is_gone(started[0])


def test_a_second_interrupt_ends_what_ignores_the_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap '' TERM; sleep 60 & echo $! > {ready}.new; mv {ready}.new {ready}; wait; sleep 60"

    def interrupt_twice() -> None:
        while not ready.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt_twice)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        proc.run(["sh", "-c", script], env=ENVIRONMENT, what="sleeping")
    thread.join()
    assert is_gone(int(ready.read_text(encoding="ascii")))
