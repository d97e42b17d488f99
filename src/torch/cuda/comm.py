"""Tensors to several devices, and together again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor
    from torch.cuda._device import Device

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]


def broadcast(
    tensor: Tensor, devices: Iterable[Device] | None = None, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """A copy on each of the devices, or in each tensor of `out`. RuntimeError unless one of both is given."""
    if (devices is None) == (out is None):
        raise RuntimeError(f"Exactly one of 'devices' and 'out' must be specified, but got {devices=} and {out=}")
    if out is not None:
        return tuple(each.copy_(tensor, non_blocking=True) for each in out)
    return tuple(tensor.to(_device(device), non_blocking=True) for device in devices or ())


def broadcast_coalesced(
    tensors: Sequence[Tensor], devices: Sequence[Device], buffer_size: int = 10485760
) -> list[list[Tensor]]:
    """For each device copies of all tensors."""
    return [[tensor.to(_device(device), non_blocking=True) for tensor in tensors] for device in devices]


def reduce_add(inputs: Sequence[Tensor], destination: int | None = None) -> Tensor:
    """The sum, on the device of that number (default: the current one). ValueError for different shapes."""
    if not inputs:
        raise RuntimeError("reduce_add expects at least one input tensor")
    if any(each.shape != inputs[0].shape for each in inputs):
        shapes = ", ".join(str(tuple(each.shape)) for each in inputs)
        raise ValueError(f"reduce_add expects inputs of one shape, but got {shapes}")
    device = _device(torch.cuda.current_device() if destination is None else destination)
    result = inputs[0].to(device, copy=True)
    for each in inputs[1:]:
        result += each.to(device, non_blocking=True)
    return result


def reduce_add_coalesced(
    inputs: Sequence[Sequence[Tensor]], destination: int | None = None, buffer_size: int = 10485760
) -> tuple[Tensor, ...]:
    """Of tensors of several devices, those of one place each: their sums."""
    return tuple(reduce_add(each, destination) for each in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor,
    devices: Sequence[Device] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: object = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """Parts of dimension `dim`, each on a device or in a tensor of `out`; of equal sizes unless these are given."""
    if out is not None:
        parts = tensor.split([each.shape[dim] for each in out], dim)
        return tuple(each.copy_(part, non_blocking=True) for each, part in zip(out, parts, strict=True))
    if devices is None:
        devices = range(torch.cuda.device_count())
    parts = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
    return tuple(part.to(_device(device), non_blocking=True) for part, device in zip(parts, devices, strict=False))


def gather(tensors: Sequence[Tensor], dim: int = 0, destination: Device = None, *, out: Tensor | None = None) -> Tensor:
    """All along dimension `dim`, on one device (default: the current one; -1: the CPU) or in `out`."""
    if out is not None:
        return out.copy_(torch.cat([each.to(out.device) for each in tensors], dim))
    device = torch.device("cpu") if destination == -1 else _device(destination)
    return torch.cat([each.to(device, non_blocking=True) for each in tensors], dim)


def _device(device: Device) -> torch.device:
    if device is None:
        device = torch.cuda.current_device()
    return torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
