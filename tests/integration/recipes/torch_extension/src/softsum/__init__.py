"""Sums of softplus, computed by libtorch in C++."""

from __future__ import annotations

import torch
from softsum import _softsum


def softsum(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """``sum(log(1 + exp(values)))`` of a float32 vector, and its gradient: a scalar, and a vector of the same size."""
    if values.dim() != 1 or values.dtype != torch.float32:
        raise ValueError(f"softsum: expected a float32 vector, got {values.dtype} of size {tuple(values.shape)}")
    total, gradient = _softsum.softsum(values.tolist())
    return torch.tensor(total), torch.tensor(gradient)
