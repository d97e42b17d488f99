"""How a process says what went wrong, and how torchrun shows it."""

from __future__ import annotations

import functools
import json
import os
import signal
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import _unavailable
from torch.distributed import REASON

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ChildFailedError", "ProcessFailure", "record"]


@dataclass
class ProcessFailure:
    """A process that has failed: which, and how."""

    local_rank: int
    rank: int
    pid: int
    exitcode: int
    error_file: str

    def what(self) -> str:
        """Its exit code or its signal."""
        if self.exitcode < 0:
            return f"by {signal.Signals(-self.exitcode).name}"
        return f"with exit code {self.exitcode}"

    def said(self) -> str:
        """What `record` has written of it."""
        try:
            report = json.loads(Path(self.error_file).read_text(encoding="utf-8"))
            return str(report["message"]["message"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""


class ChildFailedError(Exception):
    """Processes have failed: those of this machine, the first of them first, or (`why`) another's."""

    def __init__(self, name: str, failures: list[ProcessFailure], why: str = "") -> None:
        self.name, self.failures = name, failures
        lines = [f"torchrun: {name} has failed"]
        if why and not failures:
            lines.append(f"  on another machine: {why}")
        for failure in failures:
            place = f"local rank {failure.local_rank}, pid {failure.pid}"
            lines.append(f"  rank {failure.rank}, {place}: ended {failure.what()}")
            if said := failure.said():
                lines.append(f"    {said}")
        super().__init__("\n".join(lines))


def record(function: Callable[..., Any], error_handler: Any = None) -> Callable[..., Any]:
    """A decorator for `main`: what it raises is shown by torchrun, too."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            path = os.environ.get("TORCHELASTIC_ERROR_FILE")
            if path:
                text = {
                    "message": f"{type(error).__name__}: {error}",
                    "extraInfo": {"py_callstack": traceback.format_exc(), "timestamp": str(int(time.time()))},
                }
                Path(path).write_text(json.dumps({"message": text}), encoding="utf-8")
            raise

    return wrapped


__getattr__ = _unavailable.define(__name__, REASON, RuntimeError)
