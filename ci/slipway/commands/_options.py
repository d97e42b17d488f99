"""The options that commands share: what to build (`Request`), and how. Every command spells them alike."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError, UsageError, VariantError
from slipway.base.paths import Workspace
from slipway.base.platform import LINUX_64, find_platform, this_platform, usable_cpus
from slipway.bootstrap.pins import EMBEDDED
from slipway.commands._configurations import add_configuration_arguments, variants_of
from slipway.commands._parsers import count
from slipway.engines.engine import Isolation
from slipway.model import META_NAME, RECIPE_SETTINGS, V1_NAME
from slipway.pipeline import bundle as bundles
from slipway.recipe import load_recipe_settings
from slipway.recipe.choose import WITHOUT
from slipway.recipe.loader import find_recipe
from slipway.request import DEFAULT_RECIPE, Request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from slipway.pipeline.bundle import Bundle

VERSION = "X.Y"
"""What an option takes that is a version of two numbers."""

CHANNEL_HELP = (
    "take what packages need from here (repeatable, the first wins) instead of from the embedded channel; "
    f"the word `{EMBEDDED}` names that one, so `--channel DIR --channel {EMBEDDED}` adds DIR to it"
)

ROLLBACK_HELP = "take a channel that was put back to an earlier state than was seen here before"


def add_request_arguments(parser: argparse.ArgumentParser, *, whole_matrix: bool = False) -> None:
    """Which recipe, which part of its matrix, by which configurations, from which channels.

    To be called after a command has declared its own options: the recipe's short names must not be among them. The
    recipe is looked for among `words`, a default of `parser` that holds the command line.

    Args:
        whole_matrix: what nobody speaks of is all of the matrix, not the recipe's defaults.

    Raises:
        RecipeError: the recipe declares a short name that is slipway's own.
    """
    parser.add_argument("recipe", nargs="?", type=Path, metavar="DIR", help="folder of the recipe (default: recipe/)")
    parser.add_argument("-c", "--channel", action="append", metavar="URL", help=CHANNEL_HELP)
    parser.add_argument("--offline", action="store_true", help="download nothing; what is cached must do")
    parser.add_argument("--dist", metavar="DIR", help="folder for everything that is written (default: dist/)")
    variants = parser.add_argument_group("variants", "which of the recipe's variants, and the files that make them")
    add_configuration_arguments(variants)
    variants.add_argument("--no-home-config", action="store_true",
                          help="leave out the conda_build_config.yaml of the home directory, as CI does")  # fmt: skip
    _add_variant_keys(variants, _find_recipe(parser.get_default("words") or ()), whole_matrix=whole_matrix)


def add_variant_arguments(parser: argparse.ArgumentParser) -> None:
    """Values of variant keys, where no recipe is named: the short names are those of the checkout's recipe."""
    _add_variant_keys(parser.add_argument_group("variants", "of the embedded channel's packages"), DEFAULT_RECIPE)


def _add_variant_keys(variants: argparse._ArgumentGroup, recipe: Path, *, whole_matrix: bool = False) -> None:
    variants.add_argument("--variant", action="append", default=[], metavar="KEY=VALUE",
                          help="only variants with this value of a variant key (repeatable)")  # fmt: skip
    options = load_recipe_settings(recipe).options
    variants.set_defaults(short_names=options)
    for name, option in options.items():
        described = option.help or f"the same as --variant {option.key}={option.takes}"
        if whole_matrix:
            described += " (default: all that the recipe has)"
        elif option.default is not None:
            described += f" (default: {option.default})"
        try:
            variants.add_argument(
                f"--{name}", action="append", dest=_destination(name), metavar=option.takes, help=described
            )
        except argparse.ArgumentError:
            raise RecipeError(
                f"`options: {name}`: --{name} is slipway's own option",
                where=str(recipe / RECIPE_SETTINGS),
                hint="choose another name",
            ) from None


def add_bundle_argument(parser: argparse.ArgumentParser) -> None:
    """Where a bundle takes the place of the recipe, the sources, the channels and the network."""
    parser.add_argument("--bundle", type=Path, metavar="FILE", help="take everything from what `slipway bundle` made")


@contextlib.contextmanager
def opened_bundle(arguments: argparse.Namespace, workspace: Workspace) -> Iterator[Bundle | None]:
    """The bundle that `add_bundle_argument` let somebody name, for as long as the block lasts.

    Raises:
        UsageError: there is none in that file, or something else is named that a bundle has already.
        IntegrityError: it is damaged.
    """
    if arguments.bundle is None:
        yield None
        return
    asked = ("recipe", "channel", "variant", "variant_configs", "exclusive_configs", "variants")
    options = [name for name in asked if getattr(arguments, name, None)]
    options += [name for name in getattr(arguments, "short_names", ()) if getattr(arguments, _destination(name))]
    if options:
        raise UsageError(
            f"a bundle has its own {options[0].replace('_', ' ')}",
            where=str(arguments.bundle),
            hint="leave that out, or leave --bundle out",
        )
    with bundles.open_bundle(arguments.bundle, workspace) as bundle:
        yield bundle


def add_platform_argument(parser: argparse.ArgumentParser, *, builds: bool = False) -> None:
    """For which platform; where something is built, on this machine."""
    described = "platform to compile for" if builds else "platform to render for"
    parser.add_argument("--platform", default=LINUX_64.subdir, metavar="SUBDIR", help=f"{described} (%(default)s)")
    parser.set_defaults(compiles_here=builds)


def add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """How to build."""
    add_engine_arguments(parser)
    parser.add_argument("--jobs", type=count, default=usable_cpus(), metavar="N", help="compilers to run at once")


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """With what to build, and when."""
    parser.add_argument("--engine", default="rattler", metavar="NAME", help="rattler (default) or conda-build")
    parser.add_argument("--rebuild", action="store_true", help="build even what did not change")
    add_isolation_argument(parser)


def add_isolation_argument(parser: argparse.ArgumentParser) -> None:
    """Whether scripts of recipes are kept apart from the machine."""
    parser.add_argument(
        "--isolation",
        type=Isolation,
        choices=list(Isolation),
        default=Isolation.AUTO,
        help="of scripts, from home, credentials, other processes and the network: auto (default: where this machine "
        "lets bubblewrap), required, or off",
    )


def request_of(arguments: argparse.Namespace) -> Request:
    """Check the arguments of `add_request_arguments`.

    Raises:
        RecipeError: there is no recipe in that folder.
        UsageError: a value is not of the form that its option takes, or a key has two values.
        HostError: slipway does not build on this machine, and no other platform is named.
        VariantError: there is no such platform.
    """
    named = getattr(arguments, "platform", None)
    platform = this_platform() if named is None else find_platform(named)
    lists_only = getattr(arguments, "matrix", False)
    if getattr(arguments, "compiles_here", False) and not lists_only and platform != this_platform():
        platform = replace(platform, built_on=this_platform().subdir)
    recipe = find_recipe(arguments.recipe or DEFAULT_RECIPE).resolve().parent
    settings = load_recipe_settings(recipe)
    if settings.platforms and platform.subdir not in settings.platforms:
        raise VariantError(
            f"the recipe is not built for {platform}", where=str(recipe / RECIPE_SETTINGS),
            hint=f"its `platforms` are {', '.join(settings.platforms)}",
        )  # fmt: skip
    request = Request(
        recipe=recipe,
        platform=platform,
        workspace=Workspace.of_checkout(arguments.dist),
        asked=asked_variant(arguments),
        channels=tuple(arguments.channel or settings.channels) or None,
        surroundings=(*(() if arguments.no_home_config else (Path.home(),)), Path.cwd()),
        exclusive_configs=tuple(arguments.exclusive_configs),
        variant_configs=tuple(arguments.variant_configs),
        variants=variants_of(arguments.variants),
        environ=dict(os.environ),
        offline=arguments.offline,
    )
    request.check_places()
    return request


def words_of(arguments: argparse.Namespace) -> list[str]:
    """The command line that makes `request_of` answer the same in another process; without ``--dist``."""
    words = [str(find_recipe(arguments.recipe or DEFAULT_RECIPE).resolve().parent)]
    for key, value in asked_variant(arguments).items():
        words += ["--variant", f"{key}={value}"]
    for channel in arguments.channel or ():
        words += ["--channel", channel]
    for path in arguments.variant_configs:
        words += ["-m", str(path.resolve())]
    for path in arguments.exclusive_configs:
        words += ["-e", str(path.resolve())]
    if arguments.variants is not None:
        words += ["--variants", arguments.variants]
    if arguments.no_home_config:
        words += ["--no-home-config"]
    if (named := getattr(arguments, "platform", None)) is not None and named != LINUX_64.subdir:
        words += ["--platform", named]
    return [*words, *(["--offline"] if arguments.offline else [])]


def _find_recipe(words: Sequence[str]) -> Path:
    """The folder of the recipe that a command line names: the short names of variant keys are declared there."""
    for word in words:
        path = Path(word)
        if not word.startswith("-") and any((path / name).is_file() for name in (META_NAME, V1_NAME)):
            return path
        if path.name in (META_NAME, V1_NAME) and path.is_file():
            return path.parent
    return DEFAULT_RECIPE


def _destination(name: str) -> str:
    return f"variant_{name}"


def asked_variant(arguments: argparse.Namespace) -> dict[str, str]:
    """The variant keys that a command line gives a value, and the values.

    Raises:
        UsageError: a value is not of the form that its option takes, or a key has two values.
    """
    asked: dict[str, str] = {}
    for text in arguments.variant:
        key, equals, value = text.partition("=")
        if not (key and equals and value):
            raise UsageError(f"--variant takes KEY=VALUE, not `{text}`", hint="such as `--variant python=3.12`")
        _ask(asked, key, value)
    for name, option in arguments.short_names.items():
        values = getattr(arguments, _destination(name), None) or []
        for value in values:
            if option.takes == VERSION and value != WITHOUT and not re.fullmatch(r"\d+\.\d+", value):
                raise UsageError(f"--{name} takes a version {VERSION}, not `{value}`")
        for value in [",".join(dict.fromkeys(values))] if values and option.several else values:
            _ask(asked, option.key, value)
    return asked


def _ask(asked: dict[str, str], key: str, value: str) -> None:
    if asked.setdefault(key, value) != value:
        raise UsageError(f"`{key}` is asked for twice: {asked[key]} and {value}", hint="name one value for each key")
