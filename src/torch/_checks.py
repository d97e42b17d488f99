"""`torch._check` and its like: conditions that programs demand, with errors of several types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raises `error_type`, which says what `message()` gives, unless `cond` is true."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type("Expected cond to be True, but got False" if message is None else str(message()))


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    """RuntimeError unless `cond`."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], str] | None = None) -> None:
    """IndexError unless `cond`."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], str] | None = None) -> None:
    """ValueError unless `cond`."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], str] | None = None) -> None:
    """TypeError unless `cond`."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], str] | None = None) -> None:
    """NotImplementedError unless `cond`."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Callable[[], str] | None = None, *, max: int | None = None) -> None:
    """RuntimeError unless `i` is a size: not negative, and not above `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raises `error_type` unless all elements of `cond`, a tensor of bools, are true."""
    if not isinstance(cond, torch.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not torch.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Any, message: Callable[[], str] | None = None) -> None:
    """RuntimeError unless all elements of `cond` are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert(condition: Any, message: str) -> None:
    """AssertionError unless `condition`, a bool or a tensor of one."""
    if type(condition) is not torch.Tensor and torch.overrides.has_torch_function((condition,)):
        return torch.overrides.handle_torch_function(  # type: ignore[no-any-return]
            _assert, (condition,), condition, message
        )
    assert condition, message
    return None


_assert.__module__ = "torch"  # where code that is made of a trace finds it


def _assert_async(
    input: torch.Tensor, assert_msg: str = "Expected Tensor with single nonzero value, but got zero"
) -> None:
    """RuntimeError unless a tensor of one element is true."""
    if not bool(input):
        raise RuntimeError(assert_msg)
