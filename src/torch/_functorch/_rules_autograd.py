"""Rules of derivatives: gradients of batches, hooks, and `torch.autograd.Function`.

Elements do not depend on each other. So the gradient of the sum of all of them, which one pass of the engine gives, is
every element's own, if what it is the gradient of is a batch, too. Of a tensor that all elements share it is not; then
one pass runs for each element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch._functorch._rules import PYTHON, VmapInfo, loop, placed

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch._functorch._levels import Level


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _weights(level: Level, outputs: tuple[Any, ...], given: Any) -> tuple[Any, ...]:
    """What the outputs' gradients are; of single numbers one for every element."""
    weights = (None,) * len(outputs) if given is None else _listed(given)
    made = []
    for output, weight in zip(outputs, weights, strict=True):
        if weight is None and level.has(output):
            if output._value[:1].numel() > 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            weight = level.batched(torch.ones_like(output._value))
        made.append(weight)
    return tuple(made)


def _grad(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    names = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs", "allow_unused",
             "is_grads_batched", "materialize_grads")  # fmt: skip
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    outputs, inputs = _listed(given.pop("outputs")), _listed(given.pop("inputs"))
    rows = given.pop("is_grads_batched", False)
    weights = (
        _listed(given.pop("grad_outputs", None)) if rows else _weights(level, outputs, given.pop("grad_outputs", None))
    )
    if not level.any_batched((*outputs, *inputs)) and level.size and all(weight is not None for weight in weights):
        return _through_one_graph(level, func, outputs, inputs, weights, given, rows=rows)
    if rows:
        return _row_by_row(level, func, outputs, inputs, weights, given)
    if all(map(level.has, outputs)) and all(map(level.has, inputs)):
        values = tuple(output._value for output in outputs)
        vectors = tuple(None if weight is None else level.expanded(weight) for weight in weights)
        found = func(values, tuple(leaf._value for leaf in inputs), vectors, **given)
        return tuple(None if one is None else level.batched(one) for one in found)
    return _one_by_one(level, func, outputs, inputs, weights, given)


def _through_one_graph(
    level: Level,
    func: Callable[..., Any],
    outputs: Any,
    inputs: Any,
    weights: Any,
    given: dict[str, Any],
    *,
    rows: bool,
) -> tuple[Tensor | None, ...]:
    """A graph without elements, which the engine goes through for each of them, and with `rows` for each of theirs."""
    vectors = tuple(level.expanded(weight) for weight in weights)
    if rows:
        vectors = tuple(vector.flatten(0, 1) for vector in vectors)
    found = func(outputs, inputs, vectors, is_grads_batched=True, **given)
    if rows:
        found = tuple(one if one is None else one.unflatten(0, (level.size, -1)) for one in found)
    return tuple(None if one is None else level.batched(one) for one in found)


def _row_by_row(
    level: Level, func: Callable[..., Any], outputs: Any, inputs: Any, weights: Any, given: dict[str, Any]
) -> tuple[Tensor | None, ...]:
    """`is_grads_batched` of batches: one row of the gradients handed in after another."""
    keeps = given.pop("retain_graph", None)
    keeps = given.get("create_graph", False) if keeps is None else keeps
    with level.inside():
        columns = [[None] if weight is None else weight.unbind(0) for weight in weights]
        count = max(map(len, columns))
        found = []
        for index in range(count):
            row = tuple(column[index] if column[0] is not None else None for column in columns)
            found.append(func(outputs, inputs, row, retain_graph=keeps or index + 1 < count, **given))
        return tuple(None if each[0] is None else torch.stack(each) for each in zip(*found, strict=True))


def _one_by_one(
    level: Level, func: Callable[..., Any], outputs: Any, inputs: Any, weights: Any, given: dict[str, Any]
) -> tuple[Tensor | None, ...]:
    keeps = given.pop("retain_graph", None)
    keeps = given.get("create_graph", False) if keeps is None else keeps
    values, leaves = tuple(map(level.value, outputs)), tuple(map(level.value, inputs))
    rows = []
    for index in range(level.size):
        vectors = []
        for output, weight in zip(outputs, weights, strict=True):
            if weight is None:
                vectors.append(None)
            elif level.has(output):
                one = torch.zeros_like(output._value)
                one[index] = weight._value[index] if level.has(weight) else weight
                vectors.append(one)
            else:
                vectors.append(weight._value[index] if level.has(weight) else weight)
        retain = keeps or index + 1 < level.size
        found = func(values, leaves, tuple(vectors), retain_graph=retain, **given)
        rows.append([one if one is None or not level.has(leaf) else one[index]
                     for one, leaf in zip(found, inputs, strict=True)])  # fmt: skip
    if not rows:
        return tuple(level.batched(level.expanded(torch.zeros_like(leaf))) for leaf in leaves)
    return tuple(
        None if column[0] is None else level.batched(torch.stack(column)) for column in zip(*rows, strict=True)
    )


def _backward(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Gradients of leaves that are batches are each element's; those of others are sums over the elements."""
    outputs, *rest = args
    given = {**dict(zip(("gradient", "retain_graph", "create_graph", "inputs"), rest, strict=False)), **kwargs}
    weights = _weights(level, (outputs,), given.pop("gradient", None))
    vector = None if weights[0] is None else level.expanded(weights[0])
    value = outputs._value if level.has(outputs) else level.expanded(outputs)
    if given.get("inputs") is not None:
        given["inputs"] = tuple(map(level.value, _listed(given["inputs"])))
    value.backward(vector, **given)


def _register_hook(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, hook = args

    def on_value(gradient: Tensor) -> Any:
        with level.inside():
            answer = hook(level.batched(gradient))
        return None if answer is None else level.expanded(answer)

    return func(tensor._value, on_value)


def _repr(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return f"BatchedTensor(lvl={level.number}, bdim=0, value={args[0]._value!r})"


PYTHON.update({
    "torch.autograd.grad": _grad,
    "torch._tensor.backward": _backward,
    "torch._tensor.register_hook": _register_hook,
    "torch._tensor.__repr__": _repr,
})  # fmt: skip

# Functions that look at values.
PYTHON.update(
    {
        f"torch.nn.functional.{name}": loop
        for name in ("ctc_loss", "multi_margin_loss", "max_unpool1d", "max_unpool2d", "max_unpool3d")
    }
)


# ---------------------------------------------------------------------- operations written in Python


def apply(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    """`Function.apply` of batches: by its own `vmap`, or, with `generate_vmap_rule`, by batches in its methods."""
    if not level.any_batched(args):
        with level.outside():
            return function.apply(*args)
    own = function.vmap is not torch.autograd.Function.vmap
    if own and function.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an overridden "
            "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod."
        )
    if own and not level.uniform:
        in_dims = tuple(0 if level.has(arg) else None for arg in args)
        with level.outside():
            info = VmapInfo(level.size, level.randomness)
            return placed(level, *function.vmap(info, in_dims, *map(level.value, args)))
    if not function.generate_vmap_rule and function.__module__.startswith("torch."):
        with level.outside():
            return loop(level, function.apply, args, {})  # one of torch's own is an operator like others
    if not function.generate_vmap_rule and not level.uniform:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override and "
            "implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    with level.outside():
        return _of_batches(level, function, args)


class _Context:
    """The `ctx` of a Function's methods where they see batches; what it saves, the real one saves as values."""

    def __init__(self, level: Level, context: Any) -> None:
        self.__dict__.update(_level=level, _context=context, _saved=())

    def save_for_backward(self, *tensors: Any) -> None:
        self.__dict__["_saved"] = tuple(map(self._level.has, tensors))
        self._context.save_for_backward(*map(self._level.value, tensors))

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        pairs = zip(self._context.saved_tensors, self._saved, strict=True)
        return tuple(self._level.batched(value) if is_batch else value for value, is_batch in pairs)

    def mark_dirty(self, *tensors: Any) -> None:
        self._context.mark_dirty(*map(self._level.value, tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._context.mark_non_differentiable(*map(self._level.value, tensors))

    def set_materialize_grads(self, value: bool) -> None:
        self._context.set_materialize_grads(value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_context"], name)


def _of_batches(level: Level, function: Any, args: tuple[Any, ...]) -> Any:
    batched = tuple(map(level.has, args))
    shapes: list[Any] = []

    class Batches(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            ctx.own = _Context(level, ctx)
            inputs = [
                level.batched(value) if is_batch else value for value, is_batch in zip(values, batched, strict=True)
            ]
            with level.inside():
                result = function._call_forward(ctx.own, *inputs)
            shapes.append(isinstance(result, tuple))
            return tuple(level.expanded(one) if isinstance(one, Tensor) else one for one in _listed(result))

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            with level.inside():
                found = function._call_backward(
                    ctx.own, *(None if gradient is None else level.batched(gradient) for gradient in gradients)
                )
            return tuple(_own(level, one, is_batch) for one, is_batch in zip(_listed(found), batched, strict=True))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            with level.inside():
                moved = function.jvp(
                    ctx.own, *(level.batched(one) if isinstance(one, Tensor) and is_batch else one
                               for one, is_batch in zip(tangents, batched, strict=True))
                )  # fmt: skip
            return tuple(level.expanded(one) if isinstance(one, Tensor) else one for one in _listed(moved))

    Batches.__name__ = function.__name__
    results = level.wrap(Batches.apply(*map(level.value, args)))
    return results if shapes[0] else results[0]


def _own(level: Level, gradient: Any, is_batch: bool) -> Any:
    """A gradient as the input's value wants it: of what all elements share it is a sum."""
    if gradient is None:
        return None
    if is_batch:
        return level.expanded(gradient)
    return gradient._value.sum(0) if level.has(gradient) else gradient * level.size
