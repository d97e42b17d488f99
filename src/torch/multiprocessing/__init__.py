"""Python's multiprocessing, with tensors sent between processes in shared memory rather than copied.

A tensor that is put into a queue or a pipe moves into shared memory (as by `share_memory_()`), and the receiver's
tensor has the same memory: changes are seen on both sides. Gradients are not sent.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F403
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

import torch
from torch import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

__all__ = [name for name in dir(_multiprocessing) if not name.startswith("_")]
__all__ += ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn"]


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


def get_all_sharing_strategies() -> set[str]:
    """The ways of sharing: one, named shared memory that a manager process cleans up."""
    return {"file_system"}


def get_sharing_strategy() -> str:
    """How tensors are shared."""
    return "file_system"


def set_sharing_strategy(new_strategy: str) -> None:
    """Accepts the one strategy there is."""
    if new_strategy not in get_all_sharing_strategies():
        raise NotImplementedError(f"the sharing strategy {new_strategy!r} is not supported: use 'file_system'")


def _started(fn: Callable[..., None], index: int, args: tuple[Any, ...], errors: Any) -> None:
    import sys
    import traceback

    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent, which was interrupted as well, says so
    except BaseException:
        errors.put((index, traceback.format_exc()))
        sys.exit(1)


def spawn(
    fn: Callable[..., None],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> None:
    """Runs `fn(i, *args)` in `nprocs` processes and waits for them.

    If one fails the others are terminated, and a RuntimeError carries its traceback. Only `join=True` is supported.
    """
    if not join:
        raise NotImplementedError("spawn(join=False) is not supported: start multiprocessing.Process objects")
    context: Any = _multiprocessing.get_context(start_method)
    errors = context.SimpleQueue()
    processes: list[Any] = [
        context.Process(target=_started, args=(fn, index, args, errors), daemon=daemon) for index in range(nprocs)
    ]
    for process in processes:
        process.start()
    from multiprocessing.connection import wait

    try:
        waiting = {process.sentinel: (index, process) for index, process in enumerate(processes)}
        while waiting:
            for sentinel in wait(list(waiting)):
                index, process = waiting.pop(sentinel)
                process.join()
                if process.exitcode != 0:
                    text = f"exited with code {process.exitcode}" if errors.empty() else f"raised:\n{errors.get()[1]}"
                    raise RuntimeError(f"process {index} of torch.multiprocessing.spawn {text}")
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
            process.join()
