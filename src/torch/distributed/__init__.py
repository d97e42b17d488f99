"""Several processes: there is no backend for it here, as in a PyTorch that was built without one.

`is_available()` is False. Every other name of PyTorch's is there to be imported and mentioned, and raises RuntimeError
when it is called.
"""

from __future__ import annotations

import datetime

from torch import _unavailable

__all__ = ["is_available"]

default_pg_timeout = datetime.timedelta(minutes=30)


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


__getattr__ = _unavailable.define(
    __name__, "no backend for several processes is built in; run one process", RuntimeError
)
