"""RMSprop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_eps, add_ratio, add_scaled, decay_squares, new_step, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class RMSprop(ElementwiseOptimizer):
    """p -= lr * grad / (sqrt(v) + eps), v being a running mean of the squared gradient (centered: of its variance)."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {"step": new_step(), "square_avg": torch.zeros_like(parameter)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = torch.zeros_like(parameter)
        if group["centered"]:
            state["grad_avg"] = torch.zeros_like(parameter)
        return state

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        alpha, square = group["alpha"], state["square_avg"]
        decay_squares(square, gradient, alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(gradient, 1 - alpha)
            if group["differentiable"]:
                mean = mean.clone()
            root = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square.sqrt()
        root = add_eps(root, group)
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            velocity.mul_(group["momentum"]).addcdiv_(gradient, root)
            add_scaled(parameter, velocity, -number(group["lr"]))
        else:
            add_ratio(parameter, gradient, root, -number(group["lr"]))


rmsprop = functional(RMSprop, "rmsprop", "square_avg grad_avg momentum_buffer step")
