"""recipe_append.yaml and recipe_clobber.yaml beside meta.yaml: changes to a recipe that leave it as it is.

Both are written like meta.yaml, without selectors and templates. What recipe_append.yaml says is added: sections are
merged, lists are made longer, a single value takes the place of the recipe's. What recipe_clobber.yaml says replaces
whole lists, too. As in conda-build, the variant keys that count are those that meta.yaml itself uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from slipway.base.errors import RecipeError
from slipway.recipe import templates
from slipway.recipe.document import Document, read

if TYPE_CHECKING:
    from collections.abc import Callable

APPEND: Final = "recipe_append.yaml"
CLOBBER: Final = "recipe_clobber.yaml"


def overlaid(document: Document, read_file: Callable[[str], str | None]) -> Document:
    """`document` with what lies beside it.

    Args:
        read_file: text of a file of the recipe's folder, or None.

    Raises:
        RecipeError: a file is no recipe, or holds a template.
    """
    for name in (APPEND, CLOBBER):
        text = read_file(name)
        if text is not None:
            changes = _read(text, document.path.removesuffix("meta.yaml") + name)
            document = document.with_meta(_merged(document.meta, changes.meta, extend=name == APPEND))
    return document


def _read(text: str, path: str) -> Document:
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if "{{" in line or "{%" in line:
            raise RecipeError(
                "templates are not rendered in this file", where=f"{path}:{number}", hint="write the value itself"
            )
    return read(templates.RenderedText(text, tuple(range(1, len(lines) + 1))), path)


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any], *, extend: bool) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        known = merged.get(key)
        if isinstance(value, Mapping):
            merged[key] = _merged(known if isinstance(known, Mapping) else {}, value, extend=extend)
        elif isinstance(value, list) and extend:
            merged[key] = [*_listed(known), *value]
        else:
            merged[key] = value
    return merged


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]
