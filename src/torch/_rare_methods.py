"""What methods of tensors that few programs call do: they are imported when they are called."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def map_elements(tensor: Tensor, name: str, function: Callable[..., Any], *others: Tensor) -> Tensor:
    """`tensor`, each of whose elements was replaced by what `function` makes of it and of those of `others`."""
    tensors = (tensor, *others)
    if any(each.requires_grad for each in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    if not all(each.is_cpu for each in tensors):
        raise TypeError(f"{name} is only implemented on CPU tensors")
    if any(each.dtype is not tensor.dtype for each in others):
        raise TypeError(f"{name}: expected tensors of {tensor.dtype}, but got {[each.dtype for each in others]}")
    columns = [each.expand(tensor.shape).flatten().tolist() for each in tensors]
    # As Python numbers become elements: 0.5 in a tensor of integers is 0.
    values = torch.tensor(list(map(function, *columns)), dtype=tensor.dtype)
    return tensor.copy_(values.reshape(tensor.shape))


def dim_order(tensor: Tensor, ambiguity_check: bool | list[torch.memory_format]) -> tuple[int, ...]:
    """The dimensions of `tensor` in the order of falling strides."""
    if isinstance(ambiguity_check, list):
        if not all(isinstance(each, torch.memory_format) for each in ambiguity_check):
            raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
        is_unique = sum(tensor.is_contiguous(memory_format=each) for each in ambiguity_check) == 1
    elif isinstance(ambiguity_check, bool):
        is_unique = 1 not in tensor.shape and len(set(tensor.stride())) == tensor.dim()
    else:
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    if ambiguity_check and not is_unique:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )
    strides, sizes = tensor.stride(), tensor.shape
    return tuple(sorted(range(tensor.dim()), key=lambda dim: (-strides[dim], -sizes[dim], dim)))


def resize(tensor: Tensor, *sizes: Any) -> Tensor:
    """`tensor` in another shape of as many elements."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=4)
    shape = torch.Size(sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes)
    if shape.numel() != tensor.numel():
        raise RuntimeError(
            f"requested resize to {tuple(shape)} ({shape.numel()} elements in total), but the given tensor has a size "
            f"of {tuple(tensor.shape)} ({tensor.numel()} elements): resizing cannot change their number"
        )
    return tensor.reshape(shape)


def reinforce(*_arguments: Any) -> NoReturn:
    """Raises RuntimeError: use torch.distributions."""
    raise RuntimeError("reinforce() was removed: use torch.distributions, whose log_prob() gives a loss")


def move_to_missing(kind: str) -> NoReturn:
    """Raises AssertionError: there are no such devices here."""
    raise AssertionError(f"Torch not compiled with {kind.upper()} enabled")
