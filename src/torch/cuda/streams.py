"""Streams and events: queues of work on a device, and points in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.cuda._device import device_index

if TYPE_CHECKING:
    from types import TracebackType

    from torch.cuda._device import Device


class Stream:
    """A queue of work on a CUDA device. Work of one stream runs in order, that of several side by side.

    Args:
        device: where; None is the current device.
        priority: 0, or a negative number for work that goes before others'.

    Raises:
        RuntimeError: CUDA cannot be used.
    """

    def __init__(self, device: Device = None, priority: int = 0, **_: Any) -> None:
        index = device_index(device)
        self._take(_C._cuda_new_stream(index, priority), index, priority)

    def _take(self, handle: int, index: int, priority: int = 0) -> None:
        self.cuda_stream = handle
        self.device = torch.device("cuda", index)
        self.device_index = index
        self.priority = priority

    @classmethod
    def _of(cls, handle: int, index: int) -> Stream:
        """The stream that a handle stands for."""
        stream = cls.__new__(cls)
        stream._take(handle, index)
        return stream

    @property
    def stream_id(self) -> int:
        """A number that tells streams of a device apart."""
        return self.cuda_stream

    @staticmethod
    def priority_range() -> tuple[int, int]:
        """The least and the most urgent priority."""
        return (0, -1)

    def wait_event(self, event: Event) -> None:
        """Lets all work that is queued from now on wait for `event`."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Lets all work that is queued from now on wait for what is queued on `stream` now."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Marks this point of the stream with `event`, or with a new one, and gives it back."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """Whether all work is done."""
        return _C._cuda_query_stream(self.cuda_stream, self.device_index)

    def synchronize(self) -> None:
        """Waits until all work is done."""
        _C._cuda_synchronize_stream(self.cuda_stream, self.device_index)

    def __enter__(self) -> Stream:
        self._context = StreamContext(self)
        self._context.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._context.__exit__(*exception)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.cuda_stream, self.device) == (other.cuda_stream, other.device)

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device_index))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class ExternalStream(Stream):
    """A stream that another library made.

    Args:
        stream_ptr: its handle, a `cudaStream_t` as an int. Its owner keeps it alive.
        device: where it is; None is the current device.
    """

    def __init__(self, stream_ptr: int, device: Device = None, **_: Any) -> None:
        self._take(stream_ptr, device_index(device))


class Event:
    """A point in a stream's work, for waiting and for measuring time.

    Args:
        enable_timing: whether `elapsed_time` may be asked.
        blocking, interprocess, external: accepted; an event of another process cannot be had.
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        if interprocess:
            raise NotImplementedError("torch.cuda.Event: events of several processes are not implemented")
        self._timing = enable_timing
        self._event: object = None
        self.device: torch.device | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Marks the present end of `stream` (the current one of the current device)."""
        stream = current_stream() if stream is None else stream
        if self._event is None:
            self._event = _C._cuda_new_event(stream.device_index, self._timing)
            self.device = stream.device
        _C._cuda_record_event(self._event, stream.cuda_stream, stream.device_index)

    def wait(self, stream: Stream | None = None) -> None:
        """Lets work that is queued on `stream` (the current one) from now on wait for this point."""
        if self._event is None:
            return  # never recorded: there is nothing to wait for
        stream = current_stream() if stream is None else stream
        _C._cuda_wait_event(self._event, stream.cuda_stream, stream.device_index)

    def query(self) -> bool:
        """Whether all work before this point is done."""
        return self._event is None or _C._cuda_query_event(self._event)

    def synchronize(self) -> None:
        """Waits until all work before this point is done."""
        if self._event is not None:
            _C._cuda_synchronize_event(self._event)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to `end_event`.

        Raises:
            ValueError: one of them was made without `enable_timing`, or was never recorded.
        """
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._event is None or end_event._event is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return _C._cuda_elapsed_time(self._event, end_event._event)

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {'uninitialized' if self._event is None else hex(id(self._event))}>"


class StreamContext:
    """Makes a stream the current one of its device, and the device the current one; None changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is None:
            return
        index = self.stream.device_index
        self._before = (_C._cuda_current_device(), _C._cuda_current_stream(index))
        _C._cuda_set_device(index)
        _C._cuda_set_stream(self.stream.cuda_stream, index)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.stream is None:
            return
        device, stream = self._before
        _C._cuda_set_stream(stream, self.stream.device_index)
        _C._cuda_set_device(device)


def stream(stream: Stream | None) -> StreamContext:
    """A `with` block whose work goes to `stream`."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Makes a stream the current one of its device; None changes nothing."""
    if stream is not None:
        _C._cuda_set_stream(stream.cuda_stream, stream.device_index)


def current_stream(device: Device = None) -> Stream:
    """The stream that this thread's work on a device goes to."""
    index = device_index(device)
    return Stream._of(_C._cuda_current_stream(index), index)


def default_stream(device: Device = None) -> Stream:
    """The stream that work goes to unless another is made current."""
    return Stream._of(0, device_index(device))


def get_stream_from_external(data_ptr: int, device: Device = None) -> ExternalStream:
    """A stream that another library made, by its handle."""
    return ExternalStream(data_ptr, device)
