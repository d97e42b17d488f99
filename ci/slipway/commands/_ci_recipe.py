"""`slipway ci recipe`: one output alone as a recipe, for real conda-build.

It runs where slipway itself does not build, in conda's own Python: on Windows, without `fcntl` and rattler.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import default_folder
from slipway.base.errors import VariantError
from slipway.base.platform import LINUX_64, find_platform
from slipway.commands._configurations import add_configuration_arguments, configurations_of
from slipway.engines.conda_build_recipe import write_recipe
from slipway.recipe.choose import identifier

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("identifier", metavar="IDENTIFIER")
    parser.add_argument("recipe", nargs="?", type=Path, default=default_folder() / "recipe", metavar="DIR")
    parser.add_argument("--platform", default=LINUX_64.subdir, metavar="SUBDIR")
    add_configuration_arguments(parser)
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder that is written")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Render, and write the one output.

    Raises:
        VariantError: there is no such output.
    """
    configurations = configurations_of(arguments, [default_folder()])
    outputs = configurations.render(arguments.recipe, find_platform(arguments.platform), environ={}).outputs
    found = [output for output in outputs if identifier(output) == arguments.identifier]
    if not found:
        raise VariantError(
            f"there is no job `{arguments.identifier}` on {arguments.platform}",
            hint=f"there is {', '.join(map(identifier, outputs))}; if that changed, run `slipway ci write`",
        )
    reporter.line(str(write_recipe(found[0], arguments.to)))
    return 0
