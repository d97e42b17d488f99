"""Sizes that remember where they came from.

While a model is recorded, `x.shape[0]` is a `Size`: an int with its value, and an expression of how it came about.
Arithmetic gives further ones, so `x.view(batch * heads, -1)` is known to be a product of two sizes. A comparison gives
a plain bool, and is kept as a `Guard`: the recording holds for other sizes only where it turns out the same.
Expressions are numbers and tuples: ("dim", name) of an input, ("size", value, axis) of any value, ("add", a, b).
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Expression = Any

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow")},
    **{name: getattr(operator, name) for name in ("neg", "abs", "lt", "le", "gt", "ge", "eq", "ne")},
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%", "truediv": "/", "pow": "**"}
_SIGNS |= {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


@dataclass(frozen=True)
class Guard:
    """A comparison that the program made: `expression` was `outcome`."""

    expression: Expression
    outcome: bool
    location: str


class _Tracked:
    """What `Size` and `Ratio` share: their expression, and who keeps guards."""

    expression: Expression
    guards: list[Guard]
    locate: Callable[[], str]

    def _derive(self, name: str, *operands: Any) -> Any:
        value = FUNCTIONS[name](*(_plain(each) for each in operands))
        expression = (name, *(expression_of(each) for each in operands))
        if isinstance(value, complex):
            return value
        kind = Size if isinstance(value, int) else Ratio
        return kind(value, expression, self.guards, self.locate)

    def _compare(self, name: str, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        outcome = FUNCTIONS[name](_plain(self), _plain(other))
        expression = (name, self.expression, expression_of(other))
        if expression[1] != expression[2]:
            self.guards.append(Guard(expression, outcome, self.locate()))
        return outcome

    def __bool__(self) -> bool:
        return bool(self._compare("ne", 0))

    def __hash__(self) -> int:
        return hash(_plain(self))

    def __reduce__(self) -> Any:
        return type(_plain(self)), (_plain(self),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __round__(self, digits: int | None = None) -> Any:
        return self._derive("round", self) if digits is None else round(_plain(self), digits)  # type: ignore[call-overload]


def _add_operators() -> None:
    def binary(name: str) -> tuple[Any, Any]:
        def forward(self: Any, other: Any) -> Any:
            return self._derive(name, self, other) if isinstance(other, (int, float)) else NotImplemented

        def reflected(self: Any, other: Any) -> Any:
            return self._derive(name, other, self) if isinstance(other, (int, float)) else NotImplemented

        return forward, reflected

    for name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow"):
        for prefix, method in zip(("", "r"), binary(name), strict=True):
            setattr(_Tracked, f"__{prefix}{name}__", method)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(_Tracked, f"__{name}__", lambda self, other, name=name: self._compare(name, other))
    for name in ("neg", "abs", "floor", "ceil", "trunc"):
        setattr(_Tracked, f"__{name}__", lambda self, name=name: self._derive(name, self))


_add_operators()


class Size(_Tracked, int):
    """An int with its expression."""

    def __new__(cls, value: int, expression: Expression, guards: list[Guard], locate: Callable[[], str]) -> Size:
        """A size; `guards` is where comparisons are kept, `locate()` says where the program is."""
        self = int.__new__(cls, value)
        self.expression, self.guards, self.locate = expression, guards, locate  # type: ignore[method-assign]
        return self


class Ratio(_Tracked, float):
    """A float that came from sizes, with its expression."""

    def __new__(cls, value: float, expression: Expression, guards: list[Guard], locate: Callable[[], str]) -> Ratio:
        """As for `Size`."""
        self = float.__new__(cls, value)
        self.expression, self.guards, self.locate = expression, guards, locate  # type: ignore[method-assign]
        return self


def _plain(value: Any) -> Any:
    if isinstance(value, Size):
        return int.__add__(value, 0)
    return float.__add__(value, 0.0) if isinstance(value, Ratio) else value


def expression_of(value: Any) -> Expression:
    """The expression of a size, or the number itself."""
    return value.expression if isinstance(value, _Tracked) else value


def leaves(expression: Expression) -> Iterator[tuple[Any, ...]]:
    """The ("dim", name) and ("size", value, axis) in an expression."""
    if isinstance(expression, tuple):
        if expression[0] in ("dim", "size"):
            yield expression
        else:
            for part in expression[1:]:
                yield from leaves(part)


def evaluate(expression: Expression, leaf: Callable[[tuple[Any, ...]], int]) -> Any:
    """The number that an expression is where `leaf` gives the sizes."""
    if not isinstance(expression, tuple):
        return expression
    if expression[0] in ("dim", "size"):
        return leaf(expression)
    return FUNCTIONS[expression[0]](*(evaluate(part, leaf) for part in expression[1:]))


def describe(expression: Expression) -> str:
    """An expression as Python would write it."""
    if not isinstance(expression, tuple):
        return str(expression)
    if expression[0] == "dim":
        return str(expression[1])
    if expression[0] == "size":
        return f"size({expression[2]}) of an intermediate result"
    parts = [describe(part) for part in expression[1:]]
    if len(parts) == 1:
        return f"{expression[0]}({parts[0]})"
    parts = [f"({text})" if isinstance(part, tuple) and part[0] in _SIGNS else text
             for part, text in zip(expression[1:], parts, strict=True)]  # fmt: skip
    return f"{parts[0]} {_SIGNS[expression[0]]} {parts[1]}"
