"""meta.yaml as a tree that still has its selectors and templates, in the words of recipe.yaml.

Selectors belong to lines, which YAML forgets; so each becomes a mark at the beginning of its line's key or item, and
each template a mark in its place, before the text is parsed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import yaml

from slipway.base.errors import RecipeError
from slipway.recipe import selectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SET: Final = re.compile(r"\s*\{%-?\s*set\s+(\w+)\s*=\s*(.*?)\s*-?%\}\s*$")
_BRANCH: Final = re.compile(r"\s*\{%-?\s*(if|elif|else|endif)\b\s*(.*?)\s*-?%\}\s*$")
_TEMPLATE: Final = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}")
_COMMENT: Final = re.compile(r"\{#.*?#\}")
_KEY: Final = re.compile(r"(?P<lead>\s*(?:-\s+)*)(?P<key>[^\s\"'#:\ue000][^\s:]*)(?P<rest>\s*:(?:\s.*)?)$")
_ITEM: Final = re.compile(r"(?P<lead>\s*(?:-\s+)+)(?P<quote>[\"']?)(?P<rest>.*)$")
_MARK: Final = re.compile("\ue002(\\d+)\ue003")
_PLACE: Final = re.compile("\ue000(\\d+)\ue001")
_METHOD: Final = re.compile(r"\b(\w+)\.(split|replace|lower|upper)\(([^()]*)\)")
_WORD: Final = re.compile(r"\"[^\"]*\"|'[^']*'|\b\w+\b")
"""A word, or a quoted text, in which none is replaced."""

_LITERAL: Final = re.compile(r"[\"']([^\"'{}\\]*)[\"']|(\d+(?:\.\d+)*)")

_SELECTOR_WORDS: Final = {
    "linux64": "(linux and x86_64)", "linux32": "(linux and x86)",
    "win64": "(win and x86_64)", "win32": "(win and x86)",
    "py3k": 'match(python, ">=3")', "py2k": 'match(python, "<3")', "None": "none", "True": "true", "False": "false",
}  # fmt: skip

Choices = list[tuple[str | None, Any]]
"""Values and the conditions under which each counts: a list's items, or the lines that give one key."""


@dataclass(frozen=True)
class MetaTree:
    """A recipe in conda-build's dialect.

    Attributes:
        comment: the lines above everything.
        context: names that templates use, and their values.
        root: mappings of keys to `Choices`, lists as `Choices`, texts.
    """

    comment: tuple[str, ...]
    context: Mapping[str, Any]
    root: Mapping[str, Choices]


def read_meta(text: str, path: str) -> MetaTree:
    """Read meta.yaml.

    Raises:
        RecipeError: it has what recipe.yaml has no words for, such as loops.
    """
    comment: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line)
    context: dict[str, Any] = {}
    conditions: list[str] = []
    templates: list[str] = []
    lines = []
    branches: list[tuple[str, str]] = []
    for number, text_line, condition in _conditional_lines(text):
        written, where = text_line, f"{path}:{number}"
        if branch := _BRANCH.match(written):
            _enter(branch[1], to_condition(branch[2]), branches, where)
            written = ""
        for _, holds in branches:
            condition = both(holds, condition)
        if found := _SET.match(written):
            context[found[1]] = _context_value(found[1], found[2], condition, context.get(found[1]))
            written = ""
        elif "{%" in written:
            raise RecipeError(
                f"recipe.yaml has no word for `{written.strip()}`", where=where,
                hint="write out what it makes, which `slipway render` shows",
            )  # fmt: skip
        written = _TEMPLATE.sub(
            lambda match: _remember(templates, to_expression(match[1]), "\ue000", "\ue001"), written
        )
        if condition is not None and written.strip():
            written = _mark(written, _remember(conditions, condition, "\ue002", "\ue003"), where)
        lines.append(written)
    try:
        root = yaml.load("\n".join(lines), Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise RecipeError(f"not valid YAML: {error}", where=path) from None
    tree = _tree(root or {}, conditions, templates)
    if not isinstance(tree, dict):
        raise RecipeError("a recipe consists of keys and values", where=path)
    return MetaTree(tuple(comment), context, tree)


def _conditional_lines(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Each line's number, its text without a selector, and the selector's condition."""
    for line in selectors.split_lines(_COMMENT.sub("", text)):
        yield line.number, line.text, None if line.selector is None else to_condition(line.selector)


def _enter(word: str, condition: str, branches: list[tuple[str, str]], where: str) -> None:
    """Follow `if`, `elif`, `else` and `endif`: `branches` holds of each open one what came before, and what holds."""
    if word == "if":
        branches.append((condition, condition))
        return
    if not branches:
        raise RecipeError(f"there is no `if` to this `{word}`", where=where)
    before, _ = branches.pop()
    if word == "elif":
        branches.append((f"{before} or {condition}", f"not ({before}) and {condition}"))
    elif word == "else":
        branches.append((before, f"not ({before})"))


def to_condition(selector: str) -> str:
    """A selector as an `if` of recipe.yaml."""
    written = re.sub(r"\bpy\s*(==|!=|<=|>=|<|>)\s*(\d+)", _python_condition, selector.strip())
    written = re.sub(r"\b(?:os\.)?environ\.get\(\s*([\"']\w+[\"'])\s*(?:,\s*([^)]*?))?\s*\)", _environment, written)
    written = re.sub(r"\b(?:os\.)?environ\[([\"']\w+[\"'])\]", r"env.get(\1)", written)
    return _WORD.sub(lambda match: _SELECTOR_WORDS.get(match[0], match[0]), written)


def _environment(match: re.Match[str]) -> str:
    return f"env.get({match[1]}, default={match[2] or chr(34) * 2})"


def _python_condition(match: re.Match[str]) -> str:
    operator, digits = match[1], match[2]
    major, minor = int(digits[0]), int(digits[1:] or 0)
    exact = {"==": "", "!=": "not "}.get(operator)
    if exact is not None:
        return f'{exact}match(python, "{major}.{minor}.*")'
    bound = {"<": "<", ">=": ">=", "<=": "<", ">": ">="}[operator]
    return f'match(python, "{bound}{major}.{minor + (operator in ("<=", ">"))}")'


def to_expression(expression: str) -> str:
    """What stands in a template, as recipe.yaml has it."""
    written = re.sub(r"\bmax_pin\s*=", "upper_bound=", expression)
    written = re.sub(r"\bmin_pin\s*=", "lower_bound=", written)
    written = re.sub(r"\b(?:os\.)?environ\.get\(\s*([\"']\w+[\"'])\s*(?:,\s*([^)]*?))?\s*\)", _environment, written)
    written = re.sub(r"\b(?:os\.)?environ\[([\"']\w+[\"'])\]", r"env.get(\1)", written)
    written = _WORD.sub(lambda match: match[0].lower() if match[0] in ("True", "False", "None") else match[0], written)
    return _METHOD.sub(lambda match: f"({match[1]} | {match[2]}{f'({match[3]})' if match[3] else ''})", written)


def _context_value(name: str, expression: str, condition: str | None, before: str | None) -> str:
    if before is not None:  # the name may stand in its own new value
        expression = _WORD.sub(lambda match: f"({_quoted(before)})" if match[0] == name else match[0], expression)
    literal = _LITERAL.fullmatch(expression)
    value = next(filter(None, literal.groups()), "") if literal else f"${{{{ {to_expression(expression)} }}}}"
    return value if condition is None else as_scalar([(condition, value), (None, before or "")])


def _remember(known: list[str], text: str, before: str, after: str) -> str:
    known.append(text)
    return f"{before}{len(known) - 1}{after}"


def _mark(line: str, mark: str, where: str) -> str:
    if found := _KEY.match(line):
        return f"{found['lead']}{found['key']}{mark}{found['rest']}"
    if found := _ITEM.match(line):
        return f"{found['lead']}{found['quote']}{mark}{found['rest']}"
    raise RecipeError(
        f"the selector of `{line.strip()}` belongs to no key and no item",
        where=where,
        hint="take the line out, or split it",
    )


def _tree(value: Any, conditions: list[str], templates: list[str]) -> Any:
    if isinstance(value, dict):
        found: dict[str, Choices] = {}
        for key, item in value.items():
            name, condition = _condition(str(key), conditions)
            found.setdefault(name, []).append((condition, _tree(item, conditions, templates)))
        return found
    if isinstance(value, list):
        items: Choices = []
        for item in value:
            text, condition = _condition(item, conditions) if isinstance(item, str) else (item, None)
            items.append((condition, _tree(text, conditions, templates)))
        return items
    return _PLACE.sub(lambda match: f"${{{{ {templates[int(match[1])]} }}}}", str(value))


def _condition(text: str, conditions: list[str]) -> tuple[str, str | None]:
    found = _MARK.search(text)
    return (text, None) if found is None else (_MARK.sub("", text), conditions[int(found[1])])


def both(one: str | None, other: str | None) -> str | None:
    """The condition that both hold."""
    if one is None or other is None:
        return one or other
    return " and ".join(f"({part})" if " or " in part else part for part in (one, other))


def as_scalar(choices: Choices) -> str:
    """One value: as it is or, where conditions choose, as an expression that does."""
    last = choices[-1]
    if last[0] is None and (len(choices) == 1 or all(condition is None for condition, _ in choices)):
        return str(last[1])
    conditional = [one for one in choices if one[0] is not None]
    otherwise = next((str(value) for condition, value in choices if condition is None), None)
    written = " else ".join(f"{_quoted(str(value))} if {condition}" for condition, value in conditional)
    return f"${{{{ {written}{'' if otherwise is None else f' else {_quoted(otherwise)}'} }}}}"


def _quoted(text: str) -> str:
    """A text with templates in it, as one expression."""
    if re.fullmatch(r"0|[1-9]\d*", text):
        return text
    parts = re.split(r"\$\{\{\s*(.*?)\s*\}\}", text)
    said = [
        (part if re.fullmatch(r"\w+", part) else f"({part})") if index % 2 else '"' + part.replace('"', '\\"') + '"'
        for index, part in enumerate(parts)
        if part
    ]
    return " ~ ".join(said) or '""'


def as_list(choices: Choices, convert: Any = str) -> list[Any]:
    """A list: conditions become `if` and `then`, those of neighbours once.

    Args:
        convert: what is made of each item.
    """
    items: Choices = []
    for condition, value in choices:
        for inner, item in value if isinstance(value, list) else [(None, value)]:
            if item not in ("", None):
                items.append((both(condition, inner), item))
    found: list[Any] = []
    for condition, item in items:
        written = convert(item)
        if condition is None:
            found.append(written)
        elif isinstance(found[-1] if found else None, dict) and found[-1].get("if") == condition:
            earlier = found[-1]["then"]
            found[-1]["then"] = [*(earlier if isinstance(earlier, list) else [earlier]), written]
        else:
            found.append({"if": condition, "then": written})
    return found
