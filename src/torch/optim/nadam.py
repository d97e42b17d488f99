"""Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_eps, add_ratio, decay_squares, new_step, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class NAdam(ElementwiseOptimizer):
    """Adam whose mean of gradients looks one step ahead, with a momentum that grows by `momentum_decay`."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_step(),
            "mu_product": torch.ones((), dtype=new_step().dtype),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        (beta1, beta2), rate, step = map(number, group["betas"]), number(group["lr"]), state["step"].item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        momentum = beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        following = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        state["mu_product"] *= momentum
        product = state["mu_product"].item()
        mean.lerp_(gradient, 1 - beta1)
        decay_squares(square, gradient, beta2)
        denominator = add_eps(square.div(1 - beta2**step).sqrt(), group)
        if group["differentiable"]:
            mean = mean.clone()
        add_ratio(parameter, gradient, denominator, -rate * (1.0 - momentum) / (1.0 - product))
        add_ratio(parameter, mean, denominator, -rate * following / (1.0 - product * following))


nadam = functional(NAdam, "nadam", "exp_avg exp_avg_sq mu_product step")
