"""Random numbers of the gamma distribution, from which others are made: Marsaglia and Tsang's method.

Numbers are drawn here, one by one, with PyTorch's results; gradients through them need operators that the core has not
(`_standard_gamma_grad`, `_dirichlet_grad`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.function import Function, once_differentiable

if TYPE_CHECKING:
    from torch import Tensor

_THIRD = torch.tensor(1.0).div(3.0).item()  # PyTorch's constant has the precision of float32


class _Gamma(Function):
    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        return _draw(concentration, concentration.dtype).clamp(min=torch.finfo(concentration.dtype).tiny)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        raise NotImplementedError("the gradient of gamma samples needs the operator _standard_gamma_grad: use sample()")


class _Dirichlet(Function):
    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        if hasattr(torch, "_sample_dirichlet"):
            value = torch._sample_dirichlet(concentration)
        else:
            gammas = _draw(concentration, torch.float64)
            info = torch.finfo(concentration.dtype)
            largest = 1 - info.eps / 2
            value = (gammas / gammas.sum(-1, True)).clamp(min=info.tiny, max=largest).to(concentration.dtype)
        ctx.save_for_backward(value, concentration)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        value, concentration = ctx.saved_tensors
        if not hasattr(torch, "_dirichlet_grad"):
            raise NotImplementedError("the gradient of Dirichlet samples needs operator _dirichlet_grad: use sample()")
        total = concentration.sum(-1, True).expand_as(concentration)
        gradient: Tensor = torch._dirichlet_grad(value, concentration, total)
        return gradient * (grad_output - (value * grad_output).sum(-1, True))


def standard_gamma(concentration: Tensor) -> Tensor:
    """Gamma numbers of rate 1, one for each element of `concentration`."""
    return _Gamma.apply(concentration)  # type: ignore[no-any-return]


def sample_dirichlet(concentration: Tensor) -> Tensor:
    """Dirichlet vectors, one for each row of `concentration`."""
    return _Dirichlet.apply(concentration)  # type: ignore[no-any-return]


def _draw(concentration: Tensor, dtype: torch.dtype) -> Tensor:
    alphas = concentration.detach().to(dtype)
    small = alphas < 1
    raised = torch.where(small, alphas + 1.0, alphas)
    shifted = (raised - _THIRD).double().reshape(-1).tolist()
    powers = torch.where(small, 1.0 / alphas, torch.zeros_like(alphas)).double().reshape(-1).tolist()
    drawn = [_draw_one(d, power) for d, power in zip(shifted, powers, strict=True)]
    return torch.tensor(drawn, dtype=torch.float64).reshape(concentration.shape).to(dtype)


def _draw_one(d: float, power: float) -> float:
    """A gamma number of shape d + 1/3, times a uniform one to `power`."""
    if math.isinf(power):
        return 0.0
    noise = torch.empty((), dtype=torch.float64)
    scale = (1 - noise.uniform_().item()) ** power if power else 1.0
    c = 1.0 / math.sqrt(9 * d)
    while True:
        x = noise.normal_().item()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - noise.uniform_().item()
        square = x * x
        if u < 1.0 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v
