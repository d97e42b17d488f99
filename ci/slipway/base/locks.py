"""Locks of files, which the system lets go of when their process ends. Apart, because Windows has no fcntl."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from slipway.base.errors import BusyError, HostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LOCK_INTERVAL_SECONDS = 0.2
"""How often a lock is tried that another process holds."""


@contextmanager
def hold_lock(
    path: Path, *, patience: float = 0, on_wait: Callable[[], None] | None = None, otherwise: str = ""
) -> Iterator[None]:
    """Hold the exclusive lock of the file `path`, which is made, and tells this process's number meanwhile.

    The system lets go of it when the process ends, however it ends.

    Args:
        patience: seconds to wait for another process that holds it.
        on_wait: called once, before the waiting begins.
        otherwise: what the user can do who does not want to wait, for the message.

    Raises:
        BusyError: another process still holds it; the message tells which.
        HostError: it is a link that leads nowhere, or its folder cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileNotFoundError as error:  # as /proc answers
        raise HostError(
            "the folder cannot be made", where=str(path.parent), hint="name another one (--dist, XDG_CACHE_HOME)"
        ) from error
    deadline = time.monotonic() + patience
    with _open(path) as stream:
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    owner = read_lock_owner(path)
                    raise BusyError(
                        "another slipway is at work there" + (f" (process {owner})" if owner else ""),
                        where=str(path),
                        hint="wait until it is done, and run the same command again"
                        + (f", or {otherwise}" if otherwise else ""),
                    ) from None
            if on_wait is not None:
                on_wait()
                on_wait = None
            time.sleep(LOCK_INTERVAL_SECONDS)
        stream.truncate(0)
        stream.write(f"{os.getpid()}\n")
        stream.flush()
        yield
        stream.truncate(0)


def _open(path: Path) -> TextIO:
    try:
        return path.open("a+", encoding="ascii")
    except FileNotFoundError:
        raise HostError("a link of this name leads nowhere", where=str(path), hint="remove it") from None


def read_lock_owner(path: Path) -> str:
    """The number of the process that holds the lock of the file `path`, as text; empty where it is not known."""
    owner = path.read_text(encoding="ascii", errors="replace").strip()
    return owner if owner.isdecimal() else ""
