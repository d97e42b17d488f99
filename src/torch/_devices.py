"""Which module serves a device, and streams and events of whichever accelerator there is."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from types import ModuleType


def get_device(input: torch.Tensor) -> int:
    """The index of the device that `input` lives on; -1 on the CPU."""
    return input.get_device()


def get_device_module(device: torch.device | str | None = None) -> ModuleType:
    """The module of a device, `torch.cuda` or `torch.cpu`; without one, that of the accelerator, or of the CPU.

    RuntimeError for devices that have none.
    """
    if isinstance(device, torch.device):
        kind = device.type
    elif isinstance(device, str):
        kind = torch.device(device).type
    elif device is None:
        accelerator = torch.accelerator.current_accelerator()
        kind = "cpu" if accelerator is None else accelerator.type
    else:
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    if kind not in ("cpu", "cuda"):
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return import_module(f"torch.{kind}")


class _OfAnyDevice(type):
    """The type of a class whose instances those of the class of that name in torch.cuda are, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, getattr(torch.cuda, cls.__name__))


class Stream(metaclass=_OfAnyDevice):
    """A queue of work: on a CUDA device a `torch.cuda.Stream`, on the CPU nothing that is waited for.

    `device` is the accelerator's current one unless it is named, or the CPU without an accelerator.
    """

    device: torch.device
    device_index: int
    stream_id: int

    def __new__(cls, device: torch.device | str | int | None = None, *, priority: int = 0) -> Any:
        wanted = _choose_device(device)
        if wanted.type == "cuda":
            return torch.cuda.Stream(wanted, priority=priority)
        stream = object.__new__(cls)
        stream.device, stream.device_index, stream.stream_id = wanted, -1, 0
        return stream

    def query(self) -> bool:
        """Whether all of it is done: yes."""
        return True

    def synchronize(self) -> None:
        """Waits until all of it is done."""

    def wait_event(self, event: Event) -> None:
        """Lets work from here on wait for `event`."""
        event.synchronize()

    def wait_stream(self, stream: Stream) -> None:
        """Lets work from here on wait for what `stream` has to do now."""
        stream.synchronize()

    def record_event(self, event: Any = None) -> Any:
        """An event at this point of its work."""
        event = Event(self.device) if event is None else event
        event.record(self)
        return event

    def __repr__(self) -> str:
        return (
            f"torch.Stream device_type={self.device.type}, device_index={self.device_index}, stream_id={self.stream_id}"
        )


class Event(metaclass=_OfAnyDevice):
    """A point in a stream's work: on a CUDA device a `torch.cuda.Event`, on the CPU a point that has been reached.

    With `enable_timing`, `elapsed_time` gives milliseconds between two of them.
    """

    device: torch.device
    _time: float | None

    def __new__(
        cls,
        device: torch.device | str | int | None = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> Any:
        wanted = _choose_device(device)
        if wanted.type == "cuda":
            return torch.cuda.Event(enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)
        event = object.__new__(cls)
        event.device, event._time, event._timing = wanted, None, enable_timing
        return event

    def record(self, stream: Stream | None = None) -> None:
        """Marks this moment."""
        import time

        self._time = time.perf_counter()

    def query(self) -> bool:
        """Whether it is reached: yes."""
        return True

    def wait(self, stream: Stream | None = None) -> None:
        """Lets a stream's work from here on wait for it."""

    def synchronize(self) -> None:
        """Waits until it is reached."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from here to `end_event`. ValueError unless both were made with `enable_timing` and recorded."""
        if not (self._timing and end_event._timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end_event._time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time - self._time) * 1e3

    _timing: bool


def _choose_device(device: torch.device | str | int | None) -> torch.device:
    if device is None:
        return torch.accelerator.current_accelerator() or torch.device("cpu")
    return torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
