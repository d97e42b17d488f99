"""Forward mode: dual numbers, a tensor with the tangent along which it moves.

>>> import torch.autograd.forward_ad as fwAD
>>> with fwAD.dual_level():
...     y = fwAD.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0])) ** 2
...     fwAD.unpack_dual(y).tangent
tensor([2., 0.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from torch import _C
from torch._functorch._levels import bottom, like, on_all_levels
from torch.autograd.grad_mode import _Switch

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

# The level that functions without `level` mean; -1 outside of all.
_current_level = -1


def enter_dual_level() -> int:
    """Begins the level of dual tensors; returns its number. RuntimeError inside of another one."""
    global _current_level
    _current_level = _C._enter_dual_level(False)
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level: from now on no tensor has a tangent."""
    global _current_level
    number = _current_level if level is None else level
    if number < 0:
        raise RuntimeError("Dual level must be a positive number.")
    if number != _current_level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _C._exit_dual_level(number)
    _current_level = number - 1


class dual_level(_Switch):
    """A block in which tensors can have tangents."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives; the tangent of a tensor that does not move is None."""

    primal: Tensor
    tangent: Tensor | None


def _check_kind(name: str, tensor: Tensor) -> None:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected {name} to be floating point or complex, but got: {tensor.dtype}")


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """A view of `tensor` that moves along `tangent`, a tensor of its shape.

    What is computed from it moves, too. RuntimeError outside of a level, and if the tensor already moves.
    """
    number = _current_level if level is None else level
    if number < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    return _make_dual(tensor, tangent, number)


def _make_dual(tensor: Tensor, tangent: Tensor, level: int) -> Tensor:
    _check_kind("primal", tensor)
    _check_kind("tangent", tangent)
    primal, moves = (on_all_levels(each, tensor, tangent) for each in (tensor, tangent))
    return like(primal, _C._make_dual(bottom(primal), bottom(moves), level))


def _unpack_dual(tensor: Tensor, level: int) -> tuple[Tensor, Tensor | None]:
    return tuple(like(tensor, part) for part in _C._unpack_dual(bottom(tensor), level))  # type: ignore[return-value]


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor as one that does not move, and its tangent."""
    number = _current_level if level is None else level
    if number < 0:
        return UnpackedDualTensor(tensor, None)
    if number > max(_current_level, 0):
        raise RuntimeError("Invalid level given to _fw_primal")
    return UnpackedDualTensor(*_unpack_dual(tensor, number))
