"""Lists of tensors in groups, for libraries that step them together."""

from __future__ import annotations

from typing import Any

import torch


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[torch.Tensor | None]], with_indices: bool = False
) -> dict[Any, tuple[list[list[torch.Tensor | None]], list[int]]]:
    """The rows of several columns of tensors, by device and dtype of the first column; with their places if asked."""
    groups: dict[Any, tuple[list[list[torch.Tensor | None]], list[int]]] = {}
    for place, row in enumerate(zip(*tensorlistlist, strict=True)):
        first = row[0]
        assert first is not None, "the first list has a tensor in every place"
        columns, places = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for column, tensor in zip(columns, row, strict=True):
            column.append(tensor)
        if with_indices:
            places.append(place)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The types of devices where a list is one kernel."""
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The types of devices where a step is one kernel."""
    return ["cuda", "cpu"]


def _device_has_foreach_support(device: torch.device) -> bool:
    return device.type in ("cuda", "cpu")


def _has_foreach_support(tensors: list[torch.Tensor], device: torch.device) -> bool:
    return _device_has_foreach_support(device) and all(type(tensor) is torch.Tensor for tensor in tensors)
