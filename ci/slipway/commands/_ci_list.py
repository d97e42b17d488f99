"""`slipway ci list`: the jobs of every platform, in order, and what each of them needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import default_folder, find_checkout
from slipway.base.text import format_table
from slipway.commands._configurations import add_configuration_arguments, configurations_of
from slipway.model import RECIPE_SETTINGS
from slipway.recipe import load_recipe_settings
from slipway.recipe.loader import find_recipe
from slipway.workflows.graph import describe
from slipway.workflows.matrix import Matrix, make_matrix
from slipway.workflows.settings import DEFAULT_SETTINGS, load_settings, settings_elsewhere

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter
    from slipway.request import Configurations


def add_matrix_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recipe's jobs, on which platforms."""
    parser.add_argument("recipe", nargs="?", type=Path, default=default_folder() / "recipe", metavar="DIR")
    add_configuration_arguments(parser)
    parser.add_argument(
        "--settings", type=Path, default=DEFAULT_SETTINGS, metavar="FILE", help="platforms, runners and resources"
    )


def matrix_of(arguments: argparse.Namespace, checkout: Path) -> Matrix:
    """The jobs by the configurations that CI has: the checkout's, the recipe's and the named ones, not the user's home.

    Raises:
        RecipeError: the recipe cannot be rendered.
        UsageError: a configuration lies outside of the checkout.
    """
    configurations = configurations_of(arguments, [checkout])
    return make_recipe_matrix(find_recipe(arguments.recipe).parent, checkout, configurations, arguments.settings)


def make_recipe_matrix(
    recipe: Path, checkout: Path, configurations: Configurations, settings_file: Path = DEFAULT_SETTINGS
) -> Matrix:
    """The jobs of the recipe in a folder: by our settings where it is ours, else by what its slipway.yaml says.

    Raises:
        RecipeError: it cannot be rendered.
        UsageError: a configuration lies outside of the checkout.
    """
    settings, own = load_settings(settings_file), find_checkout()
    is_ours = own is not None and recipe.resolve().is_relative_to(own)
    if not is_ours and settings_file == DEFAULT_SETTINGS:
        settings = settings_elsewhere(settings, load_recipe_settings(recipe), str(recipe / RECIPE_SETTINGS))
    return make_matrix(recipe, checkout, settings, configurations)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_matrix_arguments(parser)
    parser.add_argument("--json", action="store_true", help="a list of objects")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Print the table, or the list."""
    matrix = matrix_of(arguments, default_folder())
    if arguments.json:
        print(json.dumps(describe(matrix.everything), indent=1))
        return 0
    rows = [
        (job.platform, job.identifier, ", ".join(other.identifier for other in job.direct) or "-")
        for job in matrix.everything
    ]
    print(format_table(("platform", "job", "needs"), rows))
    return 0
