"""Adagrad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim._functional import functional
from torch.optim.optimizer import ElementwiseOptimizer, add_eps, add_ratio, new_step, number

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Adagrad(ElementwiseOptimizer):
    """p -= lr / (1 + (step - 1) * lr_decay) * grad / (sqrt(s) + eps), s being the sum of all squared gradients."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(f"Invalid initial_accumulator_value value: {initial_accumulator_value}")
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter] = self._first_state(parameter, group)

    _takes_sparse = True

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        start = group["initial_accumulator_value"]
        return {"step": new_step(), "sum": torch.full_like(parameter, start).detach()}

    def share_memory(self) -> None:
        """Moves the sums of squares into shared memory, so that processes can train together."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _update_parameter(
        self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        squares = state["sum"]
        rate = number(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        if gradient.is_sparse:  # then so are the steps: other rows stay as they are
            gradient = gradient.coalesce()
            squares.add_(gradient.pow(2))
            roots = squares.sparse_mask(gradient)._values().sqrt_().add_(group["eps"])
            steps = torch.sparse_coo_tensor(gradient.indices(), gradient.values() / roots, gradient.shape)
            parameter.add_(steps, alpha=-rate)
            return
        squares.addcmul_(gradient, gradient, value=1)
        root = add_eps(squares.sqrt(), group)
        add_ratio(parameter, gradient, root, -rate)


adagrad = functional(Adagrad, "adagrad", "sum step")
