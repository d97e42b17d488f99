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
    whole, as it does keyword arguments. Under `randomness` "same" every element gets the same random numbers, under
    "different" its own, and under "error" drawing some is a RuntimeError. The function is called once for each element,
    so it may look at values, and `chunk_size` changes nothing.

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
        _check_out_dims(out_dims, name)
        size = _batch_size(leaves, dims, name)
        state = None if randomness == "different" else torch.get_rng_state()
        # Of an empty batch an element of zeros tells what results look like.
        elements = [_elements(leaf, dim, size) for leaf, dim in zip(leaves, dims, strict=True)]
        results: list[list[Any]] = []
        out_spec: Any = None
        for picked in zip(*elements, strict=True):
            if state is not None and randomness == "same":
                torch.set_rng_state(state)
            result = func(*pytree.tree_unflatten(list(picked), spec), **kwargs)
            if state is not None and randomness == "error" and not torch.equal(state, torch.get_rng_state()):
                raise RuntimeError(
                    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
                )
            flat, out_spec = pytree.tree_flatten(result)
            results.append(flat)
        where = _output_dims(out_dims, out_spec, name)
        columns = map(list, zip(*results, strict=True))
        stacked = [_joined(column, dim, size, name) for column, dim in zip(columns, where, strict=True)]
        return pytree.tree_unflatten(stacked, out_spec)

    return wrapped


def _wrap(dim: int, dimensions: int) -> int:
    return dim + dimensions if dim < 0 else dim


def _elements(leaf: Any, dim: int | None, size: int) -> list[Any]:
    if dim is None:
        return [leaf] * max(size, 1)
    if size == 0:
        return [leaf.new_zeros(leaf.shape[:dim] + leaf.shape[dim + 1 :])]
    return list(leaf.unbind(dim))


def _joined(column: list[Any], dim: int | None, size: int, name: str) -> Any:
    """The results of all elements as one."""
    first = column[0]
    if dim is None:
        if isinstance(first, torch.Tensor) and not all(first is one or torch.equal(first, one) for one in column):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return first
    if not isinstance(first, torch.Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(first)}. Did you mean to set "
            f"out_dims= to "
            "None for output?"
        )
    dimensions = first.dim() + 1
    if not -dimensions <= dim < dimensions:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-dimensions}, {dimensions - 1}], but got {dim})"
        )
    return torch.stack(column[:size] or column, _wrap(dim, dimensions)).narrow(_wrap(dim, dimensions), 0, size)


def _check_out_dims(out_dims: Any, name: str) -> None:
    leaves = pytree.tree_leaves(out_dims) if out_dims is not None else []
    if not all(isinstance(leaf, int) or leaf is None for leaf in leaves):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )


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
                f"either an "
                "integer dimension or None."
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
