"""Rendered YAML to a plain dictionary, with a place for each complaint: unknown keys, duplicates, broken YAML."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import yaml

from slipway.base.errors import RecipeError, RecipeWarning
from slipway.recipe import fields

if TYPE_CHECKING:
    from slipway.recipe.templates import RenderedText


_DEEPEST: Final = 50


class ShallowScanner(yaml.scanner.Scanner):
    """Refuses brackets nested deeper than anybody writes: PyYAML's time grows with the square of their depth."""

    def fetch_flow_collection_start(self, TokenClass: type[yaml.Token]) -> None:
        """Called by PyYAML at each bracket."""
        if self.flow_level >= _DEEPEST:
            raise RecursionError
        super().fetch_flow_collection_start(TokenClass)


class _Loader(ShallowScanner, yaml.SafeLoader):
    """YAML in which numbers and dates stay text, so that version 1.10 is not 1.1."""

    def check_plain(self) -> bool:
        """Called by PyYAML where a value begins: for Windows, what `{{ PYTHON }}` stands for begins with a percent."""
        return super().check_plain() or self.peek() == "%"


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same, several times faster where PyYAML has libyaml; its messages are terser."""


_MOST_NODES: Final = 100_000
_MERGE: Final = "tag:yaml.org,2002:merge"

_Loader.yaml_implicit_resolvers = _FastLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rpartition(":")[2] not in ("int", "float", "timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True)
class Document:
    """meta.yaml of one variant.

    Attributes:
        meta: the sections; numbers are text, ``yes`` and ``true`` are True.
        path: the recipe's file, for messages.
    """

    meta: Mapping[str, Any]
    path: str
    _lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict, repr=False)

    def where(self, *keys: str | int) -> str:
        """``path:line`` of the innermost part of `keys` that the document has."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self._lines:
                return f"{self.path}:{self._lines[keys[:length]]}"
        return self.path

    def with_meta(self, meta: Mapping[str, Any]) -> Document:
        """The same file with other content; lines are those of what it had."""
        return Document(meta, self.path, self._lines)

    def section(self, name: str) -> dict[str, Any]:
        """A section that is a mapping; empty if it is absent.

        Raises:
            RecipeError: it is something else.
        """
        value = self.meta.get(name) or {}
        if not isinstance(value, Mapping):
            raise RecipeError(
                f"`{name}` must map keys to values", where=self.where(name), hint=f"write `{name}:` and its keys below"
            )
        return dict(value)


def read(text: RenderedText, path: str, selected: frozenset[int] = frozenset()) -> Document:
    """Parse and check the text of one variant.

    Args:
        text: what Jinja made.
        path: the recipe's file, for messages.
        selected: lines of the file that had a selector: among duplicates these override, as they do in conda-build.

    Raises:
        RecipeError: broken YAML, a duplicate or unknown key, or a section of the wrong shape.
    """
    try:
        try:
            reader = _Reader(_FastLoader, text, path, selected)
        except yaml.YAMLError:
            reader = _Reader(_Loader, text, path, selected)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{text.line(mark.line)}" if mark else path
        raise RecipeError(
            f"not valid YAML: {error.problem or error.context}", where=where,
            hint="check indentation, and quote values that hold `: ` or start with a special character",
        ) from None  # fmt: skip
    except yaml.YAMLError as error:
        raise RecipeError(f"not valid YAML: {str(error).partition(chr(10))[0]}", where=path) from None
    except RecursionError:
        raise RecipeError("not valid YAML: nested too deeply", where=path) from None
    if not isinstance(reader.meta, dict):
        raise RecipeError("a recipe maps section names to sections", where=path, hint="start with `package:`")
    document = Document(reader.meta, path, reader.lines)
    _check_keys(document)
    return document


class _Reader:
    """Turns YAML's nodes into plain values and notes the recipe's line of each key and item."""

    def __init__(self, loader_type: type[_Loader], text: RenderedText, path: str, selected: frozenset[int]) -> None:
        self._text = text
        self._path = path
        self._selected = selected
        self._nodes = 0
        self.lines: dict[tuple[str | int, ...], int] = {}
        self._loader = loader_type(text.text)
        try:
            root = self._loader.get_single_node()
            self.meta = self._plain(root, ()) if root is not None else {}
        finally:
            self._loader.dispose()

    def _line(self, node: yaml.Node) -> int:
        return self._text.line(node.start_mark.line)

    def _plain(self, node: yaml.Node, at: tuple[str | int, ...]) -> Any:
        self._nodes += 1
        if self._nodes > _MOST_NODES:  # a few nested aliases can stand for billions of values
            raise RecipeError(
                f"the recipe has more than {_MOST_NODES} values", where=f"{self._path}:{self._line(node)}",
                hint="YAML aliases multiply what they name",
            )  # fmt: skip
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, at)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for index, item in enumerate(node.value):
                self.lines[*at, index] = self._line(item)
                items.append(self._plain(item, (*at, index)))
            return items
        return cast("Any", self._loader.construct_object(node, deep=True))

    def _mapping(self, node: yaml.MappingNode, at: tuple[str | int, ...]) -> dict[str, Any]:
        own = [id(key) for key, _ in node.value]
        if any(key.tag == _MERGE for key, _ in node.value):
            self._loader.flatten_mapping(node)
        values: dict[str, Any] = {}
        written: set[str] = set()
        for key_node, value_node in node.value:
            line = self._line(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                raise RecipeError(
                    "keys must be plain words", where=f"{self._path}:{line}", hint="quote `{{ ... }}` in values"
                )
            key = str(key_node.value)
            place = (*at, key)
            value = self._plain(value_node, place)
            if key in written and values[key] != value and not {line, self.lines[place]} & self._selected:
                warnings.warn(
                    RecipeWarning(
                        f"`{key}` is given twice: the last counts, as in conda-build", where=f"{self._path}:{line}",
                        hint=f"the first is on line {self.lines[place]}; keep one, or choose with selectors",
                    ),
                    stacklevel=2,
                )  # fmt: skip
            values[key] = value
            self.lines[place] = line
            if id(key_node) in own:
                written.add(key)
        return values


def _check_keys(document: Document) -> None:
    for name, section in document.meta.items():
        if name in fields.FREE_SECTIONS or section is None:
            continue
        if name not in fields.SECTIONS:
            known = (*fields.SECTIONS, *fields.FREE_SECTIONS)
            raise _unknown(name, "section", known, document.where(name))
        if isinstance(section, list) and name in ("source", "outputs"):
            for index, item in enumerate(section):
                _check_mapping(document, item, name, (name, index))
        elif isinstance(section, list) and name == "requirements":
            continue
        elif name == "outputs":
            raise RecipeError(
                "`outputs` must be a list", where=document.where(name), hint="start each output with `- name:`"
            )
        else:
            _check_mapping(document, section, name, (name,))


def _check_mapping(document: Document, value: Any, section: str, at: tuple[str | int, ...]) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise RecipeError(
            f"`{section}` must map keys to values", where=document.where(*at), hint="write `key: value` lines below it"
        )
    for key, inner in value.items():
        if key not in fields.SECTIONS[section]:
            raise _unknown(key, f"key of `{section}`", tuple(fields.SECTIONS[section]), document.where(*at, key))
        if section == "outputs" and key in ("build", "requirements", "test", "about") and not isinstance(inner, list):
            _check_mapping(document, inner, key, (*at, key))
        if section == "requirements":
            _check_requirements(document, inner, (*at, key))
        if key == "run_exports" and isinstance(inner, Mapping):
            for kind in inner:
                if kind not in fields.RUN_EXPORTS:
                    raise _unknown(
                        kind, "kind of `run_exports`", tuple(fields.RUN_EXPORTS), document.where(*at, key, kind)
                    )


def _check_requirements(document: Document, value: Any, at: tuple[str | int, ...]) -> None:
    for index, item in enumerate(value if isinstance(value, list) else [value]):
        if item is not None and not isinstance(item, str):
            raise RecipeError(
                f"a requirement must be text, not {item!r}", where=document.where(*at, index),
                hint="write `- name version`; quote it if it holds `: `",
            )  # fmt: skip


def _unknown(key: str, what: str, known: tuple[str, ...], where: str) -> RecipeError:
    close = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean `{close[0]}`?" if close else f"known: {', '.join(sorted(known))}"
    return RecipeError(f"`{key}` is no {what}", where=where, hint=hint)
