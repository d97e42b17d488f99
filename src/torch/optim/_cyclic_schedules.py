"""Schedules in which the learning rate goes up and down, and the momentum down and up."""

from __future__ import annotations

import math
import types
from typing import TYPE_CHECKING, Any

from torch.optim._schedule import LRScheduler, _check_optimizer, _set_option, format_per_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.optim.optimizer import Optimizer


def _check_cycled_momentum(optimizer: Optimizer) -> bool:
    """Whether it is the first of `betas` that goes up and down with the rate, and not `momentum`."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def _set_momentum(group: dict[str, Any], use_beta1: bool, value: Any) -> None:
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """Up from `base_lr` to `max_lr` and down again, in straight lines; call `step()` after each batch.

    `mode`: "triangular" keeps the height, "triangular2" halves it each cycle, "exp_range" takes `gamma ** step`; a
    `scale_fn` of the cycle or step (`scale_mode` "cycle", "iterations") stands in their place.
    """

    __module__ = "torch.optim.lr_scheduler"  # where PyTorch has it

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        _check_optimizer(optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        base_lrs = format_per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups, strict=True):
                _set_option(group, "lr", rate)
        self.max_lrs = format_per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _check_cycled_momentum(optimizer)
            self.base_momentums = format_per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = format_per_group("max_momentum", optimizer, max_momentum)
            if last_epoch == -1:
                momenta = zip(self.max_momentums, self.base_momentums, optimizer.param_groups, strict=True)
                for highest, lowest, group in momenta:
                    _set_momentum(group, self.use_beta1, highest)
                    group["max_momentum"], group["base_momentum"] = highest, lowest
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of cycle (or, by `scale_mode`, step) `x`, as a part of the first cycle's."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[float]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = place / ratio if place <= ratio else (place - 1) / (ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            momenta = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for lowest, highest, group in momenta:
                _set_momentum(group, self.use_beta1, highest - (highest - lowest) * height * scale)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [lowest + (highest - lowest) * height * scale for lowest, highest in pairs]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer and a function: of an object in its place its attributes."""
        state = super().state_dict()
        function = state.pop("_scale_fn_custom")
        is_object = function is not None and not isinstance(function, types.FunctionType)
        return {**state, "_scale_fn_custom": dict(function.__dict__) if is_object else None}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        state = dict(state_dict)
        saved = state.pop("_scale_fn_custom", None)
        if saved is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(saved)
        super().load_state_dict(state)


def _phase(end: float, rates: tuple[str, str], momenta: tuple[str, str]) -> dict[str, Any]:
    return {
        "end_step": end,
        "start_lr": rates[0],
        "end_lr": rates[1],
        "start_momentum": momenta[0],
        "end_momentum": momenta[1],
    }


class OneCycleLR(LRScheduler):
    """Up to `max_lr` for `pct_start` of `total_steps`, then down to nearly nothing; call `step()` after each batch.

    With `three_phase` down to the first rate as fast as up, and from there to nearly nothing. Momentum (or the first of
    `betas`) goes the other way, unless `cycle_momentum` is False.
    """

    __module__ = "torch.optim.lr_scheduler"  # where PyTorch has it

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        _check_optimizer(optimizer)
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        for name, value in ({"total_steps": total_steps} if total_steps is not None else given).items():
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        self.total_steps: int = total_steps if total_steps is not None else epochs * steps_per_epoch  # type: ignore
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        peak, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        falling, rising, still = ("max", "base"), ("base", "max"), ("max", "max")
        phases: list[tuple[float, tuple[str, str], tuple[str, str]]] = [(peak, ("initial_lr", "max_lr"), falling)]
        if three_phase:
            phases.append((float(2 * pct_start * self.total_steps) - 2, ("max_lr", "initial_lr"), rising))
            phases.append((last, ("initial_lr", "min_lr"), still))
        else:
            phases.append((last, ("max_lr", "min_lr"), rising))
        self._schedule_phases = [
            _phase(end, rates, (f"{start}_momentum", f"{stop}_momentum")) for end, rates, (start, stop) in phases
        ]
        self._anneal_func_type = anneal_strategy
        rates = format_per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _check_cycled_momentum(optimizer)
            highest = format_per_group("max_momentum", optimizer, max_momentum)
            lowest = format_per_group("base_momentum", optimizer, base_momentum)
            if last_epoch == -1:
                for high, low, group in zip(highest, lowest, optimizer.param_groups, strict=True):
                    _set_momentum(group, self.use_beta1, high)
                    group["max_momentum"], group["base_momentum"] = high, low
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, part: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                momentum = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                _set_momentum(group, self.use_beta1, momentum)
        return rates
