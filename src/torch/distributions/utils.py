"""What several distributions need: broadcasting of parameters, probabilities and logits, lower triangles."""

from __future__ import annotations

from functools import update_wrapper
from numbers import Number
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape. Numbers take dtype and device of the first tensor."""
    first = None
    has_numbers = False
    for value in values:
        if isinstance(value, torch.Tensor):
            first = value if first is None else first
        elif isinstance(value, Number):
            has_numbers = True
        else:
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                "__torch_function__."
            )
    if not has_numbers:
        return tuple(torch.broadcast_tensors(*values))
    dtype, device = (torch.get_default_dtype(), None) if first is None else (first.dtype, first.device)
    return tuple(
        torch.broadcast_tensors(
            *(
                value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype, device=device)
                for value in values
            )
        )
    )


def _standard_normal(shape: Sequence[int], dtype: torch.dtype, device: Any) -> Tensor:
    return torch.empty(tuple(shape), dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """`value` summed over its last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[:-dim], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of two outcomes (sigmoid), or of as many as the last dimension is long (softmax)."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept away from 0 and 1 by the dtype's epsilon."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The logits of probabilities, which are clamped first."""
    inside = clamp_probs(probs)
    return torch.log(inside) - torch.log1p(-inside) if is_binary else torch.log(inside)


class lazy_property:
    """A property that is computed when it is first asked for, with gradients on, and kept."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def _triangle(size: int, diagonal: int, device: Any) -> Tensor:
    """Which elements of a square matrix stand on or below a diagonal."""
    numbers = torch.arange(size, device=device)
    return numbers < numbers.view(-1, 1) + (diagonal + 1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements on and below diagonal `diag` of matrices (..., n, n), row by row, as vectors."""
    size = mat.shape[-1]
    if diag < -size or diag >= size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    return mat[..., _triangle(size, diag, mat.device)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Square matrices with the elements of vectors on and below diagonal `diag`, zeros elsewhere."""
    side = 1 + 2 * diag
    length = (-side + (side**2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    size = round(length)
    if abs(size - length) > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular part of "
            "a square D x D matrix."
        )
    matrix = vec.new_zeros((*vec.shape[:-1], size, size))
    matrix[..., _triangle(size, diag, vec.device)] = vec
    return matrix
