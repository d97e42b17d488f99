"""A model's arguments as the inputs of a graph: names, dynamic axes, and the same arguments at other sizes."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, export
from torch.onnx._unify import Axis
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_PRIMES = (2, 3, 5, 7, 11, 13)


def bind(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by the names of the model's parameters; `*args` as one tuple, `**kwargs` one by one."""
    function = model.forward if isinstance(model, torch.nn.Module) else model
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return {f"input_{index}": value for index, value in enumerate(args)} | kwargs
    bound = signature.bind(*args, **kwargs)
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named |= value
        else:
            named[name] = value
    return named


def flatten(named: dict[str, Any]) -> Iterator[tuple[str, Tensor, tuple[Any, ...]]]:
    """Every tensor with a name, and the path to it."""
    for name, value in named.items():
        yield from _flatten(name, value, (name,))


def _flatten(name: str, value: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, Tensor, tuple[Any, ...]]]:
    if isinstance(value, Tensor):
        yield name, value, path
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(value):
            yield from _flatten(f"{name}_{index}", each, (*path, index))
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _flatten(f"{name}_{key}", each, (*path, key))


def leaves(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors among arguments, in the order of `flatten` for arguments in their order."""
    return [each for each in pytree.tree_leaves((args, kwargs)) if isinstance(each, Tensor)]


def replace(args: tuple[Any, ...], kwargs: dict[str, Any], change: Callable[[Tensor], Tensor]) -> tuple[Any, Any]:
    """The arguments with `change` of every tensor."""
    return pytree.tree_map(lambda leaf: change(leaf) if isinstance(leaf, Tensor) else leaf, (args, kwargs))  # type: ignore[no-any-return]


class DynamicAxes:
    """Which sizes of the inputs are dynamic: (input, axis) -> name; what they are and may be."""

    def __init__(self, names: Sequence[str], tensors: Sequence[Tensor]) -> None:
        self.names, self.tensors = names, tensors
        self.dims: dict[tuple[int, int], str] = {}
        self.limits: dict[str, tuple[int, int]] = {}

    def add(self, position: int, axis: int, name: str, low: int | None = None, high: int | None = None) -> None:
        """One of them; ValueError where the tensor has no such axis, or the same name has another size."""
        tensor = self.tensors[position]
        if not -tensor.dim() <= axis < tensor.dim():
            raise ValueError(f"{self.names[position]} has {tensor.dim()} dimensions, axis {axis} cannot be dynamic")
        axis %= tensor.dim()
        size = tensor.shape[axis]
        for (other, at), given in self.dims.items():
            if given == name and self.tensors[other].shape[at] != size:
                raise ValueError(
                    f"{name} is {self.tensors[other].shape[at]} in {self.names[other]} and {size} in "
                    f"{self.names[position]}: one name is one size"
                )
        limits = (2 if low is None else low, 2**31 if high is None else high)
        if (low is not None and size < low) or (high is not None and size > high):
            raise ValueError(f"{self.names[position]} has size {size} at axis {axis}, outside of {name}'s {limits}")
        known = self.limits.get(name, limits)
        self.dims[position, axis] = name
        self.limits[name] = max(known[0], limits[0]), min(known[1], limits[1])

    def add_dynamic_axes(self, given: Mapping[str, Any], others: Sequence[str]) -> None:
        """PyTorch's `dynamic_axes`; names of outputs are in `others`."""
        for name, axes in given.items():
            if name not in self.names:
                if name not in others:
                    raise ValueError(f"dynamic_axes names {name!r}; inputs and outputs are {[*self.names, *others]}")
                continue
            numbered = (
                axes
                if isinstance(axes, dict)
                else {axis: f"{name}_dynamic_axes_{index + 1}" for index, axis in enumerate(axes)}
            )
            for axis, label in numbered.items():
                self.add(self.names.index(name), axis, str(label))

    def add_dynamic_shapes(self, given: Any, named: dict[str, Any]) -> None:
        """PyTorch's `dynamic_shapes`: one entry for each argument, in the arguments' own structure."""
        if not isinstance(given, dict):
            if len(given) != len(named):
                raise ValueError(f"dynamic_shapes has {len(given)} entries, the model gets {len(named)} arguments")
            given = dict(zip(named, given, strict=True))
        unknown = [name for name in given if name not in named]
        if unknown:
            raise ValueError(f"dynamic_shapes names {unknown}; the model's arguments are {list(named)}")
        positions = {id(tensor): index for index, tensor in reversed(list(enumerate(self.tensors)))}
        for name, entry in given.items():
            self._add_entry(entry, named[name], positions, name)

    def _add_entry(self, entry: Any, value: Any, positions: dict[int, int], name: str) -> None:
        if entry is None or value is None:
            return
        if isinstance(value, Tensor):
            axes = entry if isinstance(entry, dict) else dict(enumerate(entry))
            for axis, dim in axes.items():
                self._add_dim(positions[id(value)], axis, dim)
            return
        parts = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
        )
        for key, part in parts:
            self._add_entry(entry.get(key) if isinstance(entry, dict) else entry[key], part, positions, f"{name}_{key}")

    def _add_dim(self, position: int, axis: int, dim: Any) -> None:
        if dim is None or isinstance(dim, int) or dim is export.Dim.STATIC:
            return
        if dim in (export.Dim.AUTO, export.Dim.DYNAMIC):
            self.add(position, axis, f"{self.names[position]}_dim_{axis % max(self.tensors[position].dim(), 1)}")
        elif isinstance(dim, str):
            self.add(position, axis, dim)
        else:
            self.add(position, axis, dim.__name__, dim.min, dim.max)

    # ------------------------------------------------------------------ other sizes

    def choices(self) -> Iterator[list[Axis]]:
        """Other sizes for all names: multiples first, which keep what is divisible; then a little more, then less."""
        sizes = {name: self.tensors[position].shape[axis] for (position, axis), name in self.dims.items()}
        primes = dict(zip(sizes, [*_PRIMES, *range(17, 17 + 2 * len(sizes), 2)], strict=False))
        ways = [
            lambda name, size: size * primes[name],
            lambda name, size: size * 2,
            lambda name, size: size + primes[name] - 1,
            lambda name, size: size + 1,
            lambda name, size: size // 2,
            lambda name, size: size - 1,
        ]
        seen = set()
        for way in ways:
            found = {
                name: min(max(way(name, size), self.limits[name][0]), self.limits[name][1])
                for name, size in sizes.items()
            }
            key = tuple(found.values())
            if key in seen or any(found[name] == sizes[name] for name in sizes):
                continue
            seen.add(key)
            yield [Axis(name, sizes[name], found[name], *self.limits[name]) for name in sizes]

    def resize(self, axes: list[Axis]) -> list[Tensor]:
        """The inputs at the second sizes: their own slices, again from the first where there are more."""
        second = {axis.name: axis.second for axis in axes}
        result = [tensor.detach().clone() for tensor in self.tensors]
        for (position, axis), name in self.dims.items():
            size = result[position].shape[axis]
            places = torch.arange(second[name]) % max(size, 1)
            result[position] = result[position].index_select(axis, places.to(result[position].device))
        return result
