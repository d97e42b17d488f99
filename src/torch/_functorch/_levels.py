"""Batches of `vmap` and the elements of them that functions run on: what `torch._C._functorch` shows.

`vmap` calls its function once for each element. Every such call is a level with a number of its own. To add a batch
dimension at a level is to take the element that this call is for; to remove it, once all elements have been through,
gives all of their results, stacked. A result is known by the tensor that the last element gave.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

_NUMBERS = itertools.count(1)
_levels: dict[int, tuple[Batch, int]] = {}


class Batch:
    """One call of `vmap`: its inputs, cut into elements, and what the function returned for each."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._elements: dict[tuple[int, int], tuple[Tensor, list[Tensor]]] = {}
        self._columns: dict[int, list[Any]] = {}

    @contextmanager
    def levels(self) -> Iterator[list[int]]:
        """A number for each element; of an empty batch, for one of zeros, which tells what results look like."""
        numbers = [next(_NUMBERS) for _ in range(max(self.size, 1))]
        _levels.update({number: (self, index) for index, number in enumerate(numbers)})
        try:
            yield numbers
        finally:
            for number in numbers:
                del _levels[number]

    def element(self, tensor: Tensor, dim: int, index: int) -> Tensor:
        """The tensor's part for one element."""
        known = self._elements.get((id(tensor), dim))
        if known is None:
            shape = tensor.shape[:dim] + tensor.shape[dim + 1 :]
            parts = list(tensor.unbind(dim)) if self.size else [tensor.new_zeros(shape)]
            known = self._elements[id(tensor), dim] = (tensor, parts)  # the tensor lives as long as its id counts
        return known[1][index]

    def collect(self, columns: list[list[Any]]) -> list[Any]:
        """Keeps the results of all elements, each named by its last one, which are returned."""
        last = []
        for column in columns:
            name = column[-1]
            known = self._columns.get(id(name))
            if known is not None and any(one is not other for one, other in zip(known, column, strict=True)):
                # One tensor in two places, for this element only.
                column = [*column[:-1], name.view_as(name)] if isinstance(name, torch.Tensor) else column
            self._columns[id(column[-1])] = column
            last.append(column[-1])
        return last

    def column(self, result: Any) -> list[Any]:
        """The results of all elements where the last one gave `result`: the same for all, if the function gave none."""
        return self._columns.get(id(result)) or [result] * max(self.size, 1)


def column_at(level: int, result: Any) -> list[Any]:
    """The results of all elements of a level's batch."""
    return _levels[level][0].column(result)


def _add_batch_dim(tensor: Tensor, in_dim: int, level: int) -> Tensor:
    batch, index = _levels[level]
    return batch.element(tensor, in_dim + tensor.dim() if in_dim < 0 else in_dim, index)


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    dimensions = tensor.dim() + 1
    if not -dimensions <= out_dim < dimensions:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-dimensions}, {dimensions - 1}], but got {out_dim})"
        )
    return torch.stack(column_at(level, tensor), out_dim).narrow(out_dim, 0, batch_size)


def maybe_current_level() -> int | None:
    """The number of the innermost level, None outside of `vmap`."""
    return max(_levels, default=None)


def current_level() -> int:
    """The number of the innermost level; RuntimeError outside of `vmap`."""
    level = maybe_current_level()
    if level is None:
        raise RuntimeError("no functorch transform is active")
    return level


def is_batchedtensor(tensor: Tensor) -> bool:
    """False: functions run on elements, no tensor is a batch in disguise."""
    return False


is_functorch_wrapped_tensor = is_gradtrackingtensor = is_legacy_batchedtensor = is_batchedtensor
is_functionaltensor = is_dead_tensor_wrapper = is_batchedtensor


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor: transforms put no wrapper around it."""
    return tensor


unwrap_if_dead = get_unwrapped


def maybe_get_level(tensor: Tensor) -> int:
    """-1: no tensor belongs to a level."""
    return -1


maybe_get_bdim = maybe_get_level


def peek_interpreter_stack() -> None:
    """None: transforms interpret nothing."""
