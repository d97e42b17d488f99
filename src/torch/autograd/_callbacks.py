"""Passes of the engine, and what is called at the end of one, for libraries that sum up gradients then."""

from __future__ import annotations

from _thread import get_ident

from torch import _C

TYPE_CHECKING = False  # `import torch` reads this file, and loads little
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What waits, by thread and pass. Passes are numbered upwards, so that an inner one's number is above the outer one's.
_waiting: dict[tuple[int, int], list[Callable[[], None]]] = {}
# What is being called, by thread, and the pass around it: one of these may queue another.
_called: dict[int, tuple[int, list[Callable[[], None]]]] = {}


def run(*arguments: Any) -> Any:
    """The engine's pass, then what was queued while it ran."""
    try:
        answer = _C._run_backward(*arguments)
    except BaseException:
        _take_ended()
        raise
    if _waiting:
        _call(_take_ended(), create_graph=bool(arguments[3]))
    return answer


def _call(callbacks: list[Callable[[], None]], *, create_graph: bool) -> None:
    """Each of them, in the pass's own grad mode."""
    thread = get_ident()
    outer = _called.get(thread)
    _called[thread] = _C._current_graph_task_id(), callbacks
    mode = _C.is_grad_enabled()
    _C._set_grad_enabled(create_graph)
    try:
        for callback in callbacks:  # grows while it is walked through
            callback()
    finally:
        _C._set_grad_enabled(mode)
        if outer is None:
            del _called[thread]
        else:
            _called[thread] = outer


def queue(callback: Callable[[], None]) -> None:
    """Calls `callback()` at the end of the pass that runs."""
    thread, number = get_ident(), _C._current_graph_task_id()
    around, callbacks = _called.get(thread, (None, []))
    if around == number:
        callbacks.append(callback)
        return
    if number < 0:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    _waiting.setdefault((thread, number), []).append(callback)


def _take_ended() -> list[Callable[[], None]]:
    """What waits for passes of this thread that run no longer."""
    thread, running = get_ident(), _C._current_graph_task_id()
    ended = [key for key in tuple(_waiting) if key[0] == thread and key[1] > running]
    return [callback for key in ended for callback in _waiting.pop(key)]
