"""Write a recipe for the project in a folder: Python, CMake (with CUDA where it is used), or both.

    slipway init            recipe/ beside the project's pyproject.toml or CMakeLists.txt; then `slipway ship recipe`
    slipway init --ci       also the workflows of GitHub Actions that `slipway ci write recipe --github` writes

Where setuptools looks for packages beside pyproject.toml, it would take recipe/ for one: there it is ci/recipe.

Name, version, licence and requirements are those that the project's own files say. What they do not say is a line to
edit, which says so. Nothing that is there is written over.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.files import write_file
from slipway.commands._ci_list import make_recipe_matrix
from slipway.commands._project import read_project, write_recipe
from slipway.request import Configurations
from slipway.workflows import files

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "project", nargs="?", type=Path, default=Path(), metavar="DIR", help="the project (default: here)"
    )
    parser.add_argument("--ci", action="store_true", help="also workflows of GitHub Actions, see `ci write`")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Write; returns the exit code."""
    project: Path = arguments.project.resolve()
    found = read_project(project)
    recipe = project / found.place
    for folder in (recipe, project / "recipe"):
        if (folder / "meta.yaml").exists():
            raise UsageError("there is a recipe already", where=str(folder), hint="take it away, or edit it")
    for name, text in write_recipe(found).items():
        write_file(recipe / name, text)
        reporter.line(f"{found.place}/{name}: written")
    if arguments.ci:
        matrix = make_recipe_matrix(recipe, project, Configurations((project,)))
        wanted = files.texts(matrix, for_github=True, for_gitlab=False)
        kept = {name for name in wanted if (project / name).exists()}
        files.write({name: text for name, text in wanted.items() if name not in kept}, project)
        for name in wanted:
            reporter.line(f"{name}: {'there already, and kept' if name in kept else 'written'}")
    reporter.line(f"next: read {found.place}/meta.yaml, then `slipway ship {found.place}`")
    return 0
