"""What a recording is: calls as data, with references in place of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.onnx.errors import UnsupportedOperatorError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch
    from torch.onnx._sizes import Guard


@dataclass(frozen=True)
class Reference:
    """A recorded value, by its number."""

    number: int


@dataclass
class Record:
    """A call: its arguments and its result with `Reference` for tensors, and where in the program it stood."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    results: Any
    location: str
    data_sized: bool = False


@dataclass
class Recording:
    """All that a run gave. Values are numbered as they appear, so that two runs of one program can be compared."""

    records: list[Record] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: Any = None
    constants: dict[int, Tensor] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of constants that are parameters or buffers
    computed: dict[int, Tensor] = field(default_factory=dict)  # results that depend on sizes only
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    dtypes: dict[int, torch.dtype] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    answers: list[tuple[str, str, Any]] = field(default_factory=list)  # (location, function, value) of sizes only
    data_sized: bool = False
    foreign: bool = False  # whether it uses tensors that it did not see being made


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """`tree` with `function` of all that is not a list, tuple, dict or slice."""
    if isinstance(tree, (list, tuple)):
        values = [map_leaves(function, each) for each in tree]
        return values if isinstance(tree, list) else tuple(values)
    if isinstance(tree, dict):
        return {key: map_leaves(function, value) for key, value in tree.items()}
    if isinstance(tree, slice):
        return slice(*(map_leaves(function, each) for each in (tree.start, tree.stop, tree.step)))
    return function(tree)


def iterate_leaves(tree: Any) -> Iterator[Any]:
    """What `map_leaves` calls its function with."""
    if isinstance(tree, (list, tuple)):
        for each in tree:
            yield from iterate_leaves(each)
    elif isinstance(tree, dict):
        yield from iterate_leaves(list(tree.values()))
    elif isinstance(tree, slice):
        yield from (tree.start, tree.stop, tree.step)
    else:
        yield tree


def flatten_outputs(result: Any) -> Iterator[Any]:
    """The tensors and numbers of what a model gave, in their order; None is left out."""
    if isinstance(result, (Tensor, bool, int, float)):
        yield result
    elif isinstance(result, Mapping):
        for each in result.values():
            yield from flatten_outputs(each)
    elif isinstance(result, (list, tuple)):
        for each in result:
            yield from flatten_outputs(each)
    elif is_dataclass(result):
        for each in fields(result):
            yield from flatten_outputs(getattr(result, each.name))
    elif result is not None:
        raise UnsupportedOperatorError(f"the model gives a {type(result).__name__}: a graph gives tensors")
