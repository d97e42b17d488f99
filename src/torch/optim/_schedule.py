"""What every schedule of the learning rate is made of."""

from __future__ import annotations

import warnings
from typing import Any

from torch import Tensor
from torch.optim.optimizer import Optimizer


class LRScheduler:
    """Base of the schedules: sets `lr` of every group to what `get_lr()` says at `last_epoch`."""

    __module__ = "torch.optim.lr_scheduler"  # where PyTorch has it

    _is_initial = False  # True in the step that a schedule takes when it is made
    _get_lr_called_within_step = False  # PyTorch's name for whether get_lr() is asked by step(); kept in its files

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] "
                    "when resuming scheduler with last_epoch >= 0."
                )
        self.base_lrs: list[float] = [_copy(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[float]:
        """The rates of all groups at `last_epoch`."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr()")

    def _get_closed_form_lr(self) -> list[float]:
        """The rates at `last_epoch` from the first ones alone, wherever the schedule was before."""
        return self.get_lr()

    def get_last_lr(self) -> list[float]:
        """The rates that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes on by one (or to `epoch`) and sets the rates."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call `optimizer.step()` first: "
                "otherwise the first value of the learning rate schedule is skipped.",
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(_EPOCH_WARNING, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set_rates(self.get_lr() if epoch is None else self._get_closed_form_lr())

    def _set_rates(self, rates: list[float]) -> None:
        self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            _set_option(group, "lr", rate)
        self._last_lr: list[float] = self._rates()

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def _rates(self) -> list[float]:
        return [_copy(group["lr"]) for group in self.optimizer.param_groups]


_EPOCH_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler."
)


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def _set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Sets an option of a group; one that is a tensor keeps its identity."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def format_per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A list of one value per group, from such a list or from one value for all."""
    groups = optimizer.param_groups
    if isinstance(value, (list, tuple)):
        if len(value) != len(groups):
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. "
                f"{name} has {len(value)} values, param_groups has {len(groups)}."
            )
        return [_copy(item) for item in value]
    return [_copy(value) for _ in groups]


def _check_optimizer(optimizer: object) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
