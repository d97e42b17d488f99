"""How long the functions of torch take that a program calls.

A profile is a mode (`torch.overrides`): it sees every call from Python, with what Python functions of torch call inside
as their parts. What operators call in C++, and the steps of a backward pass, count in the call that they belong to.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch.overrides import TorchFunctionMode, redispatch_function

if TYPE_CHECKING:
    from collections.abc import Callable

# The kinds of devices, with PyTorch's numbers.
DeviceType = IntEnum(
    "DeviceType",
    "CPU CUDA MKLDNN OPENGL OPENCL IDEEP HIP FPGA MAIA XLA Vulkan Metal XPU MPS Meta HPU VE Lazy IPU MTIA PrivateUse1",
    start=0,
    module="torch.profiler",
)

__all__ = ["EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "profile", "record_function"]


class Interval(NamedTuple):
    """When something began and ended, in microseconds."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """How long it took."""
        return self.end - self.start


class _OnCPU:
    """What PyTorch also tells of calls; here they all are on the CPU, and memory is not recorded."""

    device_type = DeviceType.CPU
    is_async = is_remote = is_legacy = False
    device_time = device_time_total = self_device_time_total = 0.0
    cuda_time = cuda_time_total = self_cuda_time_total = 0.0
    cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = self_device_memory_usage = 0
    flops = device_index = 0
    node_id = sequence_nr = -1
    stack: ClassVar[list[str]] = []


@dataclass
class FunctionEvent(_OnCPU):
    """One call: its name, when it began and how long it took (microseconds), and the call around it."""

    id: int
    name: str
    thread: int
    start: float
    duration: float = 0.0
    parent: FunctionEvent | None = None
    children: list[FunctionEvent] = field(default_factory=list)
    input_shapes: list[list[int]] = field(default_factory=list)
    is_user_annotation: bool = False
    count: int = 1

    @property
    def key(self) -> str:
        """What events are put together by."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        """How long it took, in microseconds."""
        return self.duration

    @property
    def time_range(self) -> Interval:
        """When it began and ended."""
        return Interval(self.start, self.start + self.duration)

    @property
    def cpu_parent(self) -> FunctionEvent | None:
        """The call around it."""
        return self.parent

    @property
    def cpu_children(self) -> list[FunctionEvent]:
        """The calls inside."""
        return self.children

    @property
    def self_cpu_time_total(self) -> float:
        """The same without the calls inside."""
        return self.duration - sum(child.duration for child in self.children)

    @property
    def cpu_time(self) -> float:
        """How long one call took: the same for an event."""
        return self.duration / self.count


@dataclass
class FunctionEventAvg(_OnCPU):
    """All calls of one name (and one set of shapes) together; times in microseconds."""

    key: str
    input_shapes: list[list[int]]
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    is_user_annotation: bool = False

    @property
    def cpu_time(self) -> float:
        """The mean of one call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event: FunctionEvent) -> None:
        """Counts one more call."""
        self.count += 1
        # A call inside another of its name is counted by that one.
        parent = event.parent
        while parent is not None and parent.name != event.name:
            parent = parent.parent
        if parent is None:
            self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total


# Of a tensor, not of its elements: x.shape, x.dim().
_QUESTIONS = frozenset(
    [
        "__get__",
        "__set__",
        "data_ptr",
        "dim",
        "element_size",
        "get_device",
        "is_complex",
        "is_contiguous",
        "is_floating_point",
        "is_signed",
        "ndimension",
        "nelement",
        "numel",
        "size",
        "storage_offset",
        "stride",
    ]
)


def _time_text(microseconds: float) -> str:
    for limit, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= limit:
            return f"{microseconds / limit:.3f}{unit}"
    return f"{microseconds:.3f}us"


class EventList(list[Any]):
    """Calls, or calls put together: `table()` prints them, `key_averages()` puts them together."""

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The rows as text: name, own and whole time with their shares, mean, number of calls."""
        rows = [row for row in self if not top_level_events_only or getattr(row, "parent", None) is None]
        if sort_by is not None:
            attribute = sort_by.replace("cuda", "cpu").replace("device", "cpu")
            rows.sort(key=lambda row: getattr(row, attribute, 0), reverse=True)
        total = sum(row.self_cpu_time_total for row in self)
        titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
        with_shapes = any(row.input_shapes for row in rows)
        if with_shapes:
            titles.append("Input Shapes")
        cells = [titles]
        for row in rows[: row_limit if row_limit >= 0 else None]:
            name = row.key if len(row.key) <= max_name_column_width else row.key[: max_name_column_width - 3] + "..."
            own, whole = row.self_cpu_time_total, row.cpu_time_total
            shares = [f"{100 * part / total if total else 0:.2f}%" for part in (own, whole)]
            line = [
                name,
                shares[0],
                _time_text(own),
                shares[1],
                _time_text(whole),
                _time_text(row.cpu_time),
                str(row.count),
            ]
            cells.append([*line, str(row.input_shapes)[:max_shapes_column_width]] if with_shapes else line)
        widths = [max(len(line[column]) for line in cells) for column in range(len(titles))]
        rule = "  ".join("-" * width for width in widths)
        text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        lines = [*([header] if header else []), rule, text[0], rule, *text[1:], rule]
        return "\n".join([*lines, f"Self CPU time total: {_time_text(total)}", ""])

    def __str__(self) -> str:
        return self.table()

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Calls of one name together, or of one name and shapes."""
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else []
            key = (event.name, str(shapes))
            if key not in found:
                found[key] = FunctionEventAvg(event.name, shapes, is_user_annotation=event.is_user_annotation)
            found[key].add(event)
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """All calls together."""
        total = FunctionEventAvg("Total", [])
        for event in self:
            total.count += event.count
            total.cpu_time_total += event.cpu_time_total
            total.self_cpu_time_total += event.self_cpu_time_total
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of own times, in microseconds."""
        return sum(event.self_cpu_time_total for event in self)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the calls in the format of chrome://tracing and Perfetto."""
        events = [
            {
                "ph": "X",
                "cat": "user_annotation" if event.is_user_annotation else "cpu_op",
                "name": event.name,
                "pid": 0,
                "tid": event.thread,
                "ts": event.start,
                "dur": event.duration,
                "args": {"Input Dims": event.input_shapes},
            }
            for event in self
        ]
        text = json.dumps({"schemaVersion": 1, "traceEvents": events})
        if str(path).endswith(".gz"):
            import gzip

            with gzip.open(path, "wt", encoding="utf-8") as file:
                file.write(text)
        else:
            Path(path).write_text(text, encoding="utf-8")


class _Recorder(TorchFunctionMode):
    """Notes the calls of one thread while it is active."""

    def __init__(self, record_shapes: bool) -> None:
        super().__init__()
        self.record_shapes = record_shapes
        self.events: list[FunctionEvent] = []
        self.open: list[FunctionEvent] = []

    def begin(self, name: str, is_user_annotation: bool = False) -> FunctionEvent:
        """A call begins."""
        parent = self.open[-1] if self.open else None
        event = FunctionEvent(
            len(self.events), name, threading.get_ident(), time.perf_counter_ns() / 1e3, parent=parent
        )
        event.is_user_annotation = is_user_annotation
        if parent is not None:
            parent.children.append(event)
        self.events.append(event)
        self.open.append(event)
        return event

    def end(self, event: FunctionEvent) -> None:
        """It ends."""
        event.duration = time.perf_counter_ns() / 1e3 - event.start
        self.open.remove(event)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "overloadpacket", func).__name__
        if name in _QUESTIONS:
            return func(*args, **(kwargs or {}))
        event = self.begin(f"aten::{name}")
        if self.record_shapes:
            event.input_shapes = [list(value.shape) for value in args if isinstance(value, torch.Tensor)]
        try:
            with self:  # the parts of what is written in Python are calls, too
                return redispatch_function(func, types, args, kwargs)
        finally:
            self.end(event)


_active: list[_Recorder] = []


class profile:
    """A block whose calls of torch are timed.

    >>> with torch.autograd.profiler.profile() as run:
    ...     _ = torch.ones(2) + 1
    >>> [event.name for event in run.function_events]
    ['aten::ones', 'aten::add']
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, record_shapes: bool = False, **options: Any
    ) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.function_events: EventList | None = None
        self._recorder: _Recorder | None = None

    def __enter__(self) -> profile:
        if self.enabled:
            if self._recorder is not None or self.function_events is not None:
                raise RuntimeError("profiler context manager is not reentrant")
            self._recorder = _Recorder(self.record_shapes)
            self._recorder.__enter__()
            _active.append(self._recorder)
        return self

    def __exit__(self, *exception: object) -> bool:
        if self._recorder is not None:
            _active.remove(self._recorder)
            self._recorder.__exit__()
            self.function_events = EventList(self._recorder.events)
            self._recorder = None
        return False

    def _events(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.function_events is None else str(self.function_events)

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The calls as text."""
        return self._events().table(*args, **kwargs)

    def key_averages(self, *args: Any, **kwargs: Any) -> EventList:
        """The calls by name."""
        return self._events().key_averages(*args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        """All of them together."""
        return self._events().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time in torch, in microseconds."""
        return self._events().self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Writes the calls for chrome://tracing."""
        self._events().export_chrome_trace(path)


class record_function:
    """A block (or, as a decorator, a function) that shows up under a name in profiles."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._open: list[tuple[_Recorder, FunctionEvent]] = []

    def __enter__(self) -> record_function:
        if _active:
            self._open.append((_active[-1], _active[-1].begin(self.name, is_user_annotation=True)))
        return self

    def __exit__(self, *exception: object) -> None:
        if self._open:
            recorder, event = self._open.pop()
            recorder.end(event)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return func(*args, **kwargs)

        return decorated


class emit_nvtx:
    """Refuses when it is entered: ranges for NVIDIA's tools need CUDA."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx:
        if self.enabled:
            raise NotImplementedError(f"{type(self).__name__} is not supported: use torch.profiler.profile")
        return self

    def __exit__(self, *exception: object) -> None:
        pass


class emit_itt(emit_nvtx):
    """Refuses when it is entered: ranges for Intel's tools are not built in."""
