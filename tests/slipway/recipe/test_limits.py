"""A function in a process of its own: its result, its errors, and what it may take."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import RecipeError, RecipeWarning, UsageError
from slipway.recipe.limits import LimitedProcess, OutOfTimeError, RenderLimits, call_limited

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).parents[3]

LIMITS = RenderLimits(seconds=1, megabytes=100)


def fill(megabytes: int) -> int:
    return len(bytes(megabytes * 1_000_000))


def spin(seconds: float) -> str:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    return "done"


def spin_for_ever_and_hear_nothing() -> None:
    while True:
        try:
            spin(1000)
        except OutOfTimeError:
            continue


def complain() -> None:
    raise UsageError("no", where="here", hint="do", detail="more")


def warn() -> int:
    warnings.warn(RecipeWarning("odd", where="meta.yaml:1", hint="look"), stacklevel=2)
    return os.getpid()


@pytest.fixture(params=["forked", "started"])
def process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[LimitedProcess]:
    """Both ways to come to such a process: which one is taken depends on the threads that run."""
    monkeypatch.setattr("slipway.recipe.limits._has_foreign_threads", lambda: request.param == "started")
    monkeypatch.syspath_prepend(CHECKOUT)  # so that a process that is started finds the functions of this file
    process = LimitedProcess()
    yield process
    process.close()


@pytest.fixture
def without_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipway.recipe.limits.HAS_LIMITS", False)


@pytest.mark.usefixtures("without_limits")
def test_functions_are_called_here_where_the_system_has_no_limits() -> None:
    assert call_limited(LIMITS, os.getpid) == os.getpid()


def test_results_errors_and_warnings_come_back(process: LimitedProcess) -> None:
    assert process.call(LIMITS, fill, 10) == 10_000_000
    with pytest.raises(UsageError) as caught:
        process.call(LIMITS, complain)
    assert (caught.value.message, caught.value.where, caught.value.hint, caught.value.detail) == (
        *("no", "here", "do", "more"),
    )
    with pytest.warns(RecipeWarning, match="meta.yaml:1: odd") as said:
        other = process.call(LIMITS, warn)
    assert str(said[0].message) == "meta.yaml:1: odd"
    assert other != os.getpid()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        process.call(LIMITS, divmod, 1, 0)


def test_each_call_has_its_own_time_and_memory(process: LimitedProcess) -> None:
    for _ in range(3):
        assert process.call(LIMITS, spin, 0.6) == "done"
        assert process.call(LIMITS, fill, 60) == 60_000_000
    with pytest.raises(RecipeError, match="needs more than 1 second of processor time"):
        process.call(LIMITS, spin, 100)
    with pytest.raises(RecipeError, match="needs more than 100 MB of memory"):
        process.call(LIMITS, fill, 200)
    assert process.call(LIMITS, fill, 1) == 1_000_000


def test_what_hears_nothing_is_killed_and_the_next_call_gets_another_process(process: LimitedProcess) -> None:
    with pytest.raises(RecipeError, match="needs more than 1 second of processor time"):
        process.call(LIMITS, spin_for_ever_and_hear_nothing)
    assert process.call(LIMITS, fill, 1) == 1_000_000


PROGRAM = """
import os, signal, sys
from slipway.recipe.limits import LimitedProcess, RenderLimits
number = LimitedProcess().call(RenderLimits(), os.getpid)
print(number, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["regular", "killed"])
def test_it_ends_with_the_process_that_started_it(end: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "ci")}
    command = [sys.executable, "-c", PROGRAM, end]
    number = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.strip()
    assert int(number)
    for _ in range(100):
        if not Path(f"/proc/{number}").exists():
            return
        time.sleep(0.05)
    pytest.fail("it is still there")


def test_the_wait_for_an_answer_is_used(process: LimitedProcess) -> None:
    done: list[int] = []
    process.meanwhile = lambda: done.append(1)
    assert process.call(LIMITS, spin, 0.01) == "done"
    assert done == [1]
