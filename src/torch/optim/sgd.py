"""Stochastic gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch._C._nn import _sgd_step
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_scaled, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class SGD(ElementwiseOptimizer):
    """p -= lr * v with v = momentum * v + (1 - dampening) * (grad + weight_decay * p), or Nesterov's form of it."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
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

    _takes_sparse = True

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {}

    def _step_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        velocity = state.get("momentum_buffer") if group["momentum"] != 0 else None
        if (
            group["differentiable"]
            or parameter.is_complex()
            or (velocity is None and group["momentum"] != 0)
            or not _sgd_step(
                parameter,
                gradient,
                velocity,
                number(group["lr"]),
                number(group["momentum"]),
                group.get("dampening", 0),
                bool(group.get("nesterov")),
                number(group.get("weight_decay", 0)),
                bool(group.get("maximize")),
                bool(group.get("fused")),
            )
        ):
            super()._step_parameter(group, parameter, gradient, state)

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        momentum = group["momentum"]
        if momentum != 0:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = gradient.clone() if group["differentiable"] else gradient.detach().clone()
                state["momentum_buffer"] = velocity
            else:
                velocity.mul_(momentum).add_(gradient, alpha=1 - group["dampening"])
            gradient = gradient.add(velocity, alpha=momentum) if group["nesterov"] else velocity
        add_scaled(parameter, gradient, -number(group["lr"]))


sgd = functional(SGD, "sgd", "momentum_buffer")
