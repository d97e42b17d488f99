"""Gradient clipping, and all parameters as one vector."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

__all__ = ["clip_grad_norm_", "clip_grad_value_", "get_total_norm", "parameters_to_vector", "vector_to_parameters"]


def _as_list(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)


def _refuse_foreach(name: str, foreach: bool | None) -> None:
    if foreach:
        raise NotImplementedError(f"{name}(foreach=True) is not supported: leave it out, the result is the same")


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors as one vector; 0. without tensors."""
    _refuse_foreach("get_total_norm", foreach)
    values = _as_list(tensors)
    if not values:
        return torch.tensor(0.0)
    norms = torch.stack([torch.norm(value, norm_type).to(values[0].device) for value in values])
    total = torch.norm(norms, norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@torch.no_grad()  # type: ignore[untyped-decorator]
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales the gradients in place so that their norm as one vector is at most `max_norm`; returns the norm before."""
    _refuse_foreach("clip_grad_norm_", foreach)
    gradients = [parameter.grad for parameter in _as_list(parameters) if parameter.grad is not None]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    # The quotient is clamped rather than compared, which would wait for the device.
    factor = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor.to(gradient.device))
    return total


@torch.no_grad()  # type: ignore[untyped-decorator]
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Holds every element of the gradients between -clip_value and clip_value, in place."""
    _refuse_foreach("clip_grad_value_", foreach)
    for parameter in _as_list(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of all parameters in one 1-d tensor."""
    return torch.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Lets the parameters' data be consecutive parts of `vec`."""
    if not isinstance(vec, torch.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end
