"""Whether CUDA's mixed precision can be used."""

from __future__ import annotations

import torch

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no CUDA device."""
    return not torch.cuda.is_available()
