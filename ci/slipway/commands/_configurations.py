"""The options that name variant configurations. Apart, because `slipway ci recipe` takes them on Windows, too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from slipway.base.errors import UsageError
from slipway.request import Configurations

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence


def add_configuration_arguments(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """``-m``, ``-e`` and ``--variants``."""
    parser.add_argument("-m", "--variant-config-files", "--variant-config", dest="variant_configs", action="append",
                        type=Path, default=[], metavar="FILE",
                        help="add a conda_build_config.yaml; later files win")  # fmt: skip
    parser.add_argument("-e", "--exclusive-config-files", "--exclusive-config-file", "--exclusive-config",
                        dest="exclusive_configs", action="append", type=Path, default=[], metavar="FILE",
                        help="use this file instead of those in the home and working directories; later files win, "
                        "and the recipe's own and -m files win over it")  # fmt: skip
    parser.add_argument(
        "--variants", metavar="YAML", help="values that win over every file, such as '{python: [3.12]}'"
    )


def configurations_of(arguments: argparse.Namespace, surroundings: Sequence[Path]) -> Configurations:
    """Check the arguments of `add_configuration_arguments`.

    Raises:
        UsageError: ``--variants`` is no mapping.
    """
    return Configurations(
        surroundings=tuple(surroundings),
        exclusive=tuple(arguments.exclusive_configs),
        additional=tuple(arguments.variant_configs),
        variants=variants_of(arguments.variants),
    )


def variants_of(text: str | None) -> Mapping[str, Any] | None:
    """What ``--variants`` says.

    Raises:
        UsageError: it is no mapping.
    """
    if text is None:
        return None
    try:
        values = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise UsageError(f"--variants is not valid YAML: {error}", hint="such as '{python: [3.12]}'") from None
    if not isinstance(values, dict):
        raise UsageError("--variants must map keys to values", hint="such as '{python: [3.12]}'")
    return values
