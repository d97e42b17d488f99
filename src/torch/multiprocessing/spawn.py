"""Processes that run one function, and end together when one of them fails."""

from __future__ import annotations

import multiprocessing
import signal
import time
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]


class ProcessException(Exception):
    """A process has failed: which one, and its pid."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process has raised an exception, whose traceback is in the message."""


class ProcessExitedException(ProcessException):
    """A process has ended by a signal, or with an exit code that is not 0."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _started(fn: Callable[..., None], index: int, args: tuple[Any, ...], errors: Any) -> None:
    import sys
    import traceback

    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent, which was interrupted as well, says so
    except BaseException:
        errors.put(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that `start_processes(join=False)` has started; `join()` waits for them."""

    def __init__(self, processes: list[Any], error_queues: list[Any]) -> None:
        self.processes, self.error_queues = processes, error_queues
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The processes' numbers."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Waits until one process has ended, or `timeout` seconds; whether all have.

        If one has failed the others are terminated (and killed `grace_period` seconds later, if they do not end), and
        ProcessRaisedException or ProcessExitedException, a ProcessException, is raised.
        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in wait(list(self.sentinels), timeout=timeout):
            index = self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._end(grace_period)
        process, errors = self.processes[failed], self.error_queues[failed]
        if not errors.empty():
            text = f"\n\n-- Process {failed} terminated with the following error:\n{errors.get()}"
            raise ProcessRaisedException(text, failed, process.pid)
        if process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            raise ProcessExitedException(
                f"process {failed} terminated with signal {name}", failed, process.pid, process.exitcode, name
            )
        raise ProcessExitedException(
            f"process {failed} terminated with exit code {process.exitcode}", failed, process.pid, process.exitcode
        )

    def _end(self, grace_period: float | None) -> None:
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + (30 if grace_period is None else grace_period)
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()


SpawnContext = ProcessContext


def start_processes(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
    **numa_options: Any,
) -> ProcessContext | None:
    """Runs `fn(i, *args)` in `nprocs` processes; waits for them, or gives their context if not `join`."""
    context: Any = multiprocessing.get_context(start_method)
    errors = [context.SimpleQueue() for _ in range(nprocs)]
    processes = [
        context.Process(target=_started, args=(fn, index, args, errors[index]), daemon=daemon)
        for index in range(nprocs)
    ]
    for process in processes:
        process.start()
    started = ProcessContext(processes, errors)
    if not join:
        return started
    try:
        while not started.join():
            pass
    finally:
        started._end(None)
    return None


def spawn(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Runs `fn(i, *args)` in `nprocs` new processes and waits for them; if not `join`, gives their context.

    If one fails the others are terminated, and a ProcessRaisedException carries its traceback.
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)
