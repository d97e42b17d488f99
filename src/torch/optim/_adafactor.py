"""Adafactor: Adam's memory for matrices reduced to a row and a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import ElementwiseOptimizer, Optimizer, check_not_negative, new_step

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Adafactor(ElementwiseOptimizer):
    """p -= a * u / max(1, rms(u) / d), u being grad / sqrt(v), and v of a matrix a product of row and column means."""

    _adds_decay = False

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if beta2_decay > 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        check_not_negative(lr=lr, weight_decay=weight_decay)
        options = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay}
        Optimizer.__init__(self, params, {**options, "foreach": foreach, "maximize": maximize})

    _takes_complex = False

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        if parameter.dim() <= 1:
            return {"step": new_step(), "variance": torch.zeros_like(parameter)}
        *batch, rows, columns = parameter.shape
        assert parameter.grad is not None
        return {
            "step": new_step(),
            "row_var": parameter.grad.new_zeros([*batch, rows, 1]),
            "col_var": parameter.grad.new_zeros([*batch, 1, columns]),
        }

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        smallest, relative = group["eps"]
        if smallest is None:
            smallest = torch.finfo(parameter.dtype).eps
        step, rate = state["step"].item(), float(group["lr"])
        weight = step ** group["beta2_decay"]
        change = max(relative, parameter.norm(2).item() / parameter.numel() ** 0.5) * min(rate, 1 / step**0.5)
        if group["weight_decay"] != 0:
            parameter.mul_(1 - rate * group["weight_decay"])
        if gradient.dim() > 1:
            row, column = state["row_var"], state["col_var"]
            row.lerp_(gradient.norm(2, -1, True).pow_(2).div_(gradient.size(-1)), weight)
            column.lerp_(gradient.norm(2, -2, True).pow_(2).div_(gradient.size(-2)), weight)
            estimate = (row @ column).div_(row.mean(-2, keepdim=True).clamp_(min=smallest))
        else:
            state["variance"].lerp_(gradient * gradient, weight)
            estimate = state["variance"].clone()
        update = estimate.clamp_(min=smallest * smallest).rsqrt_().mul_(gradient)
        size = update.norm(2).item() / (update.numel() ** 0.5 * group["d"])
        parameter.add_(update, alpha=-change / max(1.0, size))
