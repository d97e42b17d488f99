"""Collectives of one process over its devices, a tensor on each: made of copies from device to device.

Processes that work together use torch.distributed with the backend "nccl".
"""

from __future__ import annotations

import ctypes
import operator
from functools import reduce as fold
from typing import TYPE_CHECKING

import torch
from torch.distributed import _engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

__all__ = ["all_gather", "all_reduce", "broadcast", "reduce", "reduce_scatter", "unique_id", "version"]

SUM = 0

_OPERATIONS: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    operator.add,
    operator.mul,
    torch.maximum,
    torch.minimum,
    operator.add,
)
_AVERAGE = 4


def is_available(tensors: Sequence[Tensor]) -> bool:
    """Whether these can take part: dense and contiguous, each on a CUDA device of its own."""
    usable = all(tensor.is_cuda and tensor.is_contiguous() and not tensor.is_sparse for tensor in tensors)
    return usable and len({tensor.device for tensor in tensors}) == len(tensors)


def version() -> tuple[int, int, int]:
    """NCCL's version, such as (2, 27, 7). DistBackendError if libtorch_distributed_nccl is not installed."""
    number, library = ctypes.c_int(), _engine.load("nccl")
    _engine.check(library, library.torch_distributed_nccl_version(ctypes.byref(number)))
    return number.value // 10000, number.value % 10000 // 100, number.value % 100


def unique_id() -> bytes:
    """What processes share that make a communicator of NCCL's. DistBackendError if it is not installed, or fails."""
    buffer, library = ctypes.create_string_buffer(_engine.UNIQUE_ID_BYTES), _engine.load("nccl")
    _engine.check(library, library.torch_distributed_nccl_unique_id(buffer))
    return buffer.raw


def _check(inputs: Sequence[Tensor], outputs: Sequence[Tensor], growth: float = 1) -> None:
    """RuntimeError unless each input has an output on its device, with `growth` times as many elements."""
    if isinstance(inputs, torch.Tensor) or isinstance(outputs, torch.Tensor):
        raise TypeError("Inputs and outputs should be a collection of tensors")
    if not inputs or len(inputs) != len(outputs) or not is_available(inputs):
        raise RuntimeError(
            "nccl: dense, contiguous tensors are expected, as many inputs as outputs, one of each per device"
        )
    for source, target in zip(inputs, outputs, strict=True):
        if (source.device, source.dtype) != (target.device, target.dtype) or target.numel() != source.numel() * growth:
            raise RuntimeError(
                f"nccl: {source.numel()} elements of {source.dtype} on {source.device} do not fit an output of "
                f"{target.numel()} elements of {target.dtype} on {target.device}"
            )


def _combined(inputs: Sequence[Tensor], op: int, device: torch.device) -> Tensor:
    """All of them by one operation, on a device."""
    if not 0 <= op < len(_OPERATIONS):
        raise RuntimeError(f"nccl: there is no operation {op}")
    total = fold(_OPERATIONS[op], (tensor.to(device) for tensor in inputs))
    return total / len(inputs) if op == _AVERAGE else total


def all_reduce(
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor] | None = None,
    op: int = SUM,
    streams: object = None,
    comms: object = None,
) -> None:
    """Writes the sum of the inputs (`op` 1: product, 2: maximum, 3: minimum, 4: average) into each output."""
    outputs = inputs if outputs is None else outputs
    _check(inputs, outputs)
    total = _combined(inputs, op, inputs[0].device)
    for target in outputs:
        target.copy_(total)


def reduce(
    inputs: Sequence[Tensor],
    output: Tensor | None = None,
    root: int = 0,
    op: int = SUM,
    streams: object = None,
    comms: object = None,
) -> None:
    """Writes the sum of the inputs, as `all_reduce` does, into `output`, or into the input `root`."""
    target = inputs[root] if output is None else output
    _check(inputs[root : root + 1], [target])
    _check(inputs, inputs)
    target.copy_(_combined(inputs, op, target.device))


def broadcast(inputs: Sequence[Tensor], root: int = 0, streams: object = None, comms: object = None) -> None:
    """Writes the tensor `root` into all of them."""
    _check(inputs, inputs)
    for target in inputs:
        if target is not inputs[root]:
            target.copy_(inputs[root])


def all_gather(
    inputs: Sequence[Tensor], outputs: Sequence[Tensor], streams: object = None, comms: object = None
) -> None:
    """Writes all inputs, one after another, into each output."""
    _check(inputs, outputs, len(inputs))
    for target in outputs:
        for part, source in zip(target.view(-1).chunk(len(inputs)), inputs, strict=True):
            part.copy_(source.view(-1))


def reduce_scatter(
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    op: int = SUM,
    streams: object = None,
    comms: object = None,
) -> None:
    """Gives each output its part of the inputs' sum, as `all_reduce` has it."""
    _check(inputs, outputs, 1 / max(len(inputs), 1))
    parts = _combined(inputs, op, inputs[0].device).view(-1).chunk(len(inputs))
    for target, part in zip(outputs, parts, strict=True):
        target.view(-1).copy_(part)
