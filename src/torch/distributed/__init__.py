"""Several processes: there is no backend for it here, as in a PyTorch that was built without one.

`is_available()` is False, and what needs other processes raises RuntimeError.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether there is a backend: no."""
    return False


def is_initialized() -> bool:
    """Whether this process belongs to a group: no."""
    return False


def is_nccl_available() -> bool:
    """Whether there is NCCL: no."""
    return False


is_gloo_available = is_mpi_available = is_ucc_available = is_xccl_available = is_nccl_available


def is_torchelastic_launched() -> bool:
    """Whether torchrun has started this process."""
    import os

    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(f"torch.distributed.{name}: no backend for several processes is built in; run one process")


def init_process_group(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no backend."""
    _refuse("init_process_group")


def destroy_process_group(group: Any = None) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("destroy_process_group")


def get_rank(group: Any = None) -> NoReturn:
    """Raises RuntimeError: there is no group; ask `is_initialized()` first."""
    _refuse("get_rank")


def get_world_size(group: Any = None) -> NoReturn:
    """Raises RuntimeError: there is no group; ask `is_initialized()` first."""
    _refuse("get_world_size")


def barrier(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("barrier")


def all_reduce(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("all_reduce")


def all_gather(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("all_gather")


def broadcast(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises RuntimeError: there is no group."""
    _refuse("broadcast")


class ReduceOp:
    """How processes' tensors become one, for annotations and defaults of programs."""

    SUM, AVG, PRODUCT, MIN, MAX = "SUM", "AVG", "PRODUCT", "MIN", "MAX"


class ProcessGroup:
    """A group of processes, for annotations of programs: there is none."""

    def __init__(self, *args: Any) -> None:
        _refuse("ProcessGroup")
