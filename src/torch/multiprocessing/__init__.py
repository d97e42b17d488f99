"""Python's multiprocessing, with tensors sent between processes in shared memory rather than copied.

A tensor that is put into a queue or a pipe moves into shared memory (as by `share_memory_()`), and the receiver's
tensor has the same memory: changes are seen on both sides. Gradients are not sent.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
import sys
from multiprocessing import *  # noqa: F403
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.multiprocessing.spawn import (
    ProcessContext as ProcessContext,
    ProcessExitedException as ProcessExitedException,
    ProcessRaisedException as ProcessRaisedException,
    SpawnContext as SpawnContext,
    spawn,
    start_processes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = [name for name in dir(_multiprocessing) if not name.startswith("_")]
__all__ += ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes"]


def _rebuild(
    kind: type[Tensor],
    handle: tuple[str, str, int],
    dtype: torch.dtype,
    offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
) -> Tensor:
    tensor = torch.empty(0, dtype=dtype).set_(_C._receive_storage(*handle), offset, tuple(size), tuple(stride))
    return _C._make_subclass(kind, tensor, requires_grad)


def _reduce(tensor: Tensor) -> tuple[Any, ...]:
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "a tensor that requires grad and is no leaf cannot be sent to another process, because its graph stays "
            "here: send tensor.detach()"
        )
    if not tensor.is_cpu:
        raise NotImplementedError(f"a tensor on {tensor.device} cannot be sent to another process: send tensor.cpu()")
    handle = _C._send_storage(tensor.untyped_storage())
    offset, stride = tensor.storage_offset(), tensor.stride()
    return _rebuild, (type(tensor), handle, tensor.dtype, offset, tuple(tensor.shape), stride, tensor.requires_grad)


for _kind in (torch.Tensor, torch.nn.Parameter):
    ForkingPickler.register(_kind, _reduce)


_STRATEGIES = {"file_descriptor", "file_system"} if sys.platform == "linux" else {"file_system"}
_strategy = "file_descriptor" if sys.platform == "linux" else "file_system"


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The name that was set. Memory is shared in one way here: by name, and a manager process cleans up."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Sets it. Both have what is good about the other: no file stays behind, and no limit of open files is reached."""
    global _strategy
    assert new_strategy in _STRATEGIES, f"unknown sharing strategy {new_strategy!r}: one of {sorted(_STRATEGIES)}"
    _strategy = new_strategy
