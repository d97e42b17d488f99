"""Levels of `vmap`, and the tensors that are batches there: what `torch._C._functorch` shows.

A `Batched` tensor is a whole batch that looks like one element of it. It has a level and a value, which is the batch,
its elements along dimension 0; the value may be a batch itself, of a level further out. A `Level` is one call of
`vmap`. While the function runs it is the innermost mode of `torch.overrides`, so every function of torch comes to it
first. A rule (`_rules`) then says what the function is of a batch, and works on values, outside of this level;
`_batching` brings both together.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import _C, Tensor
from torch.overrides import TorchFunctionMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_NOTHING = torch.empty(0, device="meta")


class _Active(threading.local):
    def __init__(self) -> None:
        self.levels: list[Level] = []


_active = _Active()


class Batched(Tensor):
    """A batch that looks like an element. What does not come by its level meets a tensor without data."""

    _level: Level
    _value: Tensor

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") == "__repr__":
            return "BatchedTensor(a batch of a call of vmap that is not running)"
        raise RuntimeError(
            f"vmap: {getattr(func, '__name__', func)} got a tensor of a call of vmap that is over, or outside of it; "
            "return it from the function instead"
        )


class Level(TorchFunctionMode):
    """One call of `vmap`: `size` elements, and `randomness` as `vmap` takes it.

    In a `uniform` one all elements have the same values, only derivatives differ: it may be asked for values.
    """

    def __init__(self, size: int, randomness: str = "error", *, uniform: bool = False) -> None:
        super().__init__()
        self.size, self.randomness, self.uniform = size, randomness, uniform
        self.number = 0

    def __enter__(self) -> Level:
        levels = _active.levels
        levels.append(self)
        self.number = len(levels)
        super().__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        _active.levels.pop()

    def apply(self, function: Any, args: tuple[Any, ...]) -> Any:
        """`function.apply(*args)` of a `torch.autograd.Function`."""
        raise NotImplementedError

    @contextmanager
    def inside(self) -> Iterator[None]:
        """In a rule: functions come to this level again."""
        _C._push_on_torch_function_stack(self)
        try:
            yield
        finally:
            _C._pop_torch_function_stack()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """In the function of `vmap`: functions work on values, as in a rule."""
        _C._pop_torch_function_stack()
        try:
            yield
        finally:
            _C._push_on_torch_function_stack(self)

    def __repr__(self) -> str:
        return f"<vmap level {self.number} of {self.size}>"

    # ------------------------------------------------------------------ what rules ask

    def has(self, value: Any) -> bool:
        """Whether it is a batch of this level."""
        return type(value) is Batched and value._level is self

    def value(self, tensor: Any) -> Any:
        """The batch behind a tensor of this level; everything else as it is."""
        return tensor._value if type(tensor) is Batched and tensor._level is self else tensor

    def wrap(self, value: Any) -> Any:
        """Tensors, and those in a tuple or list, as batches of this level; everything else as it is."""
        if isinstance(value, Tensor):
            return self.batched(value)
        if isinstance(value, tuple):
            parts = [self.wrap(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        return [self.wrap(part) for part in value] if isinstance(value, list) else value

    def batched(self, value: Tensor) -> Tensor:
        """The tensor whose elements lie along the value's dimension 0."""
        made = _C._make_subclass(Batched, _NOTHING)
        made._level, made._value = self, value
        return made

    def expanded(self, tensor: Any) -> Any:
        """A value with dimension 0 for the elements, also of a tensor that is the same for all of them."""
        if self.has(tensor):
            return tensor._value
        return tensor.unsqueeze(0).expand(self.size, *tensor.shape)

    def any_batched(self, values: Iterable[Any]) -> bool:
        """Whether a batch of this level is among the values, or in a list among them."""
        for value in values:
            if type(value) is Batched:
                if value._level is self:
                    return True
            elif isinstance(value, (tuple, list)) and self.any_batched(value):
                return True
        return False


# ---------------------------------------------------------------------- below all levels


def bottom(tensor: Any) -> Any:
    """The plain tensor that holds all elements of all levels."""
    while type(tensor) is Batched:
        tensor = tensor._value
    return tensor


def like(tensor: Any, plain: Any) -> Any:
    """`plain`, a batch of the same levels as `tensor`."""
    if type(tensor) is not Batched or plain is None:
        return plain
    return tensor._level.batched(like(tensor._value, plain))


def on_all_levels(tensor: Tensor, *others: Tensor) -> Tensor:
    """The tensor as a batch of every active level, or of every level that `others` are batches of."""
    wanted = {level for other in others for level in _levels_of(other)} if others else None
    levels = [level for level in _active.levels if wanted is None or level in wanted]
    return _on_levels(tensor, levels)


def _levels_of(tensor: Any) -> list[Level]:
    found = []
    while type(tensor) is Batched:
        found.append(tensor._level)
        tensor = tensor._value
    return found


def _on_levels(tensor: Any, levels: list[Level]) -> Any:
    if not levels:
        return tensor
    *outer, level = levels
    if level.has(tensor):
        return level.batched(_on_levels(tensor._value, outer))
    return level.batched(level.expanded(_on_levels(tensor, outer)))


# ---------------------------------------------------------------------- random numbers


class RandomStates:
    """The states of the generators, of CUDA devices too where they are in use, to go back to."""

    def __init__(self) -> None:
        self._host = torch.get_rng_state()
        self._devices = torch.cuda.get_rng_state_all() if _C._cuda_is_loaded() else None

    def restore(self) -> None:
        """Sets them again."""
        torch.set_rng_state(self._host)
        if self._devices is not None:
            torch.cuda.set_rng_state_all(self._devices)


# ---------------------------------------------------------------------- PyTorch's names


def _level_of(number: int) -> Level:
    if not 0 < number <= len(_active.levels):
        raise RuntimeError(f"there is no level {number} of vmap")
    return _active.levels[number - 1]


def _add_batch_dim(tensor: Tensor, in_dim: int, level: int) -> Tensor:
    known = _level_of(level)
    return known.batched(tensor if in_dim == 0 else tensor.movedim(in_dim, 0))


def _remove_batch_dim(tensor: Tensor, level: int, batch_size: int, out_dim: int) -> Tensor:
    known = _level_of(level)
    if known.has(tensor):
        tensor = tensor._value  # type: ignore[attr-defined]
        if out_dim == 0:
            return tensor
        is_batch, dimensions = True, tensor.dim()
    else:
        is_batch, dimensions = False, tensor.dim() + 1
    if not -dimensions <= out_dim < dimensions:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-dimensions}, {dimensions - 1}], but got {out_dim})"
        )
    out_dim %= dimensions
    if is_batch:
        return tensor.movedim(0, out_dim)
    shape = tensor.shape
    return tensor.unsqueeze(out_dim).expand(*shape[:out_dim], batch_size, *shape[out_dim:])


def maybe_current_level() -> int | None:
    """The number of the innermost level, None outside of `vmap`."""
    return len(_active.levels) or None


def current_level() -> int:
    """The number of the innermost level; RuntimeError outside of `vmap`."""
    level = maybe_current_level()
    if level is None:
        raise RuntimeError("no functorch transform is active")
    return level


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether the tensor is a batch that looks like an element."""
    return type(tensor) is Batched


is_functorch_wrapped_tensor = is_batchedtensor


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """False: derivatives put no wrapper around tensors."""
    return False


is_legacy_batchedtensor = is_functionaltensor = is_gradtrackingtensor


def is_dead_tensor_wrapper(tensor: Tensor) -> bool:
    """Whether it is a batch of a call of `vmap` that is over."""
    return type(tensor) is Batched and tensor._level not in _active.levels


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The batch behind a tensor of a level."""
    if type(tensor) is not Batched:
        raise RuntimeError("get_unwrapped: expected a batched tensor")
    return tensor._value


def unwrap_if_dead(tensor: Tensor) -> Tensor:
    """The batch behind a tensor of a call of `vmap` that is over; every other tensor itself."""
    return get_unwrapped(tensor) if is_dead_tensor_wrapper(tensor) else tensor


def maybe_get_level(tensor: Tensor) -> int:
    """The number of the tensor's level; -1 of a tensor that is no batch."""
    return tensor._level.number if type(tensor) is Batched else -1


def maybe_get_bdim(tensor: Tensor) -> int:
    """Where the elements lie in a batch: along dimension 0; -1 of a tensor that is no batch."""
    return 0 if type(tensor) is Batched else -1


def peek_interpreter_stack() -> Level | None:
    """The innermost level, None outside of `vmap`."""
    return _active.levels[-1] if _active.levels else None
