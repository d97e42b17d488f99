"""What of a recipe's sources one output is built from.

Several outputs share one source folder, and few read all of it. A recipe may say so in a file of its own,
``slipway.yaml`` beside meta.yaml, which conda-build does not know and does not mind::

    leaves_out:
      libtorch:
        - torch/**/*.py

The names are patterns as in ``.gitignore``, relative to the source folder. What an output leaves out does not count
for its digest, and its build does not get it either: a build that reads such a file fails, so the declaration is true.
A patch to nothing but such files is left out too; one that touches others as well keeps all that it touches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError
from slipway.base.schema import read_yaml
from slipway.model import RECIPE_SETTINGS, RecipeSettings
from slipway.source import patterns as file_patterns
from slipway.source.patches import read_patch
from slipway.source.tree import SourceTree, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.model import RenderedOutput, Source


@dataclass(frozen=True)
class Reads:
    """One source entry as an output gets it: the files (None where the source is no local folder) and the patches."""

    tree: SourceTree | None
    patches: tuple[Path, ...]


def reads_of(output: RenderedOutput, source: Source, read: Callable[[Path], SourceTree] = read_tree) -> Reads:
    """What `output` gets of `source`.

    Args:
        read: lists the files of a folder; who asks for many outputs at one moment lists each folder once.

    Raises:
        RecipeError: a source or a patch does not exist, a patch would write elsewhere, or the declaration is not as
            described above.
    """
    patches = tuple(_patch(output, name) for name in source.patches)
    touched = {patch: frozenset(one.name for one in read_patch(patch)) for patch in patches}
    if source.path is None:
        return Reads(None, patches)
    whole = read((output.recipe_dir / source.path).resolve())
    kept = whole.without(_left_out(output))
    if kept.files == whole.files:
        return Reads(whole, patches)
    present = frozenset(kept.files)
    absent = frozenset(whole.files) - present
    applied = tuple(patch for patch in patches if not touched[patch] or not touched[patch] <= absent)
    returned = frozenset[str]().union(*(touched[patch] for patch in applied)) & absent
    return Reads(SourceTree(whole.root, tuple(sorted(present | returned))), applied)


def _patch(output: RenderedOutput, name: str) -> Path:
    path = (output.recipe_dir / name).resolve()
    if not path.is_file():
        raise RecipeError(f"patch `{name}` does not exist", where=str(output.recipe_path))
    return path


def _left_out(output: RenderedOutput) -> tuple[str, ...]:
    path = output.recipe_dir / RECIPE_SETTINGS
    if not path.is_file():
        return ()
    patterns = read_yaml(path, RecipeSettings, error=RecipeError).leaves_out.get(output.name, ())
    try:
        file_patterns.GitIgnoreSpec.from_lines(patterns)
    except (ValueError, re.error) as error:
        raise RecipeError(f"`leaves_out: {output.name}` holds no pattern: {error}", where=str(path)) from error
    return patterns
