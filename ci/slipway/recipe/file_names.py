"""The files that a recipe names lie in its own folder, or in the sources: anything else is this machine's."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError
from slipway.recipe.fields import LINK_SCRIPTS
from slipway.recipe.outputs import texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slipway.model import RenderedOutput


def check_file_names(output: RenderedOutput, where: str) -> RenderedOutput:
    """`output`, once every file that it names to be run, packed or tested with is known to be the recipe's own.

    Args:
        where: the place of the output in the recipe, for messages.

    Raises:
        RecipeError: a name leads out of the folder that it is relative to.
    """
    for key, name in _named_files(output):
        path = PurePath(name.replace("\\", "/"))
        within = path.relative_to(output.recipe_dir) if path.is_relative_to(output.recipe_dir) else path
        if within.is_absolute() or ".." in within.parts:
            raise RecipeError(
                f"`{key}: {name}` of `{output.name}` leads out of the recipe's folder and out of its sources",
                where=where,
                hint="put the file beside meta.yaml, or name the folder that has it as a source",
            )
    return output


def _named_files(output: RenderedOutput) -> Iterator[tuple[str, str]]:
    """Each file that the output names, and the key that names it; some are patterns."""
    named = {
        "script": output.script,
        **{f"build/{event}": output.build.get(event) for event in LINK_SCRIPTS},
        "about/license_file": output.about.get("license_file"),
        "test/files": list(output.test.files),
        "test/source_files": list(output.test.source_files),
        "test/script": output.test.script,
    }
    for key, value in named.items():
        yield from ((key, name) for name in texts(value))
