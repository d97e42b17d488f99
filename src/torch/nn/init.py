"""Fills tensors with their first values, in place and outside of autograd. The numbers are PyTorch's for a seed."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Generator, Tensor

_PLAIN_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through a nonlinearity; `param`: leaky_relu's slope, default 0.01."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity.startswith("conv"):
        return 1.0
    if nonlinearity not in _PLAIN_GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _PLAIN_GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in [a, b)."""
    with torch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with `mean` and `std`."""
    with torch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """All elements `val`."""
    with torch.no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """All elements 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """All elements 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix, for a 2-d tensor."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with torch.no_grad():
        return tensor.copy_(torch.eye(tensor.size(0), tensor.size(1), dtype=tensor.dtype, device=tensor.device))


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal with `mean` and `std`, but between `a` and `b`. Warns where `mean` is far outside of them."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    below, above = (0.5 * (1 + math.erf((bound - mean) / std / math.sqrt(2.0))) for bound in (a, b))
    with torch.no_grad():
        if above - below > 0.3:  # most normal numbers are inside: the others are drawn anew
            low, high = (tensor.new_tensor(bound).item() for bound in (a, b))
            tensor.normal_(mean, std, generator=generator)
            outside = (tensor < low) | (tensor > high)
            while bool(outside.any()):
                again = torch.empty_like(tensor).normal_(mean, std, generator=generator)
                tensor.copy_(torch.where(outside, again, tensor))
                outside = (tensor < low) | (tensor > high)
            return tensor
        # Uniform numbers, each kept with a probability of the density there over the highest one.
        highest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
        tensor.uniform_(a, b, generator=generator)
        pending = _refused(tensor, mean, std, highest, generator)
        while bool(pending.any()):
            again = torch.empty_like(tensor).uniform_(a, b, generator=generator)
            tensor.copy_(torch.where(pending, again, tensor))
            pending = pending & _refused(again, mean, std, highest, generator)
        return tensor


def _refused(values: Tensor, mean: float, std: float, highest: float, generator: Generator | None) -> Tensor:
    logarithms = ((values - mean) / std).pow(2).mul(-0.5).sub(highest)
    return torch.empty_like(values).uniform_(generator=generator).log() > logarithms


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution (3 to 5 dimensions) that keeps its input, for as many channels as there are."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    outputs = tensor.size(0) // groups
    middle = [size // 2 for size in tensor.shape[2:]]
    with torch.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(outputs, tensor.size(1))):
                tensor[(group * outputs + channel, channel, *middle)] = 1
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Orthonormal rows or columns, whichever are fewer, times `gain`; dimensions after the first count as one.

    ValueError for less than two dimensions.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    with torch.no_grad():
        flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        basis, triangle = torch.linalg.qr(flat.t() if rows < columns else flat)
        basis = basis * triangle.diagonal().sign()  # the one factorisation whose R has a positive diagonal
        return tensor.copy_((basis.t() if rows < columns else basis).reshape(tensor.shape)).mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal with `std`, but a share `sparsity` of each column of a 2-d tensor is 0."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with torch.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[torch.randperm(rows)[:zeros], column] = 0
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Inputs per output and outputs per input of a weight (out, in, *kernel)."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def _warn_if_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return True


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in +-gain * sqrt(3 / fan); `a`: the slope of the leaky_relu that follows."""
    if _warn_if_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal with std gain / sqrt(fan)."""
    if _warn_if_empty(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return normal_(tensor, 0, std, generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in +-gain * sqrt(6 / (fan_in + fan_out))."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with std gain * sqrt(2 / (fan_in + fan_out))."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Inputs per output, or outputs per input: the name that libraries import."""
    return _fan(tensor, mode)


def _make_deprecate(function: Callable[..., Any]) -> Callable[..., Any]:
    """An older name, without the underscore, that warns."""
    new, old = function.__name__, function.__name__[:-1]

    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    deprecated.__name__ = deprecated.__qualname__ = old
    deprecated.__doc__ = f"`{new}`, by an older name, with a warning."
    return deprecated


uniform = _make_deprecate(uniform_)
normal = _make_deprecate(normal_)
constant = _make_deprecate(constant_)
eye = _make_deprecate(eye_)
dirac = _make_deprecate(dirac_)
xavier_uniform = _make_deprecate(xavier_uniform_)
xavier_normal = _make_deprecate(xavier_normal_)
kaiming_uniform = _make_deprecate(kaiming_uniform_)
kaiming_normal = _make_deprecate(kaiming_normal_)
orthogonal = _make_deprecate(orthogonal_)
sparse = _make_deprecate(sparse_)


# The names under which PyTorch's own modules call them.


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Generator | None = None) -> Tensor:
    return uniform_(tensor, a, b, generator)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Generator | None = None) -> Tensor:
    return normal_(tensor, mean, std, generator)


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    return constant_(tensor, val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    return zeros_(tensor)


def _no_grad_trunc_normal_(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None = None
) -> Tensor:
    return trunc_normal_(tensor, mean, std, a, b, generator)
