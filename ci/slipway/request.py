"""What the commands that build have in common: their options, and from these the outputs and channels to use."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.base.checkout import default_folder, find_checkout
from slipway.base.errors import RecipeError, UsageError, VariantError
from slipway.base.paths import Workspace, cache_folder
from slipway.base.platform import this_platform
from slipway.bootstrap import ChannelRequest, ensure_channel
from slipway.channel.environments import solve
from slipway.channel.folder import Channel
from slipway.recipe import load_config, load_recipe, render
from slipway.recipe.choose import agrees, used_variant
from slipway.source import pin_sources

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from slipway.base.log import Reporter
    from slipway.base.platform import Platform
    from slipway.bootstrap import EmbeddedChannel
    from slipway.model import RenderedOutput
    from slipway.recipe.stages import Versions

EMBEDDED = "embedded"
"""The name by which a list of channels may hold the embedded one, as conda's lists may hold `defaults`."""

DEFAULT_RECIPE = default_folder() / "recipe"
EMBEDDED_VARIANTS = Path(__file__).parent / "bootstrap" / "data" / "conda_build_config.yaml"
"""The pins of the embedded channel, laid over those of a recipe."""


def add_variant_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recipe, which part of its matrix, from which channels."""
    parser.add_argument("recipe", nargs="?", type=Path, metavar="DIR", help="folder of the recipe (default: recipe/)")
    parser.add_argument("--python", metavar="X.Y", help="Python to build for (our own recipe: 3.11)")
    parser.add_argument("--blas", metavar="NAME", help="BLAS to build with: mkl or openblas (our own recipe: mkl)")
    parser.add_argument("--cuda", metavar="X.Y", help="also build what needs CUDA, for this version")
    parser.add_argument(
        "--channel",
        action="append",
        metavar="URL",
        help="take what the recipe needs from here (repeatable, the first wins) instead of from the embedded channel; "
        f"the word `{EMBEDDED}` names that one, so `--channel DIR --channel {EMBEDDED}` adds DIR to it",
    )
    parser.add_argument("-m", "--variant-config", action="append", type=Path, default=[], metavar="FILE",
                        help="add a conda_build_config.yaml; its values win")  # fmt: skip
    parser.add_argument("--exclusive-config", type=Path, metavar="FILE", help="use this variant config and no other")
    parser.add_argument("--offline", action="store_true", help="download nothing; what is cached must do")
    parser.add_argument("--dist", metavar="DIR", help="folder for everything that is written (default: dist/)")


def add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """How to build."""
    parser.add_argument("--engine", default="rattler", metavar="NAME", help="rattler (default) or conda-build")
    parser.add_argument("--jobs", type=int, default=usable_cpus(), metavar="N", help="compilers to run at once")
    parser.add_argument("--rebuild", action="store_true", help="build even what did not change")


def usable_cpus() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Selection:
    """The part of the matrix that is asked for; None means every value."""

    python: str | None
    blas: str | None
    cuda: str | None

    def asked(self) -> list[tuple[str, str, str]]:
        """What was asked for: variant key, its title, and the value."""
        named = (
            ("python", "Python", self.python),
            ("blas_impl", "BLAS", self.blas),
            ("cuda_compiler_version", "CUDA", self.cuda),
        )
        return [(key, title, value) for key, title, value in named if value is not None]

    def takes(self, output: RenderedOutput) -> bool:
        """Whether `output` belongs to it. Only the keys that an output uses have a say; without CUDA means without."""
        asked = {"python": self.python, "blas_impl": self.blas}
        used = used_variant(output)
        for key, value in asked.items():
            if value is not None and key in used and not agrees(value, used[key]):
                return False
        return used.get("cuda_compiler_version", "None") in ("None", self.cuda)


@dataclass(frozen=True)
class Request:
    """A validated command line."""

    recipe: Path
    platform: Platform
    selection: Selection
    channels: tuple[str, ...] | None
    variant_configs: tuple[Path, ...]
    exclusive_config: Path | None
    offline: bool
    workspace: Workspace

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Request:
        """Check the arguments of `add_variant_arguments`.

        Raises:
            RecipeError: there is no recipe in that folder.
            UsageError: a file that was named does not exist.
            HostError: this platform is not one that slipway builds for.
        """
        platform = this_platform()
        recipe = (arguments.recipe or DEFAULT_RECIPE).resolve()
        if not (recipe / "meta.yaml").is_file():
            raise RecipeError("no recipe here", where=str(recipe / "meta.yaml"), hint="name a folder with a meta.yaml")
        for path in (*arguments.variant_config, *([arguments.exclusive_config] if arguments.exclusive_config else [])):
            if not path.is_file():
                raise UsageError("there is no such variant config", where=str(path))
        for option in ("python", "cuda"):
            version = getattr(arguments, option)
            if version is not None and not re.fullmatch(r"\d+\.\d+", version):
                raise UsageError(f"--{option} takes a version X.Y, not `{version}`")
        return cls(
            recipe=recipe,
            platform=platform,
            selection=_selection(arguments, own=find_checkout() is not None and recipe == DEFAULT_RECIPE),
            channels=tuple(arguments.channel) if arguments.channel else None,
            variant_configs=tuple(arguments.variant_config),
            exclusive_config=arguments.exclusive_config,
            offline=arguments.offline,
            workspace=Workspace.of_checkout(arguments.dist),
        )

    @property
    def uses_embedded(self) -> bool:
        """Whether the embedded channel is among those to build from: then its pins hold."""
        return self.channels is None or EMBEDDED in self.channels

    @property
    def is_own_recipe(self) -> bool:
        """Whether this is the checkout's own recipe, whose packages we know how to greet."""
        return find_checkout() is not None and self.recipe == DEFAULT_RECIPE

    def outputs(self) -> list[RenderedOutput]:
        """Render the recipe and pick what is asked for, in build order.

        Raises:
            RecipeError: the recipe cannot be rendered.
            VariantError: nothing of it matches.
        """
        rendered = self._render(versions=None)
        if not rendered:
            raise VariantError(
                f"the recipe skips every variant on {self.platform}",
                where=str(self.recipe / "meta.yaml"),
                hint="see `build/skip`; `slipway plan DIR --matrix --platform SUBDIR` lists those of other platforms",
            )
        chosen = [output for output in rendered if self.selection.takes(output)]
        for key, title, asked in self.selection.asked():
            known = known_values(rendered, key)
            if known and not any(agrees(asked, value) for value in known):
                raise VariantError(
                    f"the recipe has no variant for {title} {asked}",
                    where=str(self.recipe),
                    hint=f"it has {', '.join(known)}",
                )
        if self.selection.cuda is not None and not known_values(rendered, "cuda_compiler_version"):
            raise VariantError(f"the recipe has no variant for CUDA {self.selection.cuda}", where=str(self.recipe))
        if not chosen:
            asked_for = ", ".join(f"{title} {value}" for _, title, value in self.selection.asked())
            raise VariantError(
                f"no variant of the recipe matches {asked_for or 'a build without CUDA'}",
                where=str(self.recipe),
                hint="it has " + _describe_variants(rendered),
            )
        return chosen

    def matrix(self) -> Sequence[RenderedOutput]:
        """Every output in every variant, in build order, whatever was asked for.

        Raises:
            RecipeError: the recipe cannot be rendered.
        """
        return self._render(versions=None)

    def finalized(self, outputs: Sequence[RenderedOutput], channels: Sequence[str]) -> list[RenderedOutput]:
        """`outputs` once more, their pins (`pin_compatible`, `pin_run_as_build`) made from what the solver picks.

        Sources that lie elsewhere are pinned, too: see `slipway.source`.

        Each output's host environment is solved without the recipe's own outputs, which need not exist yet.

        Raises:
            SolveError: a host environment has no solution.
            NetworkError, IntegrityError: a source cannot be fetched, or is not what the recipe promises.
        """
        own_names = {output.name for output in outputs}
        channel = Channel(self.workspace.channel)
        if channel.is_indexed:  # other recipes' packages may lie there
            channels = (channel.url, *channels)
        rendered_for: dict[tuple[str, ...], dict[str, RenderedOutput]] = {}
        final = []
        for output in outputs:
            specs = tuple(spec for spec in output.requirements.host if spec.split()[0] not in own_names)
            if not specs:
                final.append(output)
                continue
            if specs not in rendered_for:
                versions = {package.name: package.version for package in solve(specs, channels).packages}
                rendered_for[specs] = {again.key: again for again in self._render(versions=versions)}
            final.append(rendered_for[specs][output.key])
        return [pin_sources(output, offline=self.offline) for output in final]

    def _render(self, versions: Versions | None) -> Sequence[RenderedOutput]:
        configs = [load_config(path) for path in self.variant_configs]
        if self.uses_embedded:
            configs.insert(0, load_config(EMBEDDED_VARIANTS))
        base = [load_config(self.exclusive_config)] if self.exclusive_config else []
        # The embedded channel's pins name one Python; another one, asked for by name, replaces it.
        python = self.selection.python if self.uses_embedded else None
        return render(
            load_recipe(self.recipe),
            configs,
            platform=self.platform,
            environ=os.environ,
            base_configs=base,
            variants={"python": [f"{python}.* *_cpython"]} if python else None,
            versions=versions,
        )

    def build_channels(self, reporter: Reporter) -> tuple[str, ...]:
        """The channels to build from; assembles the embedded one where none was named.

        Raises:
            NetworkError: a download was needed and could not be made.
        """
        return channels_of(self.channels, self.selection, reporter, offline=self.offline, build_tools=True)


def channels_of(
    named: Sequence[str] | None, selection: Selection, reporter: Reporter, *, offline: bool, build_tools: bool = False
) -> tuple[str, ...]:
    """The addresses of the channels that are `named`, by default the embedded one; the word for it becomes its address.

    Raises:
        NetworkError: the embedded channel is asked for, and a download that it needs could not be made.
    """
    return tuple(
        embedded_channel(selection, reporter, offline=offline, build_tools=build_tools).url
        if name == EMBEDDED
        else channel_address(name)
        for name in ((EMBEDDED,) if named is None else named)
    )


def embedded_channel(
    selection: Selection, reporter: Reporter, *, offline: bool, build_tools: bool = False
) -> EmbeddedChannel:
    """Assemble (or find) the embedded channel with what `selection` asks for.

    Args:
        build_tools: also with the Python that build tools run with, whichever is asked for.

    Raises:
        NetworkError: a download was needed and could not be made.
    """
    python = (selection.python or "3.11",)
    request = ChannelRequest(selection.cuda, selection.blas or "mkl", python, build_tools=build_tools)
    return ensure_channel(request, reporter, cache=cache_folder(), offline=offline)


def _selection(arguments: argparse.Namespace, *, own: bool) -> Selection:
    """What was asked for; of our own recipe, without more words, the variant that most people want."""
    if own:
        return Selection(arguments.python or "3.11", arguments.blas or "mkl", arguments.cuda)
    return Selection(arguments.python, arguments.blas, arguments.cuda)


def known_values(outputs: Sequence[RenderedOutput], key: str) -> list[str]:
    """The values of a variant key, among the outputs that use it."""
    return list(dict.fromkeys(used[key] for output in outputs if key in (used := used_variant(output))))


def _describe_variants(outputs: Sequence[RenderedOutput]) -> str:
    keys = ("python", "blas_impl", "cuda_compiler_version")
    values = {key: known_values(outputs, key) for key in keys}
    return "; ".join(f"{key}: {', '.join(found)}" for key, found in values.items() if found) or "no variants"


def channel_address(text: str) -> str:
    """What the solver takes: a folder becomes a ``file://`` address; names and addresses stay."""
    path = Path(text)
    return path.resolve().as_uri() if path.is_dir() else text
