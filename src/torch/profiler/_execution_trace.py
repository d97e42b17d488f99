"""`ExecutionTraceObserver`: the calls of torch with what went in and came out, as a graph in a JSON file."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode, redispatch_function

if TYPE_CHECKING:
    from collections.abc import Callable

_NOTHING: dict[str, list[Any]] = {"values": [], "shapes": [], "types": [], "strides": []}


class _Observer(TorchFunctionMode):
    """Notes the calls of one thread while it is active: nodes, each below the call that it is a part of."""

    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        super().__init__()
        self.nodes = nodes
        self.above = [1]

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        node: dict[str, Any] = {
            "id": len(self.nodes) + 1,
            "name": f"aten::{getattr(func, 'overloadpacket', func).__name__}",
            "ctrl_deps": self.above[-1],
            "inputs": _described((*args, *(kwargs or {}).values())),
            "outputs": _NOTHING,
            "attrs": [{"name": "tid", "type": "uint64", "value": threading.get_ident()}],
        }
        self.nodes.append(node)
        self.above.append(node["id"])
        try:
            with self:
                result = redispatch_function(func, types, args, kwargs)
        finally:
            self.above.pop()
        node["outputs"] = _described(result if isinstance(result, tuple) else (result,))
        return result


def _described(values: tuple[Any, ...]) -> dict[str, list[Any]]:
    columns = [_described_value(value) for value in values]
    return {name: [column[name] for column in columns] for name in _NOTHING}


def _described_value(value: Any) -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunction():
            storage = value.untyped_storage() if value.layout is torch.strided else None
            place = [id(value), 0 if storage is None else storage.data_ptr(), 0, value.numel(), value.element_size()]
            return {
                "values": [*place, str(value.device)],
                "shapes": list(value.shape),
                "types": f"Tensor({str(value.dtype).removeprefix('torch.')})",
                "strides": [] if storage is None else list(value.stride()),
            }
    if isinstance(value, (list, tuple)):
        parts = [_described_value(each) for each in value]
        inner = {name: [part[name] for part in parts] for name in ("values", "shapes", "strides")}
        return {**inner, "types": f"GenericList[{','.join(part['types'] for part in parts)}]"}
    plain = value if isinstance(value, (bool, int, float, str)) else "<None>" if value is None else str(value)
    name = {"NoneType": "None", "float": "Double", "str": "String"}.get(type(value).__name__, type(value).__name__)
    return {"values": plain, "shapes": [], "types": name.capitalize(), "strides": []}


class ExecutionTraceObserver:
    """Writes the calls between `start()` and `stop()` into a file, when `unregister_callback()` is called.

    >>> import tempfile
    >>> observer = torch.profiler.ExecutionTraceObserver()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = observer.register_callback(folder + "/trace.json")
    ...     observer.start()
    ...     _ = torch.ones(2) + 1
    ...     observer.stop()
    ...     observer.unregister_callback()
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._nodes: list[dict[str, Any]] = []
        self._observer: _Observer | None = None
        self._start = 0

    def register_callback(self, output_file_path: str) -> ExecutionTraceObserver:
        """Says where to write; a second call changes nothing."""
        if self._path is None:
            self._path, self._nodes = output_file_path, [_root(1, "[pytorch|profiler|execution_trace|process]")]
        return self

    def start(self) -> None:
        """Begins to note calls of this thread, if a file was said."""
        if self._path is not None and self._observer is None:
            self._start = self._start or time.monotonic_ns() // 1000
            self._observer = _Observer(self._nodes).__enter__()

    def stop(self) -> None:
        """Ends it."""
        if self._observer is not None:
            self._observer.__exit__()
            self._observer = None

    def unregister_callback(self) -> None:
        """Writes the file."""
        self.stop()
        if self._path is not None:
            trace = {
                "schema": "1.1.1-chakra.0.0.4",
                "pid": os.getpid(),
                "time": time.strftime("%Y-%m-%d %H:%M:%S"),
                "start_ts": self._start,
                "nodes": self._nodes,
                "finish_ts": time.monotonic_ns() // 1000,
            }
            Path(self._path).write_text(json.dumps(trace, indent=2), encoding="utf-8")
            self._path = None

    cleanup = unregister_callback

    @property
    def is_registered(self) -> bool:
        """Whether a file was said."""
        return self._path is not None

    def is_running(self) -> bool:
        """Whether calls are noted now."""
        return self._observer is not None

    def get_output_file_path(self) -> str | None:
        """Where it will write."""
        return self._path


def _root(number: int, name: str) -> dict[str, Any]:
    return {"id": number, "name": name, "ctrl_deps": number, "inputs": _NOTHING, "outputs": _NOTHING, "attrs": []}
