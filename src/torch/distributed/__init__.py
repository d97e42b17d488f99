"""Several processes that work together: groups, collectives and messages among them, on gloo, MPI or NCCL.

The engines are packages of their own, loaded when a group is made (`_engine`); `is_available()` says whether there is
one. What PyTorch has beyond (RPC, FSDP, DTensor, pipelines) is there by name, and raises RuntimeError when it is
called.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from torch import _unavailable
from torch.distributed import _engine

REASON = (
    "it is not supported here: torch.distributed has process groups on gloo, MPI and NCCL, and what is built on them"
)
_unavailable_name = _unavailable.define(__name__, REASON, RuntimeError)

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether a backend is installed: gloo, MPI or NCCL."""
    return any(_engine.find(backend) is not None for backend in _engine.LIBRARIES)


def is_gloo_available() -> bool:
    """Whether there is gloo: libtorch_distributed is installed."""
    return _engine.find("gloo") is not None


def is_mpi_available() -> bool:
    """Whether there is MPI: libtorch_distributed_mpi is installed."""
    return _engine.find("mpi") is not None


def is_nccl_available() -> bool:
    """Whether there is NCCL: libtorch_distributed_nccl is installed."""
    return _engine.find("nccl") is not None


def is_ucc_available() -> bool:
    """Whether there is UCC: no."""
    return False


is_xccl_available = is_ucc_available


def is_initialized() -> bool:
    """Whether `init_process_group` was called, and the group not destroyed since."""
    import sys

    groups = sys.modules.get("torch.distributed._groups")
    return groups is not None and groups.is_initialized()


def is_torchelastic_launched() -> bool:
    """Whether torchrun has started this process."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


# Where public names are; loaded when one is first asked for: many programs look at is_available() and no further.
_PUBLIC = ("distributed_c10d", "device_mesh")


def __getattr__(name: str) -> Any:
    if not name.startswith("__"):
        for place in _PUBLIC:
            module = import_module(f"{__name__}.{place}")
            if name == place:
                return module
            if name in module.__all__:
                globals()[name] = getattr(module, name)  # found without this function from now on
                return globals()[name]
        place = Path(__file__).parent / name
        if not name.startswith("_") and (place.is_dir() or place.with_suffix(".py").is_file()):
            return import_module(f"{__name__}.{name}")
    return _unavailable_name(name)
