"""A module on several devices."""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["replicate"]


def replicate(network: Any, devices: Any, detach: bool = False) -> list[Any]:
    """A replica of the module on each device; NotImplementedError unless all are the device on which it is."""
    if any(torch.device(device).type != "cpu" for device in devices):
        raise NotImplementedError("replicate over several devices is not supported: run one process for each")
    return [network for _ in devices]
