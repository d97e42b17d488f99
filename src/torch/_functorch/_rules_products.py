"""Rules of products of matrices, of systems of equations, and of attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch import _schemas
from torch._functorch._rules import aligned, loop, rank_of, rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._functorch._levels import Level

_RANKS = {"mm": (2, 2), "mv": (2, 1), "dot": (1, 1), "vdot": (1, 1), "bmm": (3, 3), "addmm": (2, 2), "addmv": (2, 1),
          "baddbmm": (3, 3), "outer": (1, 1), "ger": (1, 1), "addr": (1, 1), "addbmm": (3, 3)}  # fmt: skip


def _check_ranks(level: Level, name: str, one: Tensor, other: Tensor) -> None:
    wanted = _RANKS.get(name.rstrip("_"))
    found = rank_of(level, one), rank_of(level, other)
    if wanted is not None and found != wanted:
        raise RuntimeError(f"{name}: expected tensors of {wanted[0]} and {wanted[1]} dimensions, but got {found}")


def product(level: Level, one: Tensor, other: Tensor) -> Tensor:
    """The value of `one @ other`; of no batch the product itself."""
    left, right = rank_of(level, one), rank_of(level, other)
    if min(left, right) == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{left}D and {right}D")  # fmt: skip
    if not (level.has(one) or level.has(other)):
        return torch.matmul(one, other)
    if not level.has(other) and right <= 2:
        return torch.matmul(one._value, other)  # type: ignore[attr-defined]  # all rows of all elements in one product
    if not level.has(one) and left <= 2 and right == 1:
        return torch.matmul(other._value, one.mT if left == 2 else one)  # type: ignore[attr-defined]
    # Vectors become matrices, so that what comes before the last two dimensions is the batch and broadcasts.
    a = level.value(one).unsqueeze(-2) if left == 1 else level.value(one)
    b = level.value(other).unsqueeze(-1) if right == 1 else level.value(other)
    rank = max(left, right, 2)
    a, b = (_led(level, tensor, value, rank) for tensor, value in ((one, a), (other, b)))
    result = torch.matmul(a, b)
    if right == 1:
        result = result.squeeze(-1)
    if left == 1:
        result = result.squeeze(-1 if right == 1 else -2)
    return result


def _led(level: Level, tensor: Tensor, value: Tensor, rank: int) -> Tensor:
    """The value with dimensions of size 1 after the batch's, so that elements have `rank` of them."""
    missing = rank + 1 - value.dim() if level.has(tensor) else 0
    return value[(slice(None), *(None,) * missing)] if missing > 0 else value


@rule("mm mv dot bmm matmul __matmul__ __rmatmul__ linalg_matmul")
def _matmul(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    one, other = (*args, *kwargs.values())[:2]
    if len(args) + len(kwargs) != 2:
        return loop(level, func, args, kwargs)
    if func.__name__ == "__rmatmul__":
        one, other = other, one
    _check_ranks(level, func.__name__, one, other)
    return level.batched(product(level, one, other))


@rule("vdot linalg_vecdot inner")
def _inner(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) != 2 or kwargs or rank_of(level, args[0]) != 1 or rank_of(level, args[1]) != 1:
        return loop(level, func, args, kwargs)
    one = args[0] if func.__name__ == "inner" else level.batched(level.expanded(args[0]).conj())
    return level.batched(product(level, one, args[1]))


@rule("outer ger")
def _outer(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    one, other = (*args, *kwargs.values())[:2]
    _check_ranks(level, func.__name__, one, other)
    return level.batched(level.value(one).unsqueeze(-1) * level.value(other).unsqueeze(-2))


@rule("addmm addmm_ addmv addmv_ baddbmm baddbmm_")
def _added(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    name = func.__name__
    if bound is None or name.endswith("_"):
        return loop(level, func, args, kwargs)
    tensor, one, other = [value for value in bound.values() if isinstance(value, Tensor)][:3]
    alpha, beta = bound.get("alpha", 1), bound.get("beta", 1)
    if not ((isinstance(alpha, int) and isinstance(beta, int)) or level.value(one).is_floating_point()):
        return loop(level, func, args, kwargs)  # where factors of whole numbers are rounded
    _check_ranks(level, name, one, other)
    result = product(level, one, other)
    if alpha != 1:
        result = result * alpha
    rank = result.dim() - (level.has(one) or level.has(other))
    if beta == 0:
        return level.batched(result if rank < result.dim() else level.expanded(result))
    added = aligned(level, tensor, rank)
    return level.batched(torch.add(result, added if beta == 1 else added * beta))


@rule("linear")
def _linear(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None:
        return loop(level, func, args, kwargs)
    tensor, weight, bias = bound["input"], bound["weight"], bound.get("bias")
    rank = rank_of(level, tensor)
    if rank == 0 or rank_of(level, weight) != 2:
        return loop(level, func, args, kwargs)
    if not level.has(weight):
        if not level.has(bias):
            return level.batched(func(tensor._value, weight, bias))
        result = func(level.value(tensor), weight)
    else:
        columns = weight._value.mT
        if rank == 2 and level.has(tensor) and level.has(bias):
            return level.batched(torch.baddbmm(bias._value.unsqueeze(1), tensor._value, columns))
        if rank == 1 and level.has(tensor) and level.has(bias):
            rows = torch.baddbmm(bias._value.unsqueeze(1), tensor._value.unsqueeze(1), columns)
            return level.batched(rows.squeeze(1))
        result = product(level, tensor, level.batched(columns))
    return level.batched(result if bias is None else result + aligned(level, bias, max(rank, 1)))


@rule("einsum")
def _einsum(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    equation, operands = args[0], args[1]
    left, arrow, right = equation.replace(" ", "").partition("->")
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        right = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
        if "..." in left:
            right = f"...{right}"
    free = next(letter for letter in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if letter not in equation)
    terms = [
        free + term if level.has(operand) else term for term, operand in zip(left.split(","), operands, strict=True)
    ]
    values = [level.value(operand) for operand in operands]
    return level.batched(func(f"{','.join(terms)}->{free}{right}", values, **kwargs))


# ---------------------------------------------------------------------- equations


@rule("linalg_solve linalg_solve_ex")
def _solve(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) != 2 or not kwargs.get("left", True) or rank_of(level, args[0]) != 2 or rank_of(level, args[1]) > 2:
        return loop(level, func, args, kwargs)
    matrix, sides = map(level.expanded, args)
    is_vector = rank_of(level, args[1]) == 1
    result = func(matrix, sides.unsqueeze(-1) if is_vector else sides, **kwargs)
    if not is_vector:
        return level.wrap(result)
    if isinstance(result, tuple):
        return level.wrap(type(result)((result[0].squeeze(-1), *result[1:])))
    return level.batched(result.squeeze(-1))


@rule(
    "linalg_solve_triangular cholesky_solve triangular_solve linalg_lu_solve lu_solve linalg_householder_product orgqr"
)
def _equations(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensors = [value for value in args if isinstance(value, Tensor)]
    if len(args) != len(tensors) or level.any_batched(kwargs.values()):
        return loop(level, func, args, kwargs)
    if func.__name__ in ("linalg_solve_triangular", "cholesky_solve", "triangular_solve") and any(
        rank_of(level, tensor) != 2 for tensor in tensors
    ):
        return loop(level, func, args, kwargs)
    return level.wrap(func(*map(level.expanded, tensors), **kwargs))


# ---------------------------------------------------------------------- attention


@rule("scaled_dot_product_attention")
def _attention(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    bound = _schemas.bind(func, args, kwargs)
    if bound is None or bound.get("dropout_p") or level.size == 0:
        return loop(level, func, args, kwargs)
    names = list(bound)[:3]
    ranks = {rank_of(level, bound[name]) for name in names}
    mask = bound.get("attn_mask")
    if len(ranks) != 1 or ranks.pop() not in (3, 4) or (isinstance(mask, Tensor) and rank_of(level, mask) > 4):
        return loop(level, func, args, kwargs)
    for name in names:
        bound[name] = level.expanded(bound[name]).flatten(0, 1)
    if isinstance(mask, Tensor) and (level.has(mask) or mask.dim() > 2):
        query, key = bound[names[0]], bound[names[1]]
        whole = (level.size, query.shape[0] // level.size, *query.shape[1:-1], key.shape[-2])
        bound["attn_mask"] = aligned(level, mask, len(whole) - 1).expand(whole).flatten(0, 1)
    result = func(**bound)
    return level.batched(result.unflatten(0, (level.size, -1)))
