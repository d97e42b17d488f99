"""Processes that a loader's iterator watches: PyTorch's handler tells of a worker that died.

Here the loader that waits for a worker finds out by itself; these are for loaders of other libraries, which do so, too.
"""

from __future__ import annotations

_watched: dict[int, tuple[int, ...]] = {}


def _set_worker_pids(key: int, pids: tuple[int, ...]) -> None:
    """Notes the processes of an iterator. ValueError if it has some."""
    if key in _watched:
        raise ValueError("_set_worker_pids should be called only once for each _BaseDataLoaderIter.")
    _watched[key] = tuple(pids)


def _remove_worker_pids(key: int) -> None:
    """Forgets the processes of an iterator. ValueError if there are none."""
    if key not in _watched:
        raise ValueError(f"Cannot find worker information for _BaseDataLoaderIter with id {key}")
    del _watched[key]


def _set_SIGCHLD_handler() -> None:
    """Nothing: no handler is installed."""


def _set_worker_signal_handlers() -> None:
    """Nothing: a worker ends by a signal as every process does."""


def _error_if_any_worker_fails() -> None:
    """RuntimeError if a process that is watched has ended badly."""
    import os

    for pids in _watched.values():
        for pid in pids:
            try:
                ended, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:  # its Process object has waited for it
                continue
            if ended and status:
                raise RuntimeError(f"DataLoader worker (pid {pid}) exited unexpectedly with status {status}")
