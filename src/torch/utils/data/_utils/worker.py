"""What runs in a loader's workers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkerInfo:
    """What `get_worker_info()` tells inside a worker: its number, how many there are, its seed, its dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


# Workers set it, those of other libraries' loaders, too.
_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """The worker this runs in; None in the loader's own process. Streams use it to split their items."""
    return _worker_info


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """That the stream of a worker has ended."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """That workers begin anew."""

    seed: int | None = None


class ManagerWatchdog:
    """Tells whether the process that started this one is still there."""

    def __init__(self) -> None:
        self.manager_pid = os.getppid()

    def is_alive(self) -> bool:
        """Whether it is."""
        return os.getppid() == self.manager_pid


def _generate_state(base_seed: int, worker_id: int) -> Any:
    """Four numbers that seed NumPy in a worker, different for every pair."""
    from numpy.random import SeedSequence

    return SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4)
