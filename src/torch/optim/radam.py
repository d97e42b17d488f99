"""Adam whose adaptive rate begins when its variance is known well enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_eps, decay_squares, new_step, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class RAdam(ElementwiseOptimizer):
    """Adam with a rectified rate: plain momentum in the first steps, in which the mean of squares says little."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_step(),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        (beta1, beta2), rate, step = map(number, group["betas"]), number(group["lr"]), state["step"].item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(gradient, 1 - beta1)
        decay_squares(square, gradient, beta2)
        corrected, correction = mean / (1 - beta1**step), 1 - beta2**step
        longest = 2 / (1 - beta2) - 1  # of the average of squares, in steps
        length = longest - 2 * step * beta2**step / correction
        if length <= 5.0:
            parameter.add_(corrected * rate, alpha=-1.0)
            return
        known = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        adaptive = correction**0.5 / add_eps(square.sqrt(), group)
        parameter.add_(corrected * rate * adaptive * known**0.5, alpha=-1.0)


radam = functional(RAdam, "radam", "exp_avg exp_avg_sq step")
