"""What several functions of this package check about their options."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import _reduction

if TYPE_CHECKING:
    from torch import Tensor


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """AssertionError with `message` about `arg_name` unless `arg` is a number or two of them."""
    if not isinstance(arg, int) and len(arg) != 2:
        raise AssertionError(message.format(arg_name))


def choose_reduction(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """`reduction`, or the word for the two older options where one of them is given, with PyTorch's warning."""
    if size_average is None and reduce is None:
        return reduction
    return _reduction.legacy_get_string(size_average, reduce)


def get_reduction(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """The number by which the losses of libtorch know a reduction. ValueError for any other word."""
    return _reduction.get_enum(choose_reduction(reduction, size_average, reduce))


def reduce_losses(losses: Tensor, reduction: int) -> Tensor:
    """A loss per element, their mean or their sum, by the number of the reduction."""
    return losses.mean() if reduction == 1 else losses.sum() if reduction == 2 else losses


def choose_softmax_dimension(name: str, dim: int | None, dimensions: int) -> int:
    """`dim`, or PyTorch's choice where none is given, with its warning."""
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if dimensions in (0, 1, 3) else 1


def has_readable_values(tensor: Tensor) -> bool:
    """Whether a check may look at values: meta tensors have none, and in what is exported none are decided yet."""
    return tensor.numel() > 0 and not tensor.is_meta and not torch.compiler.is_exporting()
