"""`Work`: a collective or a message on its way, and the thread that collectives run in meanwhile."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable

    from torch.futures import Future

__all__ = ["Work", "Worker"]


class Work:
    """What `async_op=True` gives: `wait()` for it before the tensors are used."""

    def __init__(self, run: Callable[[], Any], result: Any) -> None:
        self._run: Callable[[], Any] | None = run
        self._result, self._error = result, None  # type: ignore[var-annotated]
        self._source = -1
        self._ended = threading.Event()
        self._future: Future[Any] | None = None
        self._lock = threading.Lock()

    def _execute(self) -> None:
        """Does the work, in whatever thread this is, once."""
        with self._lock:
            run, self._run = self._run, None
        if run is None:
            return
        try:
            source = run()
            self._source = source if isinstance(source, int) else -1
        except BaseException as error:
            self._error = error
        with self._lock:
            self._ended.set()
            future = self._future
        if future is not None:
            self._settle(future)

    def _settle(self, future: Future[Any]) -> None:
        if self._error is not None:
            future.set_exception(self._error)
        else:
            future.set_result(self._result)

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        """Waits for the end, which is True. Raises what went wrong; RuntimeError after `timeout`, if one is given."""
        if not self._ended.wait(None if not timeout else timeout.total_seconds()):
            raise RuntimeError("Work ran into the timeout of wait()")
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        """The same as `wait`."""
        self.wait()

    def is_completed(self) -> bool:
        """Whether it has ended, well or not."""
        return self._ended.is_set()

    def is_success(self) -> bool:
        """Whether it has ended well."""
        return self._ended.is_set() and self._error is None

    def exception(self) -> BaseException | None:
        """What went wrong."""
        return self._error

    def result(self) -> Any:
        """The tensors with the results, after the end."""
        self.wait()
        return self._result

    def source_rank(self) -> int:
        """Who has sent what was received."""
        self.wait()
        return self._source

    def get_future(self) -> Future[Any]:
        """A future of the tensors with the results."""
        from torch.futures import Future

        with self._lock:
            if self._future is None:
                self._future = Future()
                settled = self._ended.is_set()
            else:
                settled = False
            future = self._future
        if settled:
            self._settle(future)
        return future


class Message(Work):
    """A message that gloo carries meanwhile: who waits for it does what is left to do."""

    def wait(self, timeout: datetime.timedelta | None = None) -> bool:
        self._execute()
        return super().wait(timeout)

    def is_completed(self) -> bool:
        """Whether it has ended; who asks has somebody wait for it."""
        if not self._ended.is_set() and self._run is not None:
            threading.Thread(target=self._execute, name="torch-message", daemon=True).start()
        return super().is_completed()

    def get_future(self) -> Future[Any]:
        self._execute()
        return super().get_future()


class Worker:
    """A thread that does one work after the other, as they come. It starts with the first."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def add(self, work: Work) -> None:
        """Has it done when all before it are."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="torch-collectives", daemon=True)
            self._thread.start()
        self._queue.put(work)

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work._execute()
            del work  # its tensors are the caller's

    def stop(self) -> None:
        """Ends the thread when all work that it has is done."""
        if self._thread is not None:
            self._queue.put(None)
            if threading.current_thread() is not self._thread:
                self._thread.join()
            self._thread = None
