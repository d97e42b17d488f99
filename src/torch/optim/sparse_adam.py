"""Adam for gradients that are sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class SparseAdam(Optimizer):
    """Adam that updates only those rows of parameters and means that a sparse gradient holds."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not number(lr) > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for position, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {position}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        beta1, beta2 = group["betas"]
        for parameter in parameters:
            gradient = parameter.grad
            assert gradient is not None, "step() hands over parameters with gradients only"
            if not gradient.is_sparse:
                raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
            state = self.state[parameter]
            if not state:
                state["step"] = 0
                state["exp_avg"] = torch.zeros_like(parameter)
                state["exp_avg_sq"] = torch.zeros_like(parameter)
            state["step"] += 1
            gradient = gradient.coalesce()
            where, values = tuple(gradient.indices()), gradient.values()
            if values.numel() == 0:
                continue
            values = -values if group["maximize"] else values
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            mean[where] = mean[where].lerp(values, 1 - beta1)
            square[where] = square[where].lerp(values.square(), 1 - beta2)
            rate = number(group["lr"]) * (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
            parameter[where] -= rate * mean[where] / square[where].sqrt().add_(group["eps"])
