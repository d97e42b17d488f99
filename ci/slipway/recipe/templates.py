"""Jinja: ``{{ ... }}`` and ``{% ... %}`` of meta.yaml, in a sandbox that reads nothing and runs nothing.

What goes in are lines with their numbers (selectors already applied); what comes out are rendered lines that still know
which line of the recipe they come from, so that a YAML error behind a loop names the right line. Invisible marks at
the start of each line carry the numbers through the template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import jinja2
import jinja2.nodes
import jinja2.sandbox

from slipway.errors import RecipeError
from slipway.recipe import selectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_MARK_OPEN, _MARK_CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_MARK_OPEN}(\\d+){_MARK_CLOSE}")
_TEMPLATE_NAME: Final = "<meta.yaml>"
_CAPTURING: Final = frozenset({"macro", "call", "filter"})

MOST_ITERATIONS: Final = 100_000
"""Steps of all loops of one rendering together."""
LONGEST_TEXT: Final = 1_000_000
"""Characters that a rendering, or one operation in it, may make."""


@dataclass(frozen=True)
class RenderedText:
    """The text after Jinja, and for each of its lines the line of the recipe that it comes from."""

    text: str
    numbers: tuple[int, ...]

    def line(self, index: int) -> int:
        """Line of the recipe for the line at `index` (from 0) of the text."""
        return self.numbers[min(index, len(self.numbers) - 1)] if self.numbers else 1


class _LimitError(Exception):
    pass


class _Sandbox(jinja2.sandbox.SandboxedEnvironment):
    """Jinja's sandbox, with bounds on loops and on sizes as well."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, loader: jinja2.BaseLoader) -> None:
        super().__init__(undefined=jinja2.StrictUndefined, loader=loader)
        self.globals["range"] = _bounded_range
        self.filters["_bounded"] = self._bounded
        for name in ("center", "indent", "wordwrap", "format", "batch", "slice", "truncate"):
            self.filters[name] = _small_arguments(self.filters[name])
        self._steps = 0

    def _parse(self, source: str, name: str | None, filename: str | None) -> jinja2.nodes.Template:
        template = super()._parse(source, name, filename)
        for loop in template.find_all(jinja2.nodes.For):
            loop.iter = jinja2.nodes.Filter(loop.iter, "_bounded", [], [], None, None, lineno=loop.lineno)
        return template

    def _bounded(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self._steps += 1
            if self._steps > MOST_ITERATIONS:
                raise _LimitError(f"its loops take more than {MOST_ITERATIONS} steps")
            yield item

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" and not (isinstance(right, int | float) and abs(right) <= 64):
            raise _LimitError("an exponent is larger than 64")
        if operator == "*":
            sizes = [len(value) for value in (left, right) if isinstance(value, str | list | tuple)]
            factors = [value for value in (left, right) if isinstance(value, int)]
            if sizes and factors and sizes[0] * factors[0] > LONGEST_TEXT:
                raise _LimitError(f"a repetition makes more than {LONGEST_TEXT} characters")
        if operator == "%" and isinstance(left, str) and re.search(r"\d{5,}|\*", left):
            raise _LimitError("a format asks for a very wide field")
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(getattr(__obj, "__self__", None), str):
            _check_small([*args, *kwargs.values()])
            owner = __obj.__self__
            if __obj.__name__ in ("format", "format_map") and re.search(r"\d{5,}", owner):
                raise _LimitError("a format asks for a very wide field")
            if (
                __obj.__name__ == "replace"
                and len(owner) * max((len(a) for a in args if isinstance(a, str)), default=0) > LONGEST_TEXT
            ):
                raise _LimitError(f"a replacement makes more than {LONGEST_TEXT} characters")
        return super().call(__context, __obj, *args, **kwargs)


def _bounded_range(*arguments: int) -> range:
    result = range(*arguments)
    if len(result) > MOST_ITERATIONS:
        raise _LimitError(f"range is longer than {MOST_ITERATIONS}")
    return result


def _check_small(values: Sequence[Any]) -> None:
    if any(isinstance(value, int) and abs(value) > LONGEST_TEXT // 10 for value in values):
        raise _LimitError(f"a width is larger than {LONGEST_TEXT // 10}")


def _small_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*args: Any, **kwargs: Any) -> Any:
        _check_small([*args, *kwargs.values()])
        return function(*args, **kwargs)

    # Jinja reads from the function whether to pass its environment or context.
    for name, value in vars(function).items():
        setattr(checked, name, value)
    return checked


class TemplateRenderer:
    """Renders the template of one recipe.

    Args:
        path: the recipe, as messages name it.
        read_file: gives the text of a file of the recipe's folder for ``{% include %}`` and ``{% import %}``, or None.
    """

    def __init__(self, path: str, read_file: Callable[[str], str | None]) -> None:
        self._path = path
        self._read_file = read_file
        self._compiled: dict[str, Any] = {}

    def render(self, lines: Sequence[selectors.Line], context: Mapping[str, Any]) -> RenderedText:
        """Render selected lines.

        Args:
            lines: the recipe's lines that remain, with their numbers.
            context: everything the template may name.

        Raises:
            RecipeError: syntax, an undefined name, or any failure inside the template; names the recipe's line.
        """
        numbers = [line.number for line in lines]
        loader = jinja2.FunctionLoader(lambda name: self._included(name, context))
        sandbox = _Sandbox(loader)
        try:
            marked = _mark(sandbox, "\n".join(line.text for line in lines), numbers)
            code = sandbox.compile(marked, name=_TEMPLATE_NAME, filename=_TEMPLATE_NAME)
            template = jinja2.Template.from_code(sandbox, code, sandbox.make_globals(None))
            rendered = self._run(template, context)
        except jinja2.TemplateSyntaxError as error:
            inside = error.filename not in (None, _TEMPLATE_NAME)
            where = f"{error.filename}:{error.lineno}" if inside else self._where(numbers, error.lineno)
            raise RecipeError(
                f"Jinja: {_sentence(str(error.message))}", where=where, hint="check braces, quotes and block ends"
            ) from None
        except jinja2.TemplateNotFound as error:
            raise RecipeError(
                f"Jinja: the recipe's folder has no file `{error.name}`", where=self._where(numbers, _line_of(error))
            ) from None
        except jinja2.exceptions.SecurityError as error:
            raise RecipeError(
                f"Jinja: {_sentence(str(error))}", where=self._where(numbers, _line_of(error)),
                hint="rendering runs nothing: templates may use values, filters and the recipe functions only",
            ) from None  # fmt: skip
        except jinja2.UndefinedError as error:
            raise RecipeError(
                f"Jinja: {_sentence(str(error))}", where=self._where(numbers, _line_of(error)),
                hint="set it with {% set %}, add it to conda_build_config.yaml, or use `environ.get`",
            ) from None  # fmt: skip
        except _LimitError as error:
            raise RecipeError(
                f"Jinja: the template is too large to render: {error}", where=self._where(numbers, _line_of(error))
            ) from None
        except RecursionError:
            raise RecipeError("Jinja: the template calls itself without end", where=self._path) from None
        except RecipeError as error:
            if error.where is None:
                error.where = self._where(numbers, _line_of(error))
            raise
        except Exception as error:  # whatever a filter raises on a value of the wrong kind is the recipe's mistake
            raise RecipeError(
                f"Jinja: {type(error).__name__}: {_sentence(str(error))}", where=self._where(numbers, _line_of(error))
            ) from None
        return _unmark(rendered)

    def _run(self, template: jinja2.Template, context: Mapping[str, Any]) -> str:
        parts, size = [], 0
        for part in template.generate(**context):
            size += len(part)
            if size > LONGEST_TEXT:
                raise _LimitError(f"it makes more than {LONGEST_TEXT} characters")
            parts.append(part)
        return "".join(parts)

    def _included(self, name: str, context: Mapping[str, Any]) -> str | None:
        text = self._read_file(name)
        if text is None:
            return None
        kept = selectors.select(selectors.split_lines(text), context, name)
        return "\n".join(line.text for line in kept) + "\n"

    def _where(self, numbers: Sequence[int], line: int | None) -> str:
        if not line or not numbers:
            return self._path
        return f"{self._path}:{numbers[min(line, len(numbers)) - 1]}"


def _sentence(text: str) -> str:
    return text.strip().rstrip(".").partition("\n")[0]


def _line_of(error: BaseException) -> int | None:
    """The line of the template that an exception passed through; Jinja puts it into the traceback."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == _TEMPLATE_NAME:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _mark(sandbox: jinja2.Environment, source: str, numbers: Sequence[int]) -> str:
    """Put a mark with its number at the start of each line that begins outside of Jinja's own delimiters."""
    parts: list[str] = []
    position, captured = 1, 0
    words: list[str] = []
    for _, kind, value in sandbox.lex(source):
        if kind == "block_begin":
            words = []
        elif kind not in ("data", "whitespace", "block_end"):
            words.append(value)
        elif kind == "block_end" and words:
            opens = words[0] in _CAPTURING or (words[0] == "set" and "=" not in words)
            closes = words[0] in ("endset", *(f"end{name}" for name in _CAPTURING))
            captured += opens - closes
        if kind == "data" and not captured:
            head, *rest = value.split("\n")
            value = head + "".join(
                f"\n{_MARK_OPEN}{numbers[min(position + offset, len(numbers) - 1)]}{_MARK_CLOSE}{line}"
                for offset, line in enumerate(rest)
            )
            position += len(rest)
        else:
            position += value.count("\n")
        parts.append(value)
    first = f"{_MARK_OPEN}{numbers[0]}{_MARK_CLOSE}" if numbers else ""
    return first + "".join(parts)


def _unmark(rendered: str) -> RenderedText:
    lines, numbers, current = [], [], 1
    for line in rendered.split("\n"):
        if match := _MARK.match(line):
            current = int(match[1])
        numbers.append(current)
        lines.append(_MARK.sub("", line))
    return RenderedText("\n".join(lines), tuple(numbers))
