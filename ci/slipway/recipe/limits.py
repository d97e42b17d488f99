"""Calls a function in a process of its own, which may take so much processor time and memory and no more.

Jinja's sandbox keeps templates from what they may not reach, not from looping for a year or from filling the memory. No
list of forbidden tricks is complete, so what a recipe asks for is worked out where the kernel counts, and results come
back as data.

The process is forked at the first call, while this one has no threads but Python's: that takes a few milliseconds. It
stays for further calls, because by then rattler's threads may run, and a process that has those is never forked: one
that comes late is started anew, like any program. A call gets its time by a timer whose signal becomes an exception,
so that an error can name a line, and by RLIMIT_CPU where one instruction of Python takes all the time; its memory by
RLIMIT_AS. The kernel of macOS does not hold the last one. Windows has none of them, nor fork: there the function is
called as it is, and README says so.
"""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from slipway.base.errors import RecipeError, RecipeWarning, SlipwayError
from slipway.base.proc import own_python

try:
    import resource
except ModuleNotFoundError:
    HAS_LIMITS = False
else:
    HAS_LIMITS = True

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

GRACE_SECONDS = 2
"""What is left after the signal for an instruction of Python to end."""

_TASKS = Path("/proc/self/task")
_SIZES = Path("/proc/self/statm")


@dataclass(frozen=True)
class RenderLimits:
    """What one call may take: seconds of processor time, and MB of memory beyond what the process has."""

    seconds: int = 5
    megabytes: int = 1000

    def explain(self, error: OutOfTimeError | MemoryError) -> str:
        """Which of them was passed, for people."""
        if isinstance(error, MemoryError):
            return f"more than {self.megabytes} MB of memory"
        return f"more than {self.seconds} {'second' if self.seconds == 1 else 'seconds'} of processor time"


class OutOfTimeError(Exception):
    """The call has taken its processor time; raised wherever it is just then."""


@dataclass(frozen=True)
class _Returned:
    """What came of a call: its result, or an error for users, or a mistake of slipway's; and the warnings beside."""

    result: Any = None
    error: SlipwayError | None = None
    crash: str | None = None
    warnings: tuple[tuple[str, str, str, str | None], ...] = ()


class LimitedProcess:
    """The process in which limited calls run, one after the other; the first starts it, and it ends with this one.

    Attributes:
        meanwhile: called while a call is under way, before its answer is waited for.
    """

    def __init__(self) -> None:
        self._connection: Connection | None = None
        self._wait: Callable[[], int] = lambda: 0
        self.meanwhile: Callable[[], object] = lambda: None

    def call(self, limits: RenderLimits, function: Callable[..., T], *arguments: Any) -> T:
        """What ``function(*arguments)`` returns; all of it must be data that can be pickled.

        Raises:
            RecipeError: it took more than the limits allow.
            SlipwayError: what the function itself raises.
        """
        if self._connection is None:
            self._start()
        assert self._connection is not None
        try:
            self._connection.send((limits, function, arguments))
            self.meanwhile()
            answer: _Returned = self._connection.recv()
        except (EOFError, ConnectionError):
            self._connection.close()
            self._connection = None
            status = self._wait()
            if status >= 0:
                raise RuntimeError(f"the process with limits ended with status {status}") from None
            raise _killed(limits, -status) from None
        for message, where, hint, code in answer.warnings:
            warnings.warn(RecipeWarning(message, where=where, hint=hint, code=code), stacklevel=2)
        if answer.crash is not None:
            raise RuntimeError(answer.crash)
        if answer.error is not None:
            raise answer.error
        result: T = answer.result
        return result

    def close(self) -> None:
        """End the process, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._wait()

    def _start(self) -> None:
        here, there = Pipe()
        if _has_foreign_threads():
            program = f"from {__name__} import serve; serve({there.fileno()})"
            process = subprocess.Popen(
                [*own_python(), "-c", program],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},  # what is pickled here can be found there
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
            )
            self._wait = process.wait
        else:
            number = os.fork()
            if number == 0:
                try:
                    here.close()  # so that the parent's end is seen, however it dies
                    serve(there.fileno())
                finally:
                    os._exit(0)
            self._wait = lambda: os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])
        there.close()
        self._connection = here
        atexit.register(self.close)


def call_limited(limits: RenderLimits, function: Callable[..., T], *arguments: Any) -> T:
    """See `LimitedProcess.call`; there is one such process."""
    if not HAS_LIMITS:
        return function(*arguments)
    return _PROCESS.call(limits, function, *arguments)


def import_meanwhile(*modules: str) -> None:
    """Import these while the next limited call is under way: the command will need them, and nobody can do so before.

    Threads of theirs would keep this process from being forked for the call.
    """
    _PROCESS.meanwhile = lambda: [importlib.import_module(name) for name in modules]


_PROCESS = LimitedProcess()


def _has_foreign_threads() -> bool:
    """Whether threads run that are not Python's own, such as rattler's: those hold locks that a fork never releases."""
    return not _TASKS.is_dir() or sum(1 for _ in _TASKS.iterdir()) > threading.active_count()


def _killed(limits: RenderLimits, number: int) -> RecipeError:
    """What to say when a signal ended the process: RLIMIT_CPU's, or one that a lack of memory leads to."""
    passed: OutOfTimeError | MemoryError = OutOfTimeError() if number == signal.SIGXCPU else MemoryError()
    return RecipeError(f"rendering the recipe needs {limits.explain(passed)}", hint=WHOLE_HINT)


@contextmanager
def only_environment(shown: Mapping[str, str]) -> Iterator[None]:
    """Let what is called in this process see these environment variables, and no other ones."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(shown)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


HINT = "a recipe takes milliseconds: look for what repeats, or grows, without end"
WHOLE_HINT = f"{HINT}; or its matrix is large: give keys fewer values (--variants)"


def serve(descriptor: int) -> None:
    """Do what is asked through a socket, until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # who runs out of time leaves no image of its memory
    with Connection(descriptor) as connection, suppress(EOFError, ConnectionError):
        while True:
            limits, function, arguments = connection.recv()
            connection.send(_return(limits, function, arguments))


def _return(limits: RenderLimits, function: Callable[..., Any], arguments: tuple[Any, ...]) -> _Returned:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RecipeWarning)
        try:
            with _limited(limits):
                answer = _Returned(function(*arguments))
        except SlipwayError as error:
            answer = _Returned(error=error.with_traceback(None))
        except (OutOfTimeError, MemoryError) as error:
            answer = _Returned(
                error=RecipeError(f"rendering the recipe needs {limits.explain(error)}", hint=WHOLE_HINT)
            )
        except Exception:
            answer = _Returned(crash=traceback.format_exc())
    said = [one.message for one in caught if isinstance(one.message, RecipeWarning)]
    return _Returned(
        answer.result, answer.error, answer.crash, tuple((one.message, one.where, one.hint, one.code) for one in said)
    )


@contextmanager
def _limited(limits: RenderLimits) -> Iterator[None]:
    """Hold this process to the limits while the block runs."""

    def give_up(_signal: int, _frame: object) -> None:
        raise OutOfTimeError

    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(usage.ru_utime + usage.ru_stime)
    before = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS)}
    _set_soft_limit(resource.RLIMIT_CPU, spent + limits.seconds + GRACE_SECONDS)
    if _SIZES.is_file():
        size = int(_SIZES.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        _set_soft_limit(resource.RLIMIT_AS, size + limits.megabytes * 1_000_000)
    handler = signal.signal(signal.SIGPROF, give_up)
    # Once more each second, in case that something on the way takes the exception for its own.
    signal.setitimer(signal.ITIMER_PROF, limits.seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        for kind, values in before.items():
            resource.setrlimit(kind, values)


def _set_soft_limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
