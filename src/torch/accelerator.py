"""The machine's accelerator: CUDA, or none."""

from __future__ import annotations

import torch

__all__ = ["current_accelerator", "device_count", "is_available", "synchronize"]


def is_available() -> bool:
    """Whether there is an accelerator that can be used."""
    return torch.cuda.is_available()


def current_accelerator(check_available: bool = False) -> torch.device | None:
    """The accelerator's device, or None without one."""
    return torch.device("cuda") if torch.cuda.is_available() else None


def device_count() -> int:
    """How many accelerators there are."""
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def synchronize(device: torch.device | str | int | None = None) -> None:
    """Waits for the accelerator. RuntimeError without one."""
    if not torch.cuda.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    torch.cuda.synchronize()
