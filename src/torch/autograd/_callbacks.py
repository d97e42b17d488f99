"""What is called at the end of a backward pass, for libraries that sum up gradients then."""

from __future__ import annotations

from _thread import _local

from torch import _C

TYPE_CHECKING = False  # `import torch` reads this file, and loads little
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _Passes(_local):
    """The passes of this thread, one in the other, each with what waits for its end."""

    def __init__(self) -> None:
        self.waiting: list[list[Callable[[], None]]] = []


_passes = _Passes()


def run(*arguments: Any) -> Any:
    """The engine's pass, then what was queued while it ran."""
    _passes.waiting.append([])
    try:
        answer = _C._run_backward(*arguments)
        for callback in _passes.waiting[-1]:
            callback()
        return answer
    finally:
        _passes.waiting.pop()


def queue(callback: Callable[[], None]) -> None:
    """Calls `callback()` at the end of the pass that runs."""
    if not _passes.waiting:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    _passes.waiting[-1].append(callback)
