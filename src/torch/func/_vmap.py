"""`vmap`: a function of one element for a batch of them, by a loop."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function over all elements of a batch: `in_dims` are the dimensions to go along, `out_dims` where results go.

    `in_dims` is a number for all arguments, or nested as they are; None stands for an argument that every element gets
    whole. `randomness` "same" gives every element the same random numbers, "different" and "error" their own (PyTorch
    refuses random numbers under "error"). The function is called once for each element; `chunk_size` changes nothing.

    >>> torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.arange(6.0).reshape(2, 3))
    tensor([ 3., 12.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        name = getattr(func, "__name__", repr(func))
        leaves, dims, spec = _batched(in_dims, args, name)
        more, more_spec = pytree.tree_flatten(kwargs)
        more_dims: list[int | None] = [0 if isinstance(leaf, torch.Tensor) else None for leaf in more]
        size = _batch_size(leaves + more, dims + more_dims, name)
        state = torch.get_rng_state() if randomness == "same" else None
        results: list[list[Any]] = []
        out_spec: Any = None
        for index in range(size):
            if state is not None:
                torch.set_rng_state(state)
            picked = [_pick(leaf, dim, index) for leaf, dim in zip(leaves + more, dims + more_dims, strict=True)]
            inner = pytree.tree_unflatten(picked[: len(leaves)], spec)
            result = func(*inner, **pytree.tree_unflatten(picked[len(leaves) :], more_spec))
            flat, out_spec = pytree.tree_flatten(result)
            for leaf in flat:
                if not isinstance(leaf, torch.Tensor):
                    raise ValueError(
                        f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did you mean to "
                        f"set out_dims= to None for output?"
                    )
            results.append(flat)
        where = _output_dims(out_dims, out_spec, name)
        stacked = [
            column[0] if dim is None else torch.stack(column, _wrap(dim, column[0].dim() + 1))
            for column, dim in zip(map(list, zip(*results, strict=True)), where, strict=True)
        ]
        return pytree.tree_unflatten(stacked, out_spec)

    return wrapped


def _wrap(dim: int, dimensions: int) -> int:
    return dim + dimensions if dim < 0 else dim


def _pick(leaf: Any, dim: int | None, index: int) -> Any:
    return leaf if dim is None else leaf.select(dim, index)


def _batched(in_dims: Any, args: tuple[Any, ...], name: str) -> tuple[list[Any], list[int | None], Any]:
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) "
            f"tuple matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    leaves, spec = pytree.tree_flatten(args)
    nested = tuple(in_dims) if isinstance(in_dims, list) else in_dims
    dims = pytree._broadcast_to_and_flatten(nested, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
            f"`inputs`. in_dims has structure {pytree.tree_structure(in_dims)} but inputs has structure {spec}."
        )
    checked: list[int | None] = []
    for leaf, dim in zip(leaves, dims, strict=True):
        if dim is None:
            checked.append(None)
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but in_dim must be "
                "either an integer dimension or None."
            )
        if not isinstance(leaf, torch.Tensor):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the input is of "
                f"type {type(leaf)}. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that input is a "
                f"Tensor of dimensionality {leaf.dim()} so expected in_dim to satisfy -{leaf.dim()} <= in_dim < "
                f"{leaf.dim()}."
            )
        checked.append(_wrap(dim, leaf.dim()))
    return leaves, checked, spec


def _batch_size(leaves: list[Any], dims: list[int | None], name: str) -> int:
    sizes = [leaf.size(dim) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError(f"vmap({name})(<inputs>): at least one Tensor must be mapped over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    if sizes[0] == 0:
        raise ValueError("vmap over a batch of no elements: the function is never called, so its results are unknown")
    return int(sizes[0])


def _output_dims(out_dims: Any, spec: Any, name: str) -> list[int | None]:
    if isinstance(out_dims, int) or out_dims is None:
        return [out_dims] * spec.num_leaves
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.is_leaf():
        return list(out_dims)
    found = pytree._broadcast_to_and_flatten(tuple(out_dims) if isinstance(out_dims, list) else out_dims, spec)
    if found is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {pytree.tree_structure(out_dims)} but outputs has structure {spec}."
        )
    return found
