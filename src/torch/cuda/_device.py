"""Which device a call means, and whether there is one."""

from __future__ import annotations

import torch
from torch import _C

Device = int | str | torch.device | None


def is_available() -> bool:
    """Whether a CUDA device can be used. Never raises."""
    return _C._cuda_unavailable_reason() is None and _C._cuda_device_count() > 0


def unavailable_reason() -> str | None:
    """Why CUDA cannot be used here, in a sentence; None if it can."""
    reason = _C._cuda_unavailable_reason()
    if reason is None and _C._cuda_device_count() == 0:
        return "the CUDA driver works, but shows no device (look at CUDA_VISIBLE_DEVICES)"
    return reason


def init() -> None:
    """Starts CUDA; RuntimeError with the reason where it cannot be used. Other functions call it."""
    reason = unavailable_reason()
    if reason is not None:
        raise RuntimeError(f"CUDA cannot be used: {reason}")


def device_index(device: Device) -> int:
    """The number of a device; None, and a negative one, is the current device.

    Raises:
        RuntimeError: CUDA cannot be used.
        ValueError: it is no CUDA device.
    """
    init()
    if isinstance(device, int):
        return device if device >= 0 else _C._cuda_current_device()
    if device is None:
        return _C._cuda_current_device()
    parsed = torch.device(device)
    if parsed.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return _C._cuda_current_device() if parsed.index is None else parsed.index
