"""RMSprop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer, check_not_negative, gradient_of, refuse

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class RMSprop(Optimizer):
    """p -= lr * grad / (sqrt(v) + eps), v being a running mean of the squared gradient (centered: of its variance)."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-2,
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
        refuse("RMSprop", capturable=capturable, foreach=foreach, differentiable=differentiable)
        check_not_negative(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
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

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        rate, alpha = group["lr"], group["alpha"]
        for parameter in parameters:
            gradient = gradient_of(parameter, group["maximize"])
            state = self.state[parameter]
            if not state:
                state["step"] = torch.tensor(0.0, dtype=torch.float32)
                state["square_avg"] = torch.zeros_like(parameter)
                if group["momentum"] > 0:
                    state["momentum_buffer"] = torch.zeros_like(parameter)
                if group["centered"]:
                    state["grad_avg"] = torch.zeros_like(parameter)
            state["step"] += 1
            if group["weight_decay"] != 0:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
            square = state["square_avg"]
            square.mul_(alpha).addcmul_(gradient, gradient, value=1 - alpha)
            if group["centered"]:
                mean = state["grad_avg"]
                mean.lerp_(gradient, 1 - alpha)
                root = square.addcmul(mean, mean, value=-1).sqrt_()
            else:
                root = square.sqrt()
            root = root.add_(group["eps"])
            if group["momentum"] > 0:
                velocity = state["momentum_buffer"]
                velocity.mul_(group["momentum"]).addcdiv_(gradient, root)
                parameter.add_(velocity, alpha=-rate)
            else:
                parameter.addcdiv_(gradient, root, value=-rate)
