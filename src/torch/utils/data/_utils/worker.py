"""What runs in a loader's workers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from torch.utils.data import _workers
from torch.utils.data._workers import WorkerInfo as WorkerInfo, get_worker_info as get_worker_info


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


def __getattr__(name: str) -> Any:
    if name == "_worker_info":
        return _workers._worker_info
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
