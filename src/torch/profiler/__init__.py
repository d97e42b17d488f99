"""Profiles of programs: `profile` times the functions of torch, with a schedule of steps and a handler of traces."""

from __future__ import annotations

import os
import socket
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.autograd.profiler import DeviceType, EventList, profile as _profile, record_function
from torch.profiler._execution_trace import ExecutionTraceObserver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "DeviceType",
    "ExecutionTraceObserver",
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerActivity(Enum):
    """What can be timed; only CPU is here."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a step of a program is to a profile."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class _ExperimentalConfig:
    """Options that are accepted, and change nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Anything goes."""


def supported_activities() -> set[ProfilerActivity]:
    """What can be timed here."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Every step's action: after `skip_first` steps cycles of `wait`, `warmup` and `active` ones, `repeat` times."""
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise AssertionError("Invalid profiler schedule arguments")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait and wait:
            step += wait
        if repeat and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """A handler that writes each trace into a folder, for TensorBoard."""

    def handle(run: profile) -> None:
        folder = Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        run.export_chrome_trace(str(folder / name))

    return handle


class profile:
    """A block whose calls of torch are timed, whole or by steps.

    With `schedule` only the steps count that it says; the program calls `step()` after each. `on_trace_ready(self)` is
    called when a trace is complete. What memory, stacks and FLOPs there are is not recorded.

    >>> with torch.profiler.profile() as run:
    ...     _ = torch.ones(2) + 1
    >>> [row.key for row in run.key_averages()]
    ['aten::ones', 'aten::add']
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Any = None,
    ) -> None:
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self.profiler: _profile | None = None
        self._events = EventList()
        self._step: record_function | None = None

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins with step 0."""
        self._change(self._action())
        self._begin_step()

    def stop(self) -> None:
        """Ends; a trace that has begun is complete."""
        self._end_step()
        if self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._save()
        self._change(ProfilerAction.NONE)

    def step(self) -> None:
        """The next step of the program begins."""
        self._end_step()
        self.step_num += 1  # first: a handler of traces sees the number of the step that begins
        if self.current_action is ProfilerAction.RECORD_AND_SAVE:
            self._save()
        self._change(self._action())
        self._begin_step()

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def _begin_step(self) -> None:
        if self.schedule is not None and self.profiler is not None:
            self._step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _change(self, action: ProfilerAction) -> None:
        recording = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if recording and self.profiler is None:
            self.profiler = _profile(record_shapes=self.record_shapes).__enter__()
        elif not recording and self.profiler is not None:
            self.profiler.__exit__()
            self.profiler = None
        self.current_action = action

    def _save(self) -> None:
        if self.profiler is None:
            return
        self.profiler.__exit__()
        self._events = self.profiler.function_events or EventList()
        self.profiler = None
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def events(self) -> EventList:
        """The calls of the last complete trace."""
        return self._events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **options: Any) -> EventList:
        """The calls by name."""
        return self._events.key_averages(group_by_input_shape)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the last complete trace for chrome://tracing; compressed if the name ends with .gz."""
        self._events.export_chrome_trace(path)

    def add_metadata(self, key: str, value: str) -> None:
        """Accepted; traces hold no metadata."""

    add_metadata_json = add_metadata


def kineto_available() -> bool:
    """Whether there is Kineto, which sees CUDA devices: no."""
    return False
