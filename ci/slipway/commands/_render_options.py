"""Command-line options that say what to render; shared by the commands that need nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from slipway.base.errors import UsageError
from slipway.base.platform import LINUX_64, find_platform
from slipway.recipe import load_config, load_recipe, render, surrounding_configs

if TYPE_CHECKING:
    import argparse

    from slipway.model import RenderedOutput


def add_render_arguments(parser: argparse.ArgumentParser) -> None:
    """The recipe and its configurations, named as conda-build names them."""
    parser.add_argument("recipe", type=Path, nargs="?", default=Path("recipe"), metavar="DIR",
                        help="folder with meta.yaml (default: recipe)")  # fmt: skip
    parser.add_argument("-m", "--variant-config-files", dest="variant_configs", action="append", type=Path,
                        default=[], metavar="FILE", help="add a conda_build_config.yaml; later files win")  # fmt: skip
    parser.add_argument("-e", "--exclusive-config-file", "--exclusive-config-files", "--exclusive-config",
                        dest="exclusive_configs", action="append", type=Path, default=[], metavar="FILE",
                        help="use this file instead of those in the home and working directories; "
                        "the recipe's own and -m files still win over it")  # fmt: skip
    parser.add_argument(
        "--variants", metavar="YAML", help="values that win over every file, such as '{python: [3.12]}'"
    )
    parser.add_argument(
        "--platform", default=LINUX_64.subdir, metavar="SUBDIR", help="platform to render for (%(default)s)"
    )


def rendered(arguments: argparse.Namespace) -> tuple[RenderedOutput, ...]:
    """Every output that the options of `add_render_arguments` describe, in build order.

    Raises:
        RecipeError: something cannot be rendered.
        UsageError: ``--variants`` is no mapping.
    """
    if arguments.exclusive_configs:
        base = tuple(load_config(path) for path in arguments.exclusive_configs)
    else:
        base = surrounding_configs(Path.home(), Path.cwd())
    return render(
        load_recipe(arguments.recipe),
        [load_config(path) for path in arguments.variant_configs],
        platform=find_platform(arguments.platform),
        environ=os.environ,
        base_configs=base,
        variants=_variants(arguments.variants),
    )


def _variants(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        values = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise UsageError(f"--variants is not valid YAML: {error}", hint="such as '{python: [3.12]}'") from None
    if not isinstance(values, dict):
        raise UsageError("--variants must map keys to values", hint="such as '{python: [3.12]}'")
    return values
