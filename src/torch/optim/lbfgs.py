"""L-BFGS, with or without a line search for the strong Wolfe conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor
    from torch.optim.optimizer import Parameters


class LBFGS(Optimizer):
    """Newton's method with a Hessian remembered from the last `history_size` steps; takes one parameter group.

    `step(closure)` calls `closure`, which computes loss and gradients, several times: up to `max_iter` iterations,
    each with one call, or as many as the line search ("strong_wolfe") needs, and at most `max_eval` in all.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if not number(lr) >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    def _flat_gradient(self) -> Tensor:
        parts = []
        for parameter in self._params:
            gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            gradient = gradient.to_dense() if gradient.is_sparse else gradient
            parts.append(_real(gradient).reshape(-1))
        return torch.cat(parts, 0)

    def _move(self, size: Any, direction: Tensor) -> None:
        offset = 0
        for parameter in map(_real, self._params):
            count = parameter.numel()
            parameter.add_(direction[offset : offset + count].view_as(parameter), alpha=number(size))
            offset += count

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimizes what `closure` computes, and returns its value before."""
        closure = torch.enable_grad()(closure)
        group = self.param_groups[0]
        rate, search = number(group["lr"]), group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]  # of the first parameter, so that it is cast like any other
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, evaluations = float(first_loss), 1
        state["func_evals"] += 1
        gradient = self._flat_gradient()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._find_direction(state, gradient, group["history_size"])
            before = loss
            size = min(1.0, 1.0 / gradient.abs().sum()) * rate if state["n_iter"] == 1 else rate
            slope = gradient.dot(direction)
            state.update(d=direction, t=size, prev_flat_grad=gradient.clone(), prev_loss=before)
            if slope > -group["tolerance_change"]:
                break
            used, flat = 0, False
            if search is not None:
                start = [parameter.clone() for parameter in self._params]
                here, left = (loss, gradient, slope), group["max_eval"] - evaluations
                evaluate = self._evaluation(closure, start, direction)
                found, used = search_strong_wolfe(evaluate, size, direction, here, steps=left)
                size, loss, gradient = found.size, found.loss, found.gradient
                state["t"] = size
                self._move(size, direction)
                flat = bool(gradient.abs().max() <= group["tolerance_grad"])
            else:
                self._move(size, direction)
                if iteration != group["max_iter"]:
                    loss, used = float(closure()), 1
                    gradient = self._flat_gradient()
                    flat = bool(gradient.abs().max() <= group["tolerance_grad"])
            evaluations += used
            state["func_evals"] += used
            still = direction.mul(size).abs().max() <= group["tolerance_change"]
            if evaluations >= group["max_eval"] or flat or still or abs(loss - before) < group["tolerance_change"]:
                break
        return first_loss

    def _find_direction(self, state: dict[str, Any], gradient: Tensor, history_size: int) -> Tensor:
        """Minus the gradient times the inverse Hessian that the last steps tell."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return gradient.neg()
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change = gradient.sub(state["prev_flat_grad"])
        step = state["d"].mul(state["t"])
        curvature = change.dot(step)
        if curvature > 1e-10:
            if len(changes) == history_size:
                for remembered in (changes, steps, inverses):
                    remembered.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        weights: list[Any] = [None] * len(changes)
        direction = gradient.neg()
        for index in reversed(range(len(changes))):
            weights[index] = steps[index].dot(direction) * inverses[index]
            direction.add_(changes[index], alpha=-number(weights[index]))
        direction = torch.mul(direction, state["H_diag"])
        for index in range(len(changes)):
            weight = weights[index] - changes[index].dot(direction) * inverses[index]
            direction.add_(steps[index], alpha=number(weight))
        state["al"] = [*weights, *[None] * (history_size - len(weights))]
        return direction

    def _evaluation(
        self, closure: Callable[[], Any], start: list[Tensor], direction: Tensor
    ) -> Callable[[Any], tuple[float, Tensor]]:
        """Loss and gradient as a function of the size of a step from `start`."""

        def evaluate(size: Any) -> tuple[float, Tensor]:
            self._move(size, direction)
            loss = float(closure())
            gradient = self._flat_gradient()
            for parameter, value in zip(self._params, start, strict=True):
                parameter.copy_(value)
            return loss, gradient

        return evaluate


def _real(tensor: Tensor) -> Tensor:
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


@dataclass
class _Point:
    """A size of step that was tried: loss, gradient, and the slope along the step's direction there."""

    size: Any
    loss: float
    gradient: Tensor
    slope: Any


def _lowest_of_cubic(one: _Point, other: _Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through both points with their slopes is lowest, within `bounds` (default: between them)."""
    left, right = (one, other) if one.size <= other.size else (other, one)
    lowest, highest = bounds or (left.size, right.size)
    middle = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.size - other.size)
    square = middle**2 - one.slope * other.slope
    if square < 0:
        return (lowest + highest) / 2.0
    root = square.sqrt()
    part = (right.slope + root - middle) / (right.slope - left.slope + 2 * root)
    return min(max(right.size - (right.size - left.size) * part, lowest), highest)


def search_strong_wolfe(
    evaluate: Callable[[Any], tuple[float, Tensor]],
    size: Any,
    direction: Tensor,
    here: tuple[float, Tensor, Any],
    *,
    decrease: float = 1e-4,
    curvature: float = 0.9,
    tolerance: float = 1e-9,
    steps: int = 25,
) -> tuple[_Point, int]:
    """The point along a direction that satisfies the strong Wolfe conditions, or the best; and how many were tried.

    `here`: loss, gradient and slope at size 0. `evaluate(size)` gives loss and gradient.
    """
    loss, gradient, slope = here
    length = direction.abs().max()

    def look(at: Any) -> _Point:
        new_loss, new_gradient = evaluate(at)
        return _Point(at, new_loss, new_gradient.clone(), new_gradient.dot(direction))

    start = before = _Point(0, loss, gradient.clone(), slope)
    point, tried, count = look(size), 1, 0
    bracket: list[_Point] = []
    while count < steps:  # outwards, until two points stand on both sides
        if point.loss > loss + decrease * point.size * slope or (count > 1 and point.loss >= before.loss):
            bracket = [before, point]
            break
        if abs(point.slope) <= -curvature * slope:
            return point, tried
        if point.slope >= 0:
            bracket = [before, point]
            break
        bounds = (point.size + 0.01 * (point.size - before.size), point.size * 10)
        following = _lowest_of_cubic(before, point, bounds)
        before, point = point, look(following)
        tried, count = tried + 1, count + 1
    else:
        bracket = [start, point]
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    stuck = False
    while count < steps:  # inwards
        sizes = (bracket[0].size, bracket[1].size)
        if abs(sizes[1] - sizes[0]) * length < tolerance:
            break
        following = _lowest_of_cubic(*bracket)
        margin = 0.1 * (max(sizes) - min(sizes))
        if min(max(sizes) - following, following - min(sizes)) < margin:
            if stuck or following >= max(sizes) or following <= min(sizes):
                near_end = abs(following - max(sizes)) < abs(following - min(sizes))
                following = max(sizes) - margin if near_end else min(sizes) + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        point = look(following)
        tried, count = tried + 1, count + 1
        if point.loss > loss + decrease * point.size * slope or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        if abs(point.slope) <= -curvature * slope:
            bracket[low] = point
            break
        if point.slope * (bracket[high].size - bracket[low].size) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
    return bracket[low], tried
