"""Wrappers that spread a module over devices; on one device, and on the CPU, they run it as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.nn.parallel.data_parallel import DataParallel, data_parallel
from torch.nn.parallel.parallel_apply import parallel_apply
from torch.nn.parallel.replicate import replicate
from torch.nn.parallel.scatter_gather import gather, scatter

if TYPE_CHECKING:
    from torch.nn.parallel.distributed import DistributedDataParallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]


def __getattr__(name: str) -> Any:
    if name in ("DistributedDataParallel", "distributed"):  # nobody pays for torch.distributed who does not use it
        from importlib import import_module

        module = import_module("torch.nn.parallel.distributed")
        return module if name == "distributed" else module.DistributedDataParallel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
