"""Adam, and AdamW with decoupled weight decay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._C._nn import _adam_step
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_ratio, decay_squares, new_step, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Adam(ElementwiseOptimizer):
    """p -= lr * m / (sqrt(v) + eps), m and v being bias-corrected running means of gradient and squared gradient."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {
            "step": new_step(),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(parameter)
        return state

    def _step_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        beta1, beta2 = (number(beta) for beta in group["betas"])
        step = state["step"]
        if (
            group["differentiable"]
            or parameter.is_complex()
            or not _adam_step(
                parameter,
                gradient,
                state["exp_avg"],
                state["exp_avg_sq"],
                state["max_exp_avg_sq"] if group["amsgrad"] else None,
                number(group["lr"]),
                beta1,
                beta2,
                group["eps"],
                number(group.get("weight_decay", 0)),
                bool(group.get("decoupled_weight_decay")),
                bool(group.get("maximize")),
                step.item() + 1,
                bool(group.get("fused")),
            )
        ):
            super()._step_parameter(group, parameter, gradient, state)
        else:
            step += 1

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        beta1, beta2 = (number(beta) for beta in group["betas"])
        step, mean, square = state["step"].item(), state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(gradient, 1 - beta1)
        decay_squares(square, gradient, beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            if group["differentiable"]:
                largest = state["max_exp_avg_sq"] = torch.maximum(largest, square.clone())
            else:
                torch.maximum(largest, square, out=largest)
            square = largest
        denominator = (square.sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
        if group["differentiable"]:
            mean = mean.clone()
        add_ratio(parameter, mean, denominator, -(number(group["lr"]) / (1 - beta1**step)))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly, p *= 1 - lr * weight_decay."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def _complete_groups(self) -> None:
        super()._complete_groups()
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


adam = functional(Adam, "adam", "exp_avg exp_avg_sq max_exp_avg_sq step")
