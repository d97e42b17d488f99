"""Write a recipe for the project in a folder: Python, CMake (with CUDA where it is used), or both.

    slipway init            recipe/ beside the project's pyproject.toml or CMakeLists.txt; then `slipway ship recipe`
    slipway init --ci       also a workflow of GitHub Actions that ships it

Name, version, licence and requirements are those that the project's own files say. What they do not say is a line to
edit, which says so. Nothing that is there is written over.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import UsageError
from slipway.base.files import write_file
from slipway.commands._project import WORKFLOW, read_project, write_recipe, write_workflow

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "project", nargs="?", type=Path, default=Path(), metavar="DIR", help="the project (default: here)"
    )
    parser.add_argument("--ci", action="store_true", help="also a workflow of GitHub Actions")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Write; returns the exit code."""
    project: Path = arguments.project.resolve()
    if (project / "recipe" / "meta.yaml").exists():
        raise UsageError("there is a recipe already", where=str(project / "recipe"), hint="take it away, or edit it")
    files = {f"recipe/{name}": text for name, text in write_recipe(read_project(project)).items()}
    if arguments.ci and not (project / WORKFLOW).exists():
        files[WORKFLOW] = write_workflow()
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        write_file(project / name, text)
        reporter.line(f"{name}: written")
    reporter.line("next: read recipe/meta.yaml, then `slipway ship recipe`")
    return 0
