"""One pass of the engine for a whole batch of gradients: what `is_grads_batched`, and `vmap` of a `vjp`, are made of.

The engine's nodes know nothing of `vmap`. They get `Rows`, wrappers that look like one gradient, whose class answers
for the operators that a node calls: by the table of rules, on all gradients at once.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from torch import _C, Tensor, set_grad_enabled
from torch._functorch import _rules
from torch._functorch._batching import BatchLevel
from torch.autograd import _callbacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch._functorch._levels import Level


class _Pass(BatchLevel):
    """The level of one pass; `is_recorded`: by its results may be differentiated."""

    def __init__(self, size: int, *, is_recorded: bool) -> None:
        super().__init__(size)
        self.is_recorded = is_recorded


class Rows(Tensor):
    """The gradients of a batch, which look like one of them; they are the value of `_batched`."""

    _batched: Any  # Batched, whose level is a _Pass

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        level: _Pass = next(_find_rows((*args, *(kwargs or {}).values())))._batched._level
        rule, function, writes = _answer_of(func)
        named = {key: _batched(value) for key, value in kwargs.items()} if kwargs else {}
        with set_grad_enabled(level.is_recorded):  # of what a wrapper stands for; its own history is nobody's
            result = rule(level, function, tuple(map(_batched, args)), named)
        return args[0] if writes else _rows(level, result)


@functools.cache
def _answer_of(operator: Any) -> tuple[_rules.Rule, Callable[..., Any], bool]:
    """The operator's rule, the function that it is called with, and whether that writes its first argument."""
    name = operator.overloadpacket.__name__
    rule = _OWN.get(name) or (_element_wise if name in _ELEMENT_WISE else _rules.RULES.get(name, _rules.loop))
    if rule is _rules.loop and operator.is_view:
        raise NotImplementedError(f"aten::{name}: what is written to a view of each row would not reach the batch")
    # What only formulas call is called as the operator that it is.
    function = next((getattr(space, name) for space in _SPACES if hasattr(space, name)), operator)
    return rule, function, _rules.is_write(name)


_SPACES = (_C._VariableFunctions, _C._nn, Tensor)
# Operators that only formulas call.
_ELEMENT_WISE = frozenset(
    f"{name}_backward"
    for name in ("tanh", "sigmoid", "threshold", "gelu", "silu", "mish", "elu", "leaky_relu", "softplus", "log_sigmoid",
                 "hardswish", "hardsigmoid")
)  # fmt: skip


def _element_wise(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return level.wrap(func(*(level.expanded(arg) if isinstance(arg, Tensor) else arg for arg in args), **kwargs))


def _slice(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, dim, *bounds = args
    dim = _rules.normalized(dim, _rules.rank_of(level, tensor))
    return level.wrap(tensor._value[(slice(None),) * (dim + 1) + (slice(*bounds),)])


def _index(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, indices = args
    place = tuple(slice(None) if index is None else index for index in indices)
    return _rules.RULES["__getitem__"](level, Tensor.__getitem__, (tensor, place), {})


_OWN = {"slice": _slice, "index": _index}


def _find_rows(values: Iterable[Any]) -> Iterable[Rows]:
    for value in values:
        if type(value) is Rows:
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _find_rows(value)


def _batched(value: Any) -> Any:
    if type(value) is Rows:
        return value._batched
    return [_batched(each) for each in value] if isinstance(value, list) else value


def _rows(level: Level, result: Any) -> Any:
    """What a rule returns, as the engine's nodes may see it."""
    if isinstance(result, (list, tuple)):
        return [_rows(level, each) for each in result]
    if not level.has(result):
        return result
    value = result._value
    made = _C._make_wrapper(Rows, value.shape[1:], value.stride()[1:], 0, value.dtype, value.device, False)
    made._batched = result
    return made


def take_pass(
    outputs: tuple[Tensor, ...],
    gradients: tuple[Tensor | None, ...],
    create_graph: bool,
    inputs: tuple[Tensor, ...],
    allow_unused: bool,
    size: int,
) -> tuple[Tensor | None, ...] | None:
    """The gradients of `inputs` for each of `size` rows of `gradients`, by one pass.

    None where a node does what has no meaning for a batch, or fails for another reason, which each row will show. The
    graph is kept.
    """
    level = _Pass(size, is_recorded=create_graph)
    rows = tuple(None if gradient is None else _rows(level, level.batched(gradient)) for gradient in gradients)
    try:
        found = _callbacks.run(outputs, rows, True, create_graph, inputs, allow_unused, False)
    except Exception:
        return None
    return tuple(
        None if one is None else one._batched._value if type(one) is Rows else level.expanded(one) for one in found
    )
