"""Calls of NCCL on their way: the communicator that they go through, work of its stream, futures of their results."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed._engine import UNIQUE_ID_BYTES, EngineError, check
from torch.distributed._errors import DistStoreError
from torch.distributed._work import Work
from torch.futures import Future

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch.distributed._store import Store


class Communicator:
    """Members that are connected with one another from a device of each, and the stream of their calls."""

    def __init__(
        self,
        library: Any,
        store: Store,
        key: str,
        members: Sequence[int],
        own: int,
        device: torch.device,
        seconds: float,
    ) -> None:
        self.library, self.device, self.process = library, device, os.getpid()
        self._ending = threading.Lock()
        self._meet(store, key, members, own, seconds)
        buffer = ctypes.create_string_buffer(UNIQUE_ID_BYTES)
        if own == members[0]:
            check(library, library.torch_distributed_nccl_unique_id(buffer))
            store.set(f"{key}/id", buffer.raw)
        else:
            buffer.raw = store.get(f"{key}/id")
        self.pointer: Any = ctypes.c_void_p()
        with torch.cuda.device(device):
            status = library.torch_distributed_nccl_connect(
                buffer, members.index(own), len(members), ctypes.byref(self.pointer)
            )
            check(library, status)
            self.stream = torch.cuda.Stream(device)

    def _meet(self, store: Store, key: str, members: Sequence[int], own: int, seconds: float) -> None:
        """Waits in the store until all are there: NCCL would wait for ever."""
        store.set(f"{key}/{own}", str(self.device))
        names = [f"{key}/{member}" for member in members]
        try:
            store.wait(names, timedelta(seconds=seconds))
        except DistStoreError:
            missing = [str(member) for member, name in zip(members, names, strict=True) if not store.check([name])]
            raise EngineError(f"rank {', '.join(missing)} did not connect within {seconds:g} seconds", True) from None

    def call(self, name: str, *arguments: Any) -> None:
        """Queues a call on the communicator's stream. EngineError."""
        function = getattr(self.library, f"torch_distributed_nccl_{name}")
        check(self.library, function(self.pointer, self.stream.cuda_stream, *arguments))

    def together(self, calls: Iterable[tuple[Any, ...]]) -> None:
        """Queues calls as one. EngineError."""
        check(self.library, self.library.torch_distributed_nccl_begin())
        try:
            for call in calls:
                self.call(*call)
        finally:
            status = self.library.torch_distributed_nccl_end()
        check(self.library, status)

    def error(self) -> EngineError | None:
        """What has gone wrong with calls that were queued."""
        with self._ending:
            try:
                if self.pointer is not None:
                    check(self.library, self.library.torch_distributed_nccl_state(self.pointer))
            except EngineError as error:
                return error
        return None

    def end(self, how: str) -> None:
        """`abort`, or `close` when all calls have ended; once."""
        with self._ending, torch.cuda.device(self.device):
            if self.pointer is not None and self.process == os.getpid():
                getattr(self.library, f"torch_distributed_nccl_{how}")(self.pointer)
            self.pointer = None


class Flight:
    """A call on its way on a device, without its tensors: who looks at it must never be the one who frees them."""

    def __init__(self, number: int, signature: str, peers: Sequence[int] | None, seconds: float) -> None:
        self.number, self.signature, self.peers, self.seconds = number, signature, peers, seconds
        self.began = time.monotonic()
        self.communicator: Communicator | None = None
        self.event: torch.cuda.Event | None = None
        self.error: BaseException | None = None
        self.lost: EngineError | None = None  # what the device says in place of whether it has done it

    def has_passed(self) -> bool:
        """Whether the device has done it. A device that does not say so any more has not: `lost` is why."""
        try:
            return self.event is not None and self.event.query()
        except RuntimeError as error:
            self.lost = EngineError(f"the device cannot be asked about it: {error}", timed_out=False)
            return False

    def failure(self) -> EngineError | None:
        """What is wrong with it, if it has not passed."""
        if self.has_passed():
            return None
        # What is still being called is asked for the time only: its communicator may not be there yet.
        found = self.lost or (None if self.communicator is None else self.communicator.error())
        if found is None and time.monotonic() > self.began + self.seconds:
            found = EngineError(f"timed out after {round(self.seconds * 1000)}ms", timed_out=True)
        return found


class DeviceWork(Work):
    """A call on its way on a device. `wait()` has the current stream wait for it, and, if `blocking`, the host, too.

    `watch(flight, kept)` has its group look after it, and keep what it needs until it has ended.
    """

    def __init__(
        self,
        flight: Flight,
        result: Any,
        kept: list[Any],
        source: int,
        *,
        watch: Callable[[Flight, list[Any]], None],
        blocking: bool,
    ) -> None:
        super().__init__(lambda: None, result)
        self._flight, self._kept, self._source = flight, kept, source
        self._watch, self._blocking = watch, blocking
        self._stream: torch.cuda.Stream | None = None  # the current one when it began

    def _reach(self, communicator: Communicator, run: Callable[[], None]) -> None:
        """Queues `run()` behind what the current stream has to do now."""
        self._stream = torch.cuda.current_stream(communicator.device)
        communicator.stream.wait_stream(self._stream)
        self._flight.communicator = communicator
        self._extend(run)

    def _extend(self, run: Callable[[], None]) -> None:
        """Queues `run()` behind what is queued already, as a part of this."""
        communicator = self._flight.communicator
        assert communicator is not None
        with torch.cuda.stream(communicator.stream):
            run()
            self._flight.event = communicator.stream.record_event()

    def then(self, finish: Callable[[], None]) -> Work:
        """Has `finish()` queued behind it, and waited for with it."""
        self._kept.append(finish)
        self._extend(finish)
        self._watch(self._flight, self._kept)
        return self

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Has the current stream wait for the end; True. Raises what went wrong.

        With a `timeout`, or TORCH_NCCL_BLOCKING_WAIT=1, the host waits, too: RuntimeError after the timeout.
        """
        if timeout or self._blocking:
            self._wait_here(timeout.total_seconds() if timeout else None)
        if (error := self.exception()) is not None:
            raise error
        communicator, event = self._flight.communicator, self._flight.event
        if communicator is not None and event is not None:
            current = torch.cuda.current_stream(communicator.device)
            current.wait_event(event)
            if current == self._stream:
                self._kept.clear()  # memory of the current stream, whose work comes after this from now on
        return True

    def _wait_here(self, seconds: float | None) -> None:
        end = None if seconds is None else time.monotonic() + seconds
        while not self.is_completed():
            if end is not None and time.monotonic() > end:
                raise RuntimeError("Work ran into the timeout of wait()")
            time.sleep(0.0002)

    def is_completed(self) -> bool:
        """Whether it has ended, well or not."""
        return self._flight.error is not None or self._flight.has_passed() or self._flight.lost is not None

    def is_success(self) -> bool:
        """Whether it has ended well."""
        return self._flight.error is None and self._flight.has_passed()

    def exception(self) -> BaseException | None:
        """What went wrong."""
        return self._flight.error or self._flight.lost

    def get_future(self) -> Future[Any]:
        """A future of the tensors with the results: whoever waits for it has the current stream wait."""
        if self._future is None:
            assert self._flight.communicator is not None
            self._future = DeviceFuture(self, self._flight.communicator.stream, self._result)
        return self._future


class DeviceFuture(Future[Any]):
    """A result that is there in the order of a stream's work. Callbacks run at once, and queue work on that stream."""

    def __init__(self, work: DeviceWork | None, stream: torch.cuda.Stream, result: Any) -> None:
        super().__init__()
        self._work, self._stream = work, stream
        self._event = stream.record_event()
        self.set_result(result)

    def wait(self) -> Any:
        if self._work is not None:
            self._work.wait()
        torch.cuda.current_stream(self._stream.device).wait_event(self._event)
        return self.value()

    def then(self, callback: Callable[[Future[Any]], Any]) -> Future[Any]:
        with torch.cuda.stream(self._stream):
            return DeviceFuture(self._work, self._stream, callback(self))
