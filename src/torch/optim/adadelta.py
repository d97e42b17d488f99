"""Adadelta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_scaled, decay_squares, new_step, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Adadelta(ElementwiseOptimizer):
    """p -= lr * d with d = grad * sqrt(u + eps) / sqrt(v + eps), v and u being means of grad squared and d squared."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_step(),
            "square_avg": torch.zeros_like(parameter),
            "acc_delta": torch.zeros_like(parameter),
        }

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        rho, eps, square, moved = group["rho"], group["eps"], state["square_avg"], state["acc_delta"]
        decay_squares(square, gradient, rho)
        root = square.add(eps).sqrt_()
        change = moved.add(eps).sqrt_()
        if group["differentiable"]:
            change = change.clone()
        change.div_(root).mul_(gradient)
        decay_squares(moved, change, rho)
        add_scaled(parameter, change, -number(group["lr"]))


adadelta = functional(Adadelta, "adadelta", "square_avg acc_delta step")
