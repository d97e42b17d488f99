"""Results that arrive later: `Future`, and waiting for several."""

from __future__ import annotations

from threading import Condition
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Future", "collect_all", "wait_all"]

Result = TypeVar("Result")


class Future(Generic[Result]):
    """A result that one thread sets once, and others wait for."""

    def __init__(self, *, devices: list[Any] | None = None) -> None:
        self._changed = Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[Result]], Any]] = []

    def done(self) -> bool:
        """Whether there is a result or an error."""
        return self._done

    def wait(self) -> Result:
        """The result, when it is there; raises the error if there is one instead."""
        with self._changed:
            self._changed.wait_for(lambda: self._done)
        return self.value()

    def value(self) -> Result:
        """The result, which must be there; raises the error if there is one instead."""
        if not self._done:
            raise RuntimeError("Future has no value yet: call wait()")
        if self._error is not None:
            raise self._error
        result: Result = self._result
        return result

    def set_result(self, result: Result) -> None:
        """Sets the result, once, and calls the callbacks. RuntimeError if it is there already."""
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Sets an error in place of the result."""
        if not isinstance(result, BaseException):
            raise TypeError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, result: Any, error: BaseException | None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError("Future can only be marked completed once")
            self._result, self._error, self._done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[Result]], None]) -> None:
        """Calls `callback(self)` when the result is there, at once if it is; its errors are printed only."""

        def guarded(future: Future[Result]) -> None:
            try:
                callback(future)
            except Exception:
                import traceback

                traceback.print_exc()

        self._call_when_done(guarded)

    def _call_when_done(self, callback: Callable[[Future[Result]], Any]) -> None:
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[Result]], Any]) -> Future[Any]:
        """A future of `callback(self)`, which is called when this one's result is there."""
        following: Future[Any] = Future()

        def run(future: Future[Result]) -> None:
            try:
                result = callback(future)
            except Exception as error:
                following.set_exception(error)
            else:
                following.set_result(result)

        self._call_when_done(run)
        return following


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list of all these, finished when each of them is."""
    collected: Future[list[Future[Any]]] = Future()
    left = len(futures)
    if not left:
        collected.set_result(futures)
    lock = Condition()

    def count(_: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            collected.set_result(futures)

    for future in futures:
        future._call_when_done(count)
    return collected


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The results of all; raises the first error of the list."""
    return [future.wait() for future in collect_all(futures).wait()]
