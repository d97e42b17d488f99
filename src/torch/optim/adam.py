"""Adam, and AdamW with decoupled weight decay."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer, check_not_negative, gradient_of, refuse

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Adam(Optimizer):
    """p -= lr * m / (sqrt(v) + eps), m and v being bias-corrected running means of gradient and squared gradient."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
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
        refuse(type(self).__name__, foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused)
        check_not_negative(lr=lr, eps=eps, weight_decay=weight_decay)
        for number, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {number}: {beta}")
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

    def _new_state(self, parameter: Tensor, amsgrad: bool) -> dict[str, Tensor]:
        state = {
            "step": torch.tensor(0.0, dtype=torch.float32),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
        if amsgrad:
            state["max_exp_avg_sq"] = torch.zeros_like(parameter)
        return state

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        rate, decay, (beta1, beta2) = group["lr"], group["weight_decay"], group["betas"]
        for parameter in parameters:
            gradient = gradient_of(parameter, group["maximize"])
            state = self.state[parameter]
            if not state:
                state.update(self._new_state(parameter, group["amsgrad"]))
            state["step"] += 1
            step = state["step"].item()
            if decay != 0 and group["decoupled_weight_decay"]:
                parameter.mul_(1 - rate * decay)
            elif decay != 0:
                gradient = gradient.add(parameter, alpha=decay)
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            mean.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            if group["amsgrad"]:
                largest = state["max_exp_avg_sq"]
                torch.maximum(largest, square, out=largest)
                square = largest
            denominator = (square.sqrt() / sqrt(1 - beta2**step)).add_(group["eps"])
            parameter.addcdiv_(mean, denominator, value=-(rate / (1 - beta1**step)))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly, p *= 1 - lr * weight_decay."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
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
