"""Adam with the largest gradient in place of the mean of squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_ratio, new_step, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Adamax(ElementwiseOptimizer):
    """p -= lr * m / u, m being the bias-corrected mean of gradients, u = max(beta2 * u, |grad| + eps)."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_step(),
            "exp_avg": torch.zeros_like(parameter),
            "exp_inf": torch.zeros_like(parameter),
        }

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(gradient, 1 - beta1)
        size = gradient.abs().add_(group["eps"])
        if group["differentiable"]:
            largest.copy_(torch.maximum(largest * beta2, size))
            mean, largest = mean.clone(), largest.clone()
        else:
            torch.maximum(largest.mul_(beta2), size, out=largest)
        add_ratio(parameter, mean, largest, -number(group["lr"]) / (1 - beta1 ** state["step"].item()))


adamax = functional(Adamax, "adamax", "exp_avg exp_inf step")
