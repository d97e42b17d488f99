"""Write recipe.yaml from meta.yaml, render both, and say what differs.

    slipway convert recipe              recipe/recipe.yaml, beside meta.yaml, which counts as long as it is there
    slipway convert recipe --to FILE    somewhere else

Selectors become `if` and `then`, templates and keys their counterparts. What recipe.yaml has no word for is left out
and listed. Exit code 3 where both do not render alike: the file is written all the same.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError, UsageError
from slipway.base.files import write_file
from slipway.base.scratch import scratch_folder
from slipway.commands._conversion import Converter, compare, to_text
from slipway.commands._meta_tree import read_meta
from slipway.commands._options import add_platform_argument, add_request_arguments, request_of
from slipway.model import META_NAME, V1_NAME
from slipway.recipe import load_recipe
from slipway.recipe.hashes import as_json

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--to", type=Path, metavar="FILE", help="where to write (default: recipe.yaml beside it)")
    parser.add_argument("--force", action="store_true", help="write over what is there")
    parser.add_argument("--json", action="store_true", help="one object: what was left out, and what differs")
    add_platform_argument(parser)
    add_request_arguments(parser, whole_matrix=True)


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Convert; returns the exit code."""
    request = request_of(arguments)
    recipe = load_recipe(request.recipe)
    if recipe.is_v1:
        raise UsageError("it is a recipe.yaml already", where=recipe.path)
    target = arguments.to or request.recipe / V1_NAME
    if target.exists() and not arguments.force:
        raise UsageError("there is a file already", where=str(target), hint="take it away, or add --force")
    tree = read_meta(recipe.text, recipe.path)
    converter = Converter(tree, (path.name for path in request.recipe.iterdir()))
    text = to_text(tree, converter.convert())
    before = request.matching()
    with scratch_folder("convert") as folder:
        copy = folder / "recipe"
        shutil.copytree(request.recipe, copy, ignore=shutil.ignore_patterns(META_NAME, V1_NAME))
        (copy / V1_NAME).write_text(text, encoding="utf-8")
        write_file(target, text)
        try:
            after = request.at(copy).matching()
        except RecipeError as error:
            error.where = str(error.where).replace(str(copy / V1_NAME), str(target))
            raise
    found = compare(before, after)
    if arguments.json:
        print(as_json({"path": str(target), "left_out": converter.left_out, **asdict(found)}))
    for title, lines in (("left out", converter.left_out), ("note", found.notes), ("differs", found.differences)):
        for line in lines:
            reporter.line(f"{title}: {line}")
    alike = f"{len(found.differences)} difference(s)" if found.differences else f"{len(before)} package(s) render alike"
    reporter.line(f"{target}: written; {alike}")
    if arguments.to is None and not found.differences:
        reporter.line(f"to use it, take {META_NAME} away")
    return RecipeError.exit_code if found.differences else 0
