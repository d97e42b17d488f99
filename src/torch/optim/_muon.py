"""Muon: momentum, made orthogonal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim.optimizer import Parameters


class Muon(Optimizer):
    """For matrices: p -= lr * O, O being the momentum with all singular values brought near 1 (Newton-Schulz)."""

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        if ns_steps >= 100 or len(ns_coefficients) != 3:
            raise ValueError(f"Muon needs ns_steps < 100 and 3 ns_coefficients, got {ns_steps} and {ns_coefficients}")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.size()}"
                    )

    def _update(self, group: dict[str, Any], parameters: list[Tensor]) -> None:
        rate, momentum = float(group["lr"]), group["momentum"]
        for parameter in parameters:
            gradient = parameter.grad
            assert gradient is not None, "step() hands over parameters with gradients only"
            if parameter.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(gradient)
            mean = state["momentum_buffer"]
            mean.lerp_(gradient, 1 - momentum)
            direction = gradient.lerp(mean, momentum) if group["nesterov"] else mean
            direction = _orthogonal(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
            rows, columns = parameter.shape
            factor = max(1, rows / columns) ** 0.5
            if group["adjust_lr_fn"] == "match_rms_adamw":
                factor = 0.2 * max(rows, columns) ** 0.5
            parameter.mul_(1 - rate * group["weight_decay"])
            parameter.add_(direction, alpha=-rate * factor)


def _orthogonal(matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A bfloat16 matrix of the same singular vectors, whose singular values are near 1."""
    a, b, c = coefficients
    tall = matrix.size(0) > matrix.size(1)
    result = matrix.bfloat16()
    result = result.t() if tall else result
    result = result.div(result.norm().clamp(min=eps))
    for _ in range(steps):
        gram = result @ result.t()
        update = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        result = torch.addmm(result, update, result, beta=a)
    return result.t() if tall else result
