"""Rules of functions that are other functions of torch put together: those have rules."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch import _schemas
from torch._functorch._rules import RULES, loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch._functorch._levels import Level


def parts(names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates what functions of these names are, with the arguments' names of their signatures.

    It may return NotImplemented: then the function is called for one element after another.
    """

    def register(written: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(written).parameters
        needed = {name for name, parameter in parameters.items() if parameter.default is parameter.empty}

        def answer(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            bound = _schemas.bind(func, args, kwargs)
            result = NotImplemented
            if bound is not None and needed <= set(bound) <= set(parameters):
                with level.inside():
                    result = written(**bound)
            return loop(level, func, args, kwargs) if result is NotImplemented else result

        RULES.update(dict.fromkeys(names.split(), answer))
        return written

    return register


# ---------------------------------------------------------------------- products and distances


@parts("addr")
def _addr(input: Tensor, vec1: Tensor, vec2: Tensor, beta: float = 1, alpha: float = 1) -> Any:
    return input * beta + alpha * torch.outer(vec1, vec2) if input.is_floating_point() and beta else NotImplemented


@parts("addbmm")
def _addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: float = 1, alpha: float = 1) -> Any:
    product = torch.bmm(batch1, batch2).sum(0)
    return input * beta + alpha * product if input.is_floating_point() and beta else NotImplemented


@parts("inner")
def _inner(input: Tensor, other: Tensor) -> Any:
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    return torch.tensordot(input, other, dims=([-1], [-1]))


@parts("cross linalg_cross")
def _cross(input: Tensor, other: Tensor, dim: int | None = -1) -> Any:
    if dim is None:
        return NotImplemented
    one, two = torch.broadcast_tensors(input, other)
    if one.size(dim) != 3:
        return NotImplemented
    a, b = one.unbind(dim), two.unbind(dim)
    return torch.stack([a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)], dim)


@parts("cosine_similarity")
def _cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    one, two = torch.broadcast_tensors(x1, x2)
    if not (one.is_floating_point() and one.dim()):
        return NotImplemented
    one, two = (each / torch.linalg.vector_norm(each, dim=dim, keepdim=True).clamp_min(eps) for each in (one, two))
    return (one * two).sum(dim)


@parts("pairwise_distance")
def _pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2, eps: float = 1e-6, keepdim: bool = False) -> Any:
    return torch.linalg.vector_norm(x1 - x2 + eps, p, dim=-1, keepdim=keepdim)


@parts("dist")
def _dist(input: Tensor, other: Tensor, p: float = 2) -> Any:
    return torch.linalg.vector_norm(input - other, p)


# ---------------------------------------------------------------------- joined and taken apart


@parts("atleast_1d")
def _atleast_1d(input: Tensor) -> Any:
    return input.unsqueeze(0) if input.dim() == 0 else input


@parts("atleast_2d")
def _atleast_2d(input: Tensor) -> Any:
    return input.reshape(1, -1) if input.dim() < 2 else input


@parts("hstack")
def _hstack(tensors: Sequence[Tensor]) -> Any:
    listed = [torch.atleast_1d(tensor) for tensor in tensors]
    return torch.cat(listed, 0 if listed[0].dim() == 1 else 1)


@parts("vstack row_stack")
def _vstack(tensors: Sequence[Tensor]) -> Any:
    return torch.cat([torch.atleast_2d(tensor) for tensor in tensors], 0)


@parts("column_stack")
def _column_stack(tensors: Sequence[Tensor]) -> Any:
    return torch.cat([each.reshape(each.numel(), 1) if each.dim() <= 1 else each for each in tensors], 1)


@parts("msort")
def _msort(input: Tensor) -> Any:
    return input.sort(dim=0)[0] if input.dim() else NotImplemented


@parts("fliplr")
def _fliplr(input: Tensor) -> Any:
    return input.flip(1)


@parts("flipud")
def _flipud(input: Tensor) -> Any:
    return input.flip(0)


@parts("diff")
def _diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Any:
    if input.dtype == torch.bool or n < 0:
        return NotImplemented
    joined = [each for each in (prepend, input, append) if each is not None]
    result = torch.cat(joined, dim) if len(joined) > 1 else input
    for _ in range(min(n, result.size(dim))):
        result = result.narrow(dim, 1, result.size(dim) - 1) - result.narrow(dim, 0, result.size(dim) - 1)
    return result


@parts("trapezoid trapz")
def _trapezoid(y: Tensor, x: Tensor | None = None, dx: float = 1, dim: int = -1) -> Any:
    if x is not None or not y.is_floating_point():
        return NotImplemented
    last = y.size(dim) - 1
    return ((y.narrow(dim, 1, last) + y.narrow(dim, 0, last)) * (dx / 2)).sum(dim) if last > 0 else NotImplemented


@parts("roll")
def _roll(input: Tensor, shifts: Any, dims: Any = ()) -> Any:
    if dims not in ((), [], None) or input.dim() == 0:
        return NotImplemented
    return input.flatten().roll(shifts, 0).view(input.shape)


@parts("repeat_interleave")
def _repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, output_size: int | None = None
) -> Any:
    if not isinstance(repeats, int) or input.dim() == 0:
        return NotImplemented
    tensor, place = (input.flatten(), 0) if dim is None else (input, dim % input.dim())
    return (
        tensor.unsqueeze(place + 1)
        .expand(*tensor.shape[: place + 1], repeats, *tensor.shape[place + 1 :])
        .flatten(place, place + 1)
    )


# ---------------------------------------------------------------------- by positions


@parts("take_along_dim")
def _take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Any:
    if dim is None:
        return input.flatten().gather(0, indices.flatten())
    if input.dim() != indices.dim():
        return NotImplemented
    shapes = [list(each.shape) for each in (input, indices)]
    for shape in shapes:
        shape[dim] = 1
    common = list(torch.broadcast_shapes(*shapes))
    sized = [
        [*common[: dim % input.dim()], each.size(dim), *common[dim % input.dim() + 1 :]] for each in (input, indices)
    ]
    return input.expand(sized[0]).gather(dim, indices.expand(sized[1]))


@parts("take")
def _take(input: Tensor, index: Tensor) -> Any:
    return input.flatten()[index]


# ---------------------------------------------------------------------- in networks


@parts("prelu")
def _prelu(input: Tensor, weight: Tensor) -> Any:
    shape = (-1, *(1,) * (input.dim() - 2)) if weight.numel() > 1 else ()
    if weight.numel() > 1 and input.dim() < 2:
        return NotImplemented
    return torch.where(input >= 0, input, input * weight.reshape(shape))
