"""Resilient backpropagation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, new_step

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Rprop(ElementwiseOptimizer):
    """p -= sign(grad) * s, s of each element growing while the sign stays, and shrinking when it changes."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_step(),
            "prev": torch.zeros_like(parameter),
            "step_size": torch.full_like(parameter, float(group["lr"])).detach(),
        }

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        (shrink, grow), (smallest, largest) = group["etas"], group["step_sizes"]
        before, size = state["prev"], state["step_size"]
        same = gradient.mul(before.clone() if group["differentiable"] else before).sign()
        factor = torch.ones_like(same).masked_fill_(same > 0, grow).masked_fill_(same < 0, shrink)
        size.mul_(factor).clamp_(smallest, largest)
        gradient = gradient.masked_fill(same < 0, 0)
        parameter.addcmul_(gradient.sign(), size.clone() if group["differentiable"] else size, value=-1)
        before.copy_(gradient)


rprop = functional(Rprop, "rprop", "prev step_size step")
