"""Jinja's sandbox, with bounds on what a template may cost as well as on what it may reach.

Jinja keeps templates away from Python's internals. It does not keep them from looping for a year or from filling the
memory; so every loop step and every call is counted, and operations that multiply sizes are checked before they run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import jinja2
import jinja2.nodes
import jinja2.sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MOST_STEPS: Final = 100_000
"""Loop steps and calls of one rendering together."""
LONGEST_TEXT: Final = 1_000_000
"""Characters that a rendering, or one operation in it, may make."""
WIDEST: Final = 100_000
"""Largest width, count or indentation that a filter or method takes."""
_MOST_BITS: Final = 10_000
_WIDE_FORMAT: Final = re.compile(r"%[-+ #0]*\.?\d{5,}|%[-+ #0.\d]*\*|\{[^}]*:[^}]*\d{5,}")


class LimitError(Exception):
    """A template costs more than it may."""


class Sandbox(jinja2.sandbox.SandboxedEnvironment):
    """The environment that recipes are rendered in. Set `steps` to 0 before each rendering."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, loader: jinja2.BaseLoader) -> None:
        super().__init__(undefined=jinja2.StrictUndefined, loader=loader, auto_reload=False, cache_size=0)
        self.steps = 0
        self.globals["range"] = _bounded_range
        del self.globals["lipsum"]
        self.filters |= {"_counted": self._counted, "_short": _short}
        for name in ("center", "indent", "wordwrap", "batch", "slice", "truncate", "tojson"):
            self.filters[name] = _checked(self.filters[name], _check_widths)
        self.filters["format"] = _checked(self.filters["format"], _check_format)
        self.filters["replace"] = _checked(self.filters["replace"], _check_product)
        self.filters["join"] = _checked(self.filters["join"], _check_product)

    def _parse(self, source: str, name: str | None, filename: str | None) -> jinja2.nodes.Template:
        template = super()._parse(source, name, filename)
        for loop in template.find_all(jinja2.nodes.For):
            loop.iter = jinja2.nodes.Filter(loop.iter, "_counted", [], [], None, None, lineno=loop.lineno)
        for concatenation in template.find_all(jinja2.nodes.Concat):
            concatenation.nodes = [
                jinja2.nodes.Filter(node, "_short", [], [], None, None, lineno=node.lineno)
                for node in concatenation.nodes
            ]
        return template

    def _step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise LimitError(f"it takes more than {MOST_STEPS} loop steps and calls")

    def _counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._step()
            yield item

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            _check_power(left, right)
        elif operator == "*":
            sizes = [len(value) for value in (left, right) if isinstance(value, str | list | tuple)]
            factors = [value for value in (left, right) if isinstance(value, int)]
            if sizes and factors and sizes[0] * factors[0] > LONGEST_TEXT:
                raise LimitError(f"a repetition makes more than {LONGEST_TEXT} characters")
        elif operator == "%" and isinstance(left, str):
            _check_format(left)
        elif operator == "+":
            _short(left)
            _short(right)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        __self._step()
        method = getattr(__obj, "__wrapped__", __obj)
        owner = getattr(method, "__self__", None)
        if isinstance(owner, str):
            _check_widths(owner, *args, **kwargs)
            if method.__name__ in ("format", "format_map"):
                _check_format(owner)
            if method.__name__ in ("replace", "join"):
                _check_product(owner, *args, **kwargs)
        return super().call(__context, __obj, *args, **kwargs)


def _bounded_range(*arguments: int) -> range:
    result = range(*arguments)
    if len(result) > MOST_STEPS:
        raise LimitError(f"a range is longer than {MOST_STEPS}")
    return result


def _short(value: Any) -> Any:
    if isinstance(value, str | list | tuple) and len(value) > LONGEST_TEXT:
        raise LimitError(f"a text is longer than {LONGEST_TEXT} characters")
    return value


def _check_power(base: Any, exponent: Any) -> None:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > _MOST_BITS:
        raise LimitError(f"a power has more than {_MOST_BITS} bits")


def _check_widths(*values: Any, **named: Any) -> None:
    if any(isinstance(value, int) and abs(value) > WIDEST for value in (*values, *named.values())):
        raise LimitError(f"a width is larger than {WIDEST}")


def _check_format(*values: Any, **_: Any) -> None:
    if any(isinstance(value, str) and _WIDE_FORMAT.search(value) for value in values):
        raise LimitError("a format may ask for a very wide field")


def _check_product(*values: Any, **named: Any) -> None:
    sizes = sorted(len(value) for value in (*values, *named.values()) if isinstance(value, str | list | tuple))
    if len(sizes) > 1 and sizes[-1] * sizes[-2] > LONGEST_TEXT:
        raise LimitError(f"a replacement or join may make more than {LONGEST_TEXT} characters")


def _checked(function: Callable[..., Any], check: Callable[..., None]) -> Callable[..., Any]:
    """The filter `function`, preceded by `check` on the same arguments."""
    passes_context = hasattr(function, "jinja_pass_arg")

    def checked(*args: Any, **kwargs: Any) -> Any:
        values: Sequence[Any] = args[1:] if passes_context else args
        check(*values, **kwargs)
        return function(*args, **kwargs)

    # Jinja reads from the function whether to pass its environment or context.
    for name, value in vars(function).items():
        setattr(checked, name, value)
    return checked
