"""Jinja: ``{{ ... }}`` and ``{% ... %}`` of meta.yaml, in a sandbox that reads nothing and runs nothing.

What goes in are lines with their numbers (selectors already applied); what comes out are rendered lines that still know
which line of the recipe they come from, so that a YAML error behind a loop names the right line. Invisible marks at
the start of each line carry the numbers through the template.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import jinja2
import jinja2.exceptions
import jinja2.sandbox

from slipway.base.errors import RecipeError
from slipway.recipe import selectors
from slipway.recipe.limits import HINT, OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType

    from slipway.recipe.limits import RenderLimits

_MARK_OPEN, _MARK_CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_MARK_OPEN}(\\d+){_MARK_CLOSE}")
_TEMPLATE_NAME: Final = "<meta.yaml>"
_CAPTURING: Final = frozenset({"macro", "call", "filter"})


@dataclass(frozen=True)
class RenderedText:
    """The text after Jinja, and for each of its lines the line of the recipe that it comes from."""

    text: str
    numbers: tuple[int, ...]

    def line(self, index: int) -> int:
        """Line of the recipe for the line at `index` (from 0) of the text."""
        return self.numbers[min(index, len(self.numbers) - 1)] if self.numbers else 1


class TemplateRenderer:
    """Renders the template of one recipe.

    Args:
        path: the recipe, as messages name it.
        read_file: gives the text of a file of the recipe's folder for ``{% include %}`` and ``{% import %}``, or None.
        limits: what the process may take, for messages; the kernel holds it to them, see `slipway.recipe.limits`.
    """

    def __init__(self, path: str, read_file: Callable[[str], str | None], limits: RenderLimits) -> None:
        self._limits = limits
        self._path = path
        self._read_file = read_file
        self._context: Mapping[str, Any] = {}
        self._sandbox = jinja2.sandbox.SandboxedEnvironment(
            undefined=jinja2.StrictUndefined,
            loader=jinja2.FunctionLoader(self._included),
            auto_reload=False,
            cache_size=0,
        )
        del self._sandbox.globals["lipsum"]  # says something else each time
        self._compiled: dict[tuple[int, ...], jinja2.Template] = {}

    def render(self, lines: Sequence[selectors.Line], context: Mapping[str, Any]) -> RenderedText:
        """Render selected lines.

        Args:
            lines: the recipe's lines that remain, with their numbers.
            context: everything the template may name.

        Raises:
            RecipeError: syntax, an undefined name, or any failure inside the template; names the recipe's line.
        """
        numbers = tuple(line.number for line in lines)
        self._context = context
        try:
            if numbers not in self._compiled:
                self._compiled[numbers] = self._compile("\n".join(line.text for line in lines), numbers)
            rendered = self._compiled[numbers].render(context)
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
            text = _undefined(str(error))
            raise RecipeError(
                f"Jinja: {text}", where=self._where(numbers, _line_of(error)),
                hint="set it with {% set %}, add it to conda_build_config.yaml, or use `environ.get`"
                if "GIT_" not in text
                else "rendering fetches no sources, so only build scripts get GIT_* variables: write the version down, "
                "as `git_rev` says it",
            ) from None  # fmt: skip
        except (OutOfTimeError, MemoryError) as error:
            line = _line_of(error)
            error.__traceback__ = None  # what fills the memory hangs on it
            raise RecipeError(
                f"Jinja: the template needs {self._limits.explain(error)}", where=self._where(numbers, line), hint=HINT
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

    def _compile(self, source: str, numbers: tuple[int, ...]) -> jinja2.Template:
        code = _compiled(source, numbers)
        return jinja2.Template.from_code(self._sandbox, code, self._sandbox.make_globals(None))

    def _included(self, name: str) -> str | None:
        text = self._read_file(name)
        if text is None:
            return None
        kept = selectors.select(selectors.split_lines(text), self._context, name)
        return "\n".join(line.text for line in kept) + "\n"

    def _where(self, numbers: Sequence[int], line: int | None) -> str:
        if not line or not numbers:
            return self._path
        return f"{self._path}:{numbers[min(line, len(numbers)) - 1]}"


@functools.lru_cache(maxsize=16)
def _compiled(source: str, numbers: tuple[int, ...]) -> CodeType:
    """A template with its marks as Python's code, which is the same when the recipe is rendered once more."""
    sandbox = jinja2.sandbox.SandboxedEnvironment(undefined=jinja2.StrictUndefined)
    return sandbox.compile(_mark(sandbox, source, numbers), name=_TEMPLATE_NAME, filename=_TEMPLATE_NAME)


def _sentence(text: str) -> str:
    return text.strip().rstrip(".").partition("\n")[0]


def _undefined(text: str) -> str:
    variable = re.search(r"Environment object' has no attribute '(.*)'", text)
    return f"the environment variable `{variable[1]}` is not set" if variable else _sentence(text)


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
    captured, line = 0, 1
    words: list[str] = []
    for begin, kind, value in sandbox.lex(source):
        parts.append("\n" * (begin - line))  # what `{%-` strips is not in the tokens, but counts as lines
        line = begin + value.count("\n")
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
                f"\n{_MARK_OPEN}{numbers[min(number, len(numbers)) - 1]}{_MARK_CLOSE}{text}"
                for number, text in enumerate(rest, start=begin + 1)
            )
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
