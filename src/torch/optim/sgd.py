"""Stochastic gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.optim.optimizer import Optimizer, check_not_negative, gradient_of, refuse

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class SGD(Optimizer):
    """p -= lr * v with v = momentum * v + (1 - dampening) * (grad + weight_decay * p), or Nesterov's form of it."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        refuse("SGD", foreach=foreach, differentiable=differentiable, fused=fused)
        check_not_negative(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        momentum = group["momentum"]
        for parameter in parameters:
            gradient = gradient_of(parameter, group["maximize"])
            if group["weight_decay"] != 0:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
            if momentum != 0:
                state = self.state[parameter]
                velocity = state.get("momentum_buffer")
                if velocity is None:
                    velocity = state["momentum_buffer"] = gradient.detach().clone()
                else:
                    velocity.mul_(momentum).add_(gradient, alpha=1 - group["dampening"])
                gradient = gradient.add(velocity, alpha=momentum) if group["nesterov"] else velocity
            parameter.add_(gradient, alpha=-group["lr"])
