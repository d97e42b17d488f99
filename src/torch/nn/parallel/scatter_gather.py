"""Batches in parts for several devices, and results put together again."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["gather", "scatter", "scatter_kwargs"]


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """Nested values with every tensor cut into a part for each device, along `dim`; others go to all of them."""
    devices = [
        torch.device("cuda", device) if isinstance(device, int) else torch.device(device) for device in target_gpus
    ]

    def split(value: Any) -> list[Any]:
        if isinstance(value, torch.Tensor):
            parts = value.chunk(len(devices), dim)
            return [part.to(device) for part, device in zip(parts, devices, strict=False)]
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return [type(value)(*items) for items in zip(*map(split, value), strict=False)]
        if isinstance(value, (tuple, list)) and value:
            return [type(value)(items) for items in zip(*map(split, value), strict=False)]
        if isinstance(value, dict) and value:
            return [type(value)(items) for items in zip(*map(split, value.items()), strict=False)]
        return [value for _ in devices]

    return split(inputs)


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Any, dim: int = 0
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The same for the arguments of a call; both lists are filled up to one length."""
    parts = scatter(inputs, target_gpus, dim) if inputs else []
    named = scatter(kwargs, target_gpus, dim) if kwargs else []
    length = max(len(parts), len(named))
    return (
        tuple(parts) + ((),) * (length - len(parts)),
        tuple(named) + ({},) * (length - len(named)),
    )


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """Results of the devices, nested alike, put together along `dim` on one device (-1: the CPU)."""
    device = torch.device("cpu") if target_device in (-1, "cpu") else torch.device(target_device)

    def join(values: Any) -> Any:
        first = values[0]
        if isinstance(first, torch.Tensor):
            moved = [value.to(device) for value in values]
            return torch.stack(moved) if first.dim() == 0 else torch.cat(moved, dim)
        if first is None:
            return None
        if isinstance(first, dict):
            return type(first)((key, join([value[key] for value in values])) for key in first)
        if isinstance(first, tuple) and hasattr(first, "_fields"):
            return type(first)(*map(join, zip(*values, strict=True)))
        return type(first)(map(join, zip(*values, strict=True)))

    return join(list(outputs))
