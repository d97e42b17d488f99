"""Averages of a model's parameters over training (SWA, EMA), and the schedule that goes with them."""

from __future__ import annotations

import math
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import Module
from torch.optim.lr_scheduler import LRScheduler, format_per_group
from torch.utils._foreach_utils import (
    _group_tensors_by_device_and_dtype as _group_tensors_by_device_and_dtype,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from torch import Tensor
    from torch.optim.optimizer import Optimizer

    Average = Callable[[Tensor, Tensor, Any], Tensor]
    AverageOfAll = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A function of (average, current, count) that gives `decay * average + (1 - decay) * current`."""
    _check_decay(decay)

    @torch.no_grad()
    def average(averaged: Tensor, current: Tensor, count: Any) -> Tensor:
        return decay * averaged + (1 - decay) * current

    return average


def get_swa_avg_fn() -> Average:
    """A function of (average of `count`, current, count) that gives the average of `count + 1`."""

    @torch.no_grad()
    def average(averaged: Tensor, current: Tensor, count: Any) -> Tensor:
        return averaged + (current - averaged) / (count + 1)

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageOfAll:
    """`get_ema_avg_fn` for lists of tensors, in place."""
    _check_decay(decay)

    @torch.no_grad()
    def average(averaged: Sequence[Tensor], current: Sequence[Tensor], count: Any) -> None:
        for mean, value in zip(averaged, current, strict=True):
            if mean.is_floating_point() or mean.is_complex():
                mean.lerp_(value, 1 - decay)
            else:
                mean.copy_(mean * decay + value * (1 - decay))

    return average


def get_swa_multi_avg_fn() -> AverageOfAll:
    """`get_swa_avg_fn` for lists of tensors, in place."""

    @torch.no_grad()
    def average(averaged: Sequence[Tensor], current: Sequence[Tensor], count: Any) -> None:
        for mean, value in zip(averaged, current, strict=True):
            if mean.is_floating_point() or mean.is_complex():
                mean.lerp_(value, float(1 / (count + 1)))
            else:
                mean.add_((value - mean) / (count + 1))

    return average


class AveragedModel(Module):
    """A copy of `model` whose parameters are averages of those that `update_parameters(model)` was called with.

    `avg_fn` (of one tensor) or `multi_avg_fn` (of lists, in place) say which average; the default is the plain mean.
    `use_buffers` averages buffers, too; otherwise they are copied. `n_averaged` counts.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: torch.device | int | str | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: AverageOfAll | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model computes."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Takes the parameters of `model` into the average."""
        if self.use_buffers:
            own: list[Tensor] = [*self.module.parameters(), *self.module.buffers()]
            new: Iterable[Tensor] = chain(model.parameters(), model.buffers())
        else:
            own, new = list(self.parameters()), model.parameters()
        averaged = [tensor.detach() for tensor in own]
        current = [value.detach().to(mean.device) for mean, value in zip(averaged, new, strict=False)]
        if int(self.n_averaged) == 0:
            for mean, value in zip(averaged, current, strict=True):
                mean.copy_(value)
        elif self.avg_fn is not None:
            for mean, value in zip(averaged, current, strict=True):
                mean.copy_(self.avg_fn(mean, value, self.n_averaged.to(mean.device)))
        else:
            multi_avg_fn = self.multi_avg_fn or get_swa_multi_avg_fn()
            kinds: dict[Any, tuple[list[Tensor], list[Tensor]]] = {}
            for mean, value in zip(averaged, current, strict=True):
                means, values = kinds.setdefault((mean.device, mean.dtype), ([], []))
                means.append(mean)
                values.append(value)
            for (device, _), (means, values) in kinds.items():
                if self.multi_avg_fn is None and device.type == "cpu":
                    # PyTorch's own lists are for accelerators: on the CPU it computes the mean by division.
                    mean_of = get_swa_avg_fn()
                    for mean, value in zip(means, values, strict=True):
                        mean.copy_(mean_of(mean, value, self.n_averaged.to(device)))
                else:
                    multi_avg_fn(means, values, self.n_averaged.to(device))
        if not self.use_buffers:
            for mean, value in zip(self.module.buffers(), model.buffers(), strict=True):
                mean.detach().copy_(value.detach().to(mean.device))
        self.n_averaged += 1


@torch.no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: torch.device | int | str | None = None) -> None:
    """Computes the statistics of batch normalisations anew, as means over the batches of `loader`."""
    from torch.nn.modules.batchnorm import _BatchNorm

    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        values = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(values if device is None else values.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rate where it starts to `swa_lr` within `anneal_epochs`, by "cos" or "linear"; then constant."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(format_per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How far the rate is after a part `t` of the epochs."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before = self.anneal_func(max(0, min(1, (step - 1) / max(1, self.anneal_epochs))))
        now = self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))
        rates = []
        for group in self.optimizer.param_groups:
            final = group["swa_lr"]
            first = final if before == 1 else (group["lr"] - before * final) / (1 - before)
            rates.append(final * now + first * (1 - now))
        return rates
