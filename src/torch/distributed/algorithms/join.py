"""`Join`: processes that have different numbers of batches go on together until the last one is through."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a process that is through does in place of an iteration, and at the end."""

    def main_hook(self) -> None:
        """Called for each iteration of the others: to make the collective calls that they make."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when all are through; `is_last_joiner` for those that had an iteration when nobody had more."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


class Joinable(ABC):
    """What makes collective calls in each iteration, and can do without data: it calls Join.notify_join_context."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig(enable=False, throw_on_early_termination=False, is_first_joinable=False)

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What to do without data."""

    @property
    @abstractmethod
    def join_device(self) -> torch.device:
        """Where the tensors are that Join itself needs."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """Among whom."""


class Join:
    """A context in which processes may run different numbers of iterations of what `joinables` do.

    With `throw_on_early_termination` all raise RuntimeError as soon as one is through.
    """

    def __init__(
        self, joinables: list[Joinable], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables, self._enable, self._throw = joinables, enable, throw_on_early_termination
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        for number, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, number == 0)
        self._group = joinables[0].join_process_group

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._enable and kind is None:
                self._accompany()
        finally:
            for joinable in self._joinables:
                joinable._join_config = _JoinConfig(
                    enable=False, throw_on_early_termination=False, is_first_joinable=False
                )

    def _accompany(self) -> None:
        """Takes part in the others' iterations until nobody has any."""
        iterations = 0
        while True:
            active = torch.zeros(1, dtype=torch.int64)
            self._group.reduce(active, "sum", None)
            if not int(active):
                break
            if self._throw:
                self._tell_that_one_is_through()
            if iterations == 1000:
                warnings.warn("Detected uneven input skew of greater than 1000 iterations", stacklevel=3)
            for hook in self._hooks:
                hook.main_hook()
            iterations += 1
        for hook in self._hooks:
            hook.post_hook(iterations == 0)

    def _tell_that_one_is_through(self) -> None:
        through = torch.ones(1)
        self._group.reduce(through, "sum", None)
        raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """Says that this process has another iteration; the first of the joinables says it for all."""
        config = joinable._join_config
        if not (config.enable and config.is_first_joinable):
            return None
        group = joinable.join_process_group
        active = torch.ones(1, dtype=torch.int64)
        group.reduce(active, "sum", None)
        if config.throw_on_early_termination and int(active) < group.size():
            through = torch.zeros(1)
            group.reduce(through, "sum", None)
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return active
