"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, new_step

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class ASGD(ElementwiseOptimizer):
    """SGD with a falling rate; `state[p]["ax"]` is the mean of the parameters since step `t0`."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        dtype = new_step().dtype
        return {
            "step": new_step(),
            "eta": torch.tensor(float(group["lr"]), dtype=dtype),
            "mu": torch.ones((), dtype=dtype),
            "ax": torch.zeros_like(parameter),
        }

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        rate, decay, mean = state["eta"].item(), group["lambd"], state["ax"]
        parameter.mul_(1 - decay * rate)
        parameter.add_(gradient, alpha=-rate)
        if state["mu"].item() == 1:
            mean.copy_(parameter)
        else:
            mean.add_(parameter.sub(mean).mul_(state["mu"].item()))
        step, first = state["step"].item(), float(group["lr"])
        state["eta"].fill_(first / (1 + decay * first * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))


asgd = functional(ASGD, "asgd", "ax mu eta step")
