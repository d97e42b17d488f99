"""Gradients held within bounds."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _as_list(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors as one vector; 0. without tensors. `foreach`: taken, the result is the same."""
    values = _as_list(tensors)
    if not values:
        return torch.tensor(0.0)
    norm_type, device = float(norm_type), values[0].device  # programs also write "inf"
    norms = [(torch.norm if value.is_sparse else torch.linalg.vector_norm)(value, norm_type) for value in values]
    total = torch.norm(torch.stack([norm if norm.device == device else norm.to(device) for norm in norms]), norm_type)
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
    if isinstance(parameters, torch.Tensor):
        parameters = [parameters]
    else:
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=3)
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


@torch.no_grad()  # type: ignore[untyped-decorator]
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales the gradients in place by `max_norm / total_norm`, where that is below 1."""
    # The quotient is clamped rather than compared, which would wait for the device.
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for parameter in _as_list(parameters):
        gradient = parameter.grad
        if gradient is not None:
            gradient.mul_(factor if gradient.device == factor.device else factor.to(gradient.device))


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """`clip_grad_norm_`, by an older name, with a warning."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)  # type: ignore[no-any-return]


@torch.no_grad()  # type: ignore[untyped-decorator]
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Holds every element of the gradients between -clip_value and clip_value, in place."""
    for parameter in _as_list(parameters):
        if parameter.grad is not None:
            parameter.grad.clamp_(-float(clip_value), float(clip_value))
