"""`torch._foreach_NAME`: an operator over lists of tensors, which optimizers of libraries call. Each tensor in turn.

What follows the first list is a list as long, or one number or tensor for all; NAME_ changes the tensors of the first.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_UNARY = [
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]
_WITH_OTHERS = [
    "add",
    "addcdiv",
    "addcmul",
    "clamp_max",
    "clamp_min",
    "div",
    "lerp",
    "maximum",
    "minimum",
    "mul",
    "pow",
    "sub",
]
# Methods take these with other arguments, or not at all.
_WITH_OPTIONS = {"add", "addcdiv", "addcmul", "maximum", "minimum", "norm", "pow", "powsum", "sub"}
_NUMBER_OPERATORS = {"maximum": "clamp_min", "minimum": "clamp_max"}
NAMES = {f"_foreach_{name}{end}" for name in (*_UNARY, *_WITH_OTHERS) for end in ("", "_")}
NAMES |= {f"_foreach_{name}" for name in ("clone", "copy_", "max", "mm", "norm", "powsum", "zero_")}


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _count(lists: Sequence[Any]) -> int:
    """How many tensors: that of every list. RuntimeError unless they agree."""
    first = next(values for values in lists if _is_list(values))
    if not first:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for values in lists:
        if _is_list(values) and len(values) != len(first):
            if isinstance(values[0] if values else None, torch.Tensor):
                raise RuntimeError(
                    f"Tensor lists must have the same number of tensors, got {len(first)} and {len(values)}"
                )
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    return len(first)


def _apply(one: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    count = _count(args)
    columns = [values if _is_list(values) else repeat(values, count) for values in args]
    return [one(*row, **options) for row in zip(*columns, strict=True)]


def _operator(name: str) -> Callable[..., Any]:
    plain = name.rstrip("_")
    if plain not in _WITH_OPTIONS:
        return getattr(torch.Tensor, name)  # type: ignore[no-any-return]

    def one(tensor: Any, *others: Any, **options: Any) -> Any:
        last = others[-1] if others else None
        if plain in ("addcdiv", "addcmul") and len(others) == 3:
            options["value"], others = (last.item() if isinstance(last, torch.Tensor) else last), others[:2]
        if plain in ("add", "sub") and len(others) == 2:
            options["alpha"], others = last, others[:1]
        called = name
        if others and not isinstance(others[0], torch.Tensor) and plain in _NUMBER_OPERATORS:
            called = _NUMBER_OPERATORS[plain] + name[len(plain) :]
        if called in ("maximum_", "minimum_"):
            return getattr(torch, plain)(tensor, *others, out=tensor)
        if not isinstance(tensor, torch.Tensor):
            return getattr(torch, called)(tensor, *others, **options)
        return getattr(tensor, called)(*others, **options)

    return one


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in NAMES:
        raise AttributeError(f"module 'torch' has no attribute '{name}'", name=name)
    operator = name.removeprefix("_foreach_")
    one = _operator(operator)
    if operator == "norm":
        one = torch.linalg.vector_norm
    elif operator == "powsum":

        def one(tensor: Any, ord: Any = 2, dtype: Any = None) -> Any:
            return tensor.abs().pow(ord).sum(dtype=dtype)

    def foreach(*args: Any, **options: Any) -> Any:
        for key in options and (
            "self",
            "other",
            "scalar",
            "scalars",
            "exponent",
            "tensor1",
            "tensor2",
            "tensors1",
            "weight",
            "weights",
        ):
            if key in options:
                args = (*args, options.pop(key))
        if operator == "norm" and len(args) > 2:
            args, options["dtype"] = args[:2], args[2]
        results = _apply(one, args, options)
        if operator in ("copy_", "zero_"):
            return None
        return args[0] if operator.endswith("_") else tuple(results)

    foreach.__name__ = foreach.__qualname__ = name
    foreach.__doc__ = f"`{operator}` of each tensor of a list."
    globals()[name] = foreach
    return foreach
