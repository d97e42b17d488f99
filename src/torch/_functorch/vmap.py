"""`vmap`: a function of one element for a batch of them.

The steps have PyTorch's names, and are looked up in this module each time: programs replace them to batch their own
containers of tensors.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch._batching import BatchLevel
from torch._functorch._levels import RandomStates, _add_batch_dim, _remove_batch_dim, is_batchedtensor, maybe_get_level
from torch.utils._pytree import (
    TreeSpec,
    _broadcast_to_and_flatten,
    tree_flatten,
    tree_leaves,
    tree_structure,
    tree_unflatten,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Tensor",
    "_add_batch_dim",
    "_broadcast_to_and_flatten",
    "_remove_batch_dim",
    "is_batchedtensor",
    "tree_flatten",
    "tree_unflatten",
    "vmap_impl",
]


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
    "different" its own, and under "error" drawing some is a RuntimeError. The function is called once, with tensors
    that look like one element and are the whole batch, so it may not look at values; or, with `chunk_size`, once for
    every so many elements, which bounds the memory that it takes.

    >>> torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.arange(6.0).reshape(2, 3))
    tensor([ 3., 12.])
    """
    _check_randomness_arg(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs)

    return wrapped


def vmap_impl(
    func: Callable[..., Any],
    in_dims: Any,
    out_dims: Any,
    randomness: str,
    chunk_size: int | None,
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """`vmap(func, ...)` of the arguments."""
    size, dims, leaves, spec = _process_batched_inputs(in_dims, args, func)
    _check_out_dims_is_int_or_int_pytree(out_dims, func)
    if chunk_size is None or chunk_size >= size:
        return _flat_vmap(func, size, dims, leaves, spec, out_dims, randomness, **kwargs)
    return _in_chunks(func, size, dims, leaves, spec, out_dims, randomness, chunk_size, **kwargs)


def _flat_vmap(
    func: Callable[..., Any],
    batch_size: int,
    flat_in_dims: list[int | None],
    flat_args: list[Any],
    args_spec: TreeSpec,
    out_dims: Any,
    randomness: str,
    /,
    **kwargs: Any,
) -> Any:
    """The function, called once at a level of its own."""
    with BatchLevel(batch_size, randomness) as level:
        inputs = _create_batched_inputs(flat_in_dims, flat_args, level.number, args_spec)
        return _unwrap_batched(func(*inputs, **kwargs), out_dims, level.number, batch_size, func)


def _in_chunks(
    func: Callable[..., Any],
    batch_size: int,
    flat_in_dims: list[int | None],
    flat_args: list[Any],
    args_spec: TreeSpec,
    out_dims: Any,
    randomness: str,
    chunk_size: int,
    /,
    **kwargs: Any,
) -> Any:
    """The results of some elements after the other, joined."""
    states = RandomStates() if randomness == "same" else None
    rows = []
    for start in range(0, batch_size, chunk_size):
        size = min(chunk_size, batch_size - start)
        parts = [
            arg if dim is None else arg.narrow(dim, start, size)
            for arg, dim in zip(flat_args, flat_in_dims, strict=True)
        ]
        if states is not None:
            states.restore()
        result = _flat_vmap(func, size, flat_in_dims, parts, args_spec, out_dims, randomness, **kwargs)
        leaves, spec = tree_flatten(result)
        rows.append(leaves)
    where = _output_dims(out_dims, spec, _get_name(func))
    joined = [
        column[0] if dim is None else torch.cat(column, dim)
        for column, dim in zip(map(list, zip(*rows, strict=True)), where, strict=True)
    ]
    return tree_unflatten(joined, spec)


def _get_name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))


def _check_randomness_arg(randomness: str) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def _create_batched_inputs(
    flat_in_dims: list[int | None], flat_args: list[Any], vmap_level: int, args_spec: TreeSpec
) -> Any:
    """The arguments as batches of a level."""
    inputs = [
        arg if dim is None else _add_batch_dim(arg, dim, vmap_level)
        for dim, arg in zip(flat_in_dims, flat_args, strict=True)
    ]
    return tree_unflatten(inputs, args_spec)


def _unwrap_batched(
    batched_outputs: Any, out_dims: Any, vmap_level: int, batch_size: int, func: Callable[..., Any]
) -> Any:
    """What the function returned, with the whole batch in the place of each tensor."""
    leaves, spec = tree_flatten(batched_outputs)
    name = _get_name(func)
    where = _output_dims(out_dims, spec, name)
    results = [
        _maybe_remove_batch_dim(name, leaf, vmap_level, batch_size, dim)
        for leaf, dim in zip(leaves, where, strict=True)
    ]
    return tree_unflatten(results, spec)


def _maybe_remove_batch_dim(
    name: str, batched_output: Any, vmap_level: int, batch_size: int, out_dim: int | None
) -> Any:
    """The results of all elements as one tensor; without `out_dim` the one that is the same for all."""
    if out_dim is None:
        if isinstance(batched_output, Tensor) and maybe_get_level(batched_output) == vmap_level:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did you mean to "
            "set out_dims= to None for output?"
        )
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _check_out_dims_is_int_or_int_pytree(out_dims: Any, func: Callable[..., Any]) -> None:
    name = _get_name(func)
    leaves = tree_leaves(out_dims) if out_dims is not None else []
    if not all(isinstance(leaf, int) or leaf is None for leaf in leaves):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )


def _process_batched_inputs(
    in_dims: Any, args: tuple[Any, ...], func: Callable[..., Any]
) -> tuple[int, list[int | None], list[Any], TreeSpec]:
    """The batch's size, and the leaves of the arguments with the dimension of each that the batch goes along."""
    name = _get_name(func)
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
    leaves, spec = tree_flatten(args)
    nested = tuple(in_dims) if isinstance(in_dims, list) else in_dims
    dims = _broadcast_to_and_flatten(nested, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of "
            f"`inputs`. in_dims has structure {tree_structure(in_dims)} but inputs has structure {spec}."
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
        if not isinstance(leaf, Tensor):
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
        checked.append(dim % leaf.dim())
    return _validate_and_get_batch_size(checked, leaves, name), checked, leaves, spec


def _validate_and_get_batch_size(dims: list[int | None], leaves: list[Any], name: str) -> int:
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
    found = _broadcast_to_and_flatten(tuple(out_dims) if isinstance(out_dims, list) else out_dims, spec)
    if found is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_structure(out_dims)} but outputs has structure {spec}."
        )
    return found
