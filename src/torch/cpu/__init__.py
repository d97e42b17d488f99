"""The CPU by the names that modules of devices share, so that programs for any device run on it: there is one, and its
work is done when a call returns."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from torch._bindings import submodules

if TYPE_CHECKING:
    import torch

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a CPU: yes."""
    return True


def is_initialized() -> bool:
    """Whether it is in use: yes."""
    return True


def device_count() -> int:
    """How many there are: 1."""
    return 1


def current_device() -> str:
    """The current device: "cpu"."""
    return "cpu"


def set_device(device: torch.device | str | int | None) -> None:
    """Chooses a CPU: there is one."""


def synchronize(device: torch.device | str | int | None = None) -> None:
    """Waits for all work, which is done."""


class Stream:
    """The CPU's stream; `priority` is taken and means nothing."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Stream) -> None:
        """Waits for a stream, whose work is done."""

    def record_event(self) -> None:
        """Marks a point, which is reached."""

    def wait_event(self, event: Event) -> None:
        """Waits for a point, which is reached."""


class Event:
    """A point of the CPU's work, which is reached when it is made."""

    def query(self) -> bool:
        """Whether it is reached: yes."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Marks this point."""

    def synchronize(self) -> None:
        """Waits for it."""

    def wait(self, stream: Stream | None = None) -> None:
        """Lets a stream wait for it."""


_stream = Stream()


def current_stream(device: torch.device | str | int | None = None) -> Stream:
    """The CPU's stream."""
    return _stream


StreamContext = nullcontext


def stream(stream: Stream) -> AbstractContextManager[Any]:
    """A block whose work goes to `stream`."""
    return nullcontext(stream)


__getattr__ = submodules(__name__)
