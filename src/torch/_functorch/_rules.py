"""What functions of torch are of a batch: the table of rules, and the loop over elements for what has none.

A rule is called as `rule(level, func, args, kwargs)`, outside of its level: what it calls works on values, which are
batches of the next level out, or plain tensors. Rules are found by name, so that `torch.add`, `Tensor.add` and
`Tensor.add_` share one; it calls whichever of them it was asked for.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch._defined_operator import OperatorBase
from torch._functorch._levels import Batched, RandomStates
from torch.overrides import redispatch_function
from torch.utils._pytree import tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch._functorch._levels import Level

    Rule = Callable[[Level, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

RULES: dict[str, Rule] = {}  # functions, methods and operators of the core
PROPERTIES: dict[str, Callable[[Level, Tensor], Any]] = {}
PYTHON: dict[str, Rule] = {}  # functions written in Python that are more than their parts


def rule(names: str) -> Callable[[Rule], Rule]:
    """Decorates the rule of functions of these names."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names.split(), function))
        return function

    return register


def call(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function of batches of the level."""
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__", "__delete__"):
        return _property(level, func, name, args)
    if inspect.isfunction(func) and getattr(Tensor, name, None) is not func:
        with level.inside():
            return redispatch_function(func, (), args, kwargs)
    if not level.any_batched(args) and not (kwargs and level.any_batched(kwargs.values())):
        return _of_no_batch(level, func, name, args, kwargs)
    if isinstance(func, OperatorBase):
        return _defined(level, func, args, kwargs)
    if kwargs and kwargs.get("out") is not None:
        raise RuntimeError(f"vmap: {name}(..., out=...) is not supported; copy the result, if you need to")
    return RULES.get(name, loop)(level, func, args, kwargs)


def _property(level: Level, func: Any, name: str, args: tuple[Any, ...]) -> Any:
    tensor = args[0]
    if not level.any_batched(args):
        return func(*args)
    if name == "__get__" and level.has(tensor):
        known = PROPERTIES.get(func.__self__.__name__)
        if known is not None:
            return known(level, tensor._value)
        return level.wrap(func(tensor._value))
    check_written(level, func.__self__.__name__, tensor, args[1:])
    return func(tensor._value, *map(level.value, args[1:]))


# ---------------------------------------------------------------------- random numbers


def is_random(func: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the call draws random numbers."""
    if name in _ASKED:
        return _ASKED[name](args, kwargs)
    return name in _RANDOM


def _draws(name: str, place: int, default: Any) -> Callable[[tuple[Any, ...], dict[str, Any]], bool]:
    return lambda args, kwargs: bool(args[place] if len(args) > place else kwargs.get(name, default))


_RANDOM = frozenset((
    "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "uniform_", "normal", "normal_",
    "random_", "bernoulli", "bernoulli_", "multinomial", "exponential_", "geometric_", "log_normal_", "cauchy_",
    "poisson", "binomial", "_standard_gamma", "_sample_dirichlet",
))  # fmt: skip


def _drops(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return _draws("train", 2, default=False)(args, kwargs) and _draws("p", 1, default=0.5)(args, kwargs)


_ASKED: dict[str, Callable[[tuple[Any, ...], dict[str, Any]], bool]] = {
    **{
        f"{name}{end}": _drops
        for name in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "native_dropout")
        for end in ("", "_")
    },
    "rrelu": _draws("training", 3, default=False),
    "rrelu_": _draws("training", 3, default=False),
    "scaled_dot_product_attention": _draws("dropout_p", 4, default=0.0),
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), lambda args, kwargs: bool(args[5] and args[6])),
}


def check_random(level: Level, name: str) -> None:
    """RuntimeError where `vmap` was not told what random numbers mean."""
    if level.randomness == "error":
        raise RuntimeError(
            f"vmap: called random operation while in randomness error mode ({name}). Please either use the 'same' or "
            "'different' randomness flags on vmap or perform the randomness operation out of vmap"
        )


def _of_no_batch(
    level: Level, func: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Nothing changes, except that every element may want random numbers of its own."""
    if not is_random(func, name, args, kwargs):
        return func(*args, **kwargs)
    check_random(level, name)
    if level.randomness == "same":
        return func(*args, **kwargs)
    if name.endswith("_"):
        raise RuntimeError(
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
            "randomness. If this is necessary for your usage, please file an issue with functorch."
        )
    if name in ("rand", "randn"):
        size = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        if not kwargs.get("generator") and "size" not in kwargs:
            return level.batched(func(level.size, *size, **kwargs))
    tensors, spec = tree_flatten((args, kwargs))
    tensors = [level.batched(level.expanded(leaf)) if isinstance(leaf, Tensor) else leaf for leaf in tensors]
    args, kwargs = tree_unflatten(tensors, spec)
    return (RULES.get(name, loop) if level.any_batched(tensors) else loop)(level, func, args, kwargs)


# ---------------------------------------------------------------------- one element after another


def loop(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function of one element after another: what every operator without a rule gets."""
    name = getattr(func, "__name__", "")
    leaves, spec = tree_flatten((args, kwargs))
    writes = (name.endswith("_") and not name.endswith("__")) or name == "__setitem__"
    if writes:
        check_written(level, name, args[0], leaves[1:])
    random = is_random(func, name, args, kwargs)
    if random:
        check_random(level, name)
    states = RandomStates() if random and level.randomness == "same" else None
    columns = [
        (leaf._value.unbind() if level.size else [leaf._value.new_zeros(leaf._value.shape[1:])])
        if level.has(leaf) else None
        for leaf in leaves
    ]  # fmt: skip
    results = []
    for index in range(max(level.size, 1)):
        if states is not None:
            states.restore()
        one = [leaf if column is None else column[index] for leaf, column in zip(leaves, columns, strict=True)]
        if writes and level.has(leaves[0]) and level.size:
            one[0] = leaves[0]._value[index]  # what unbind gives may not be written
        element_args, element_kwargs = tree_unflatten(one, spec)
        results.append(func(*element_args, **element_kwargs))
    return args[0] if writes else _stacked(level, name, results)


def _stacked(level: Level, name: str, results: list[Any]) -> Any:
    first, spec = tree_flatten(results[0])
    rows = [tree_flatten(result)[0] for result in results]
    stacked = []
    for number, leaf in enumerate(first):
        column = [row[number] for row in rows]
        if not isinstance(leaf, Tensor):
            if any(other != leaf for other in column):
                raise RuntimeError(f"vmap: {name} gives each element another value, which no tensor holds")
            stacked.append(leaf)
            continue
        if any(other.shape != leaf.shape for other in column):
            raise dynamic_shape(name)
        value = torch.stack(column) if level.size else leaf.new_zeros((0, *leaf.shape))
        stacked.append(level.batched(value))
    return tree_unflatten(stacked, spec)


def dynamic_shape(name: str) -> RuntimeError:
    """The error for what gives every element another shape."""
    return RuntimeError(
        f"vmap: It looks like you attempted to use an operation with a dynamic shape (aten::{name}): the elements' "
        "results would have different shapes, and make no batch. Use another operation."
    )


# ---------------------------------------------------------------------- what rules share


def check_written(level: Level, name: str, target: Any, others: Iterable[Any]) -> None:
    """RuntimeError where elements would write what is not one of theirs."""
    if not level.has(target) and level.any_batched(others):
        raise RuntimeError(
            f"vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
            f"extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
            f"`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of {name}."
        )


def is_write(name: str) -> bool:
    """Whether a function of this name writes its first argument."""
    return name.endswith("_") and not name.endswith("__")


def finish(level: Level, name: str, args: tuple[Any, ...], result: Any) -> Any:
    """What a rule returns: the written tensor itself, or the result as batches."""
    return args[0] if is_write(name) else level.wrap(result)


def normalized(dim: int, rank: int) -> int:
    """A dimension of `rank` ones counted from the front; IndexError as of any function if there is none."""
    limit = max(rank, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim % limit


def rank_of(level: Level, tensor: Tensor) -> int:
    """How many dimensions an element has."""
    return tensor._value.dim() - 1 if level.has(tensor) else tensor.dim()


def aligned(level: Level, tensor: Any, rank: int) -> Any:
    """The value, with dimensions of size 1 after the elements' own, so that elements of all tensors broadcast."""
    if not level.has(tensor):
        return tensor
    value = tensor._value
    missing = rank - (value.dim() - 1)
    return value if missing <= 0 else value[(slice(None), *(None,) * missing)]


def batches(values: Iterable[Any]) -> list[Batched]:
    """The batched tensors among the values."""
    return [value for value in values if type(value) is Batched]


# ---------------------------------------------------------------------- operators that programs define


class VmapInfo(NamedTuple):
    """What the `vmap` of a Function, or of an operator, is told."""

    batch_size: int
    randomness: str


def _defined(level: Level, operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operator that a program has defined: by the `vmap` that it has registered, or one element after another."""
    if operator.vmap is None:
        return loop(level, operator, args, kwargs)
    values = operator._bind(args, kwargs)
    in_dims = tuple(0 if level.has(value) else None for value in values)
    info = VmapInfo(level.size, level.randomness)
    return placed(level, *operator.vmap(info, in_dims, *map(level.value, values)))


def placed(level: Level, results: Any, out_dims: Any) -> Any:
    """Results with their elements along `out_dims` as batches; those of None are the same for all."""
    if not isinstance(results, tuple):
        return results if out_dims is None else level.batched(results.movedim(out_dims, 0))
    dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(results)
    return tuple(
        result if dim is None or not isinstance(result, Tensor) else level.batched(result.movedim(dim, 0))
        for result, dim in zip(results, dims, strict=True)
    )
