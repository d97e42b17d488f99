"""What the commands that build have in common: their options, and from these the outputs and channels to use."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.errors import HostError, RecipeError, UsageError, VariantError
from slipway.paths import CHECKOUT, Workspace, cache_folder

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from slipway.bootstrap import EmbeddedChannel
    from slipway.log import Reporter
    from slipway.model import RenderedOutput

DEFAULT_RECIPE = CHECKOUT / "recipe"
EMBEDDED_VARIANTS = CHECKOUT / "ci" / "bootstrap" / "conda_build_config.yaml"
"""The pins of the embedded channel, laid over those of a recipe."""


def add_variant_arguments(parser: argparse.ArgumentParser) -> None:
    """Which recipe, which part of its matrix, from which channels."""
    parser.add_argument("recipe", nargs="?", type=Path, metavar="DIR", help="folder of the recipe (default: recipe/)")
    parser.add_argument("--python", metavar="X.Y", default="3.11", help="Python to build for (default: 3.11)")
    parser.add_argument("--blas", metavar="NAME", default="mkl", help="BLAS to build with: mkl (default) or openblas")
    parser.add_argument("--cuda", metavar="X.Y", help="also build what needs CUDA, for this version")
    parser.add_argument(
        "--channel",
        action="append",
        metavar="URL",
        help="take compilers and libraries from here (repeatable) instead of from the embedded channel",
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

    def takes(self, output: RenderedOutput) -> bool:
        """Whether `output` belongs to it. Only the keys that an output uses have a say."""
        used = set(output.hash_input)
        if any(spec.split()[0] == "python" for spec in output.requirements.host):
            used.add("python")
        variant = output.variant
        if "python" in used and self.python is not None and variant.get("python"):
            version = variant["python"].split()[0].removesuffix(".*")
            if version != self.python:
                return False
        if "blas_impl" in used and self.blas is not None and variant.get("blas_impl") != self.blas:
            return False
        return "cuda_compiler_version" not in used or variant["cuda_compiler_version"] in ("None", self.cuda)


@dataclass(frozen=True)
class Request:
    """A validated command line."""

    recipe: Path
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
        if platform.system() != "Linux" or platform.machine() != "x86_64":
            raise HostError(
                f"slipway builds on Linux x86_64; this is {platform.system()} {platform.machine()}",
                hint="on other platforms use `conda build recipe`",
            )
        recipe = (arguments.recipe or DEFAULT_RECIPE).resolve()
        if not (recipe / "meta.yaml").is_file():
            raise RecipeError("no recipe here", where=str(recipe / "meta.yaml"), hint="name a folder with a meta.yaml")
        for path in (*arguments.variant_config, *([arguments.exclusive_config] if arguments.exclusive_config else [])):
            if not path.is_file():
                raise UsageError("there is no such variant config", where=str(path))
        return cls(
            recipe=recipe,
            selection=Selection(arguments.python, arguments.blas, arguments.cuda),
            channels=tuple(map(channel_address, arguments.channel)) if arguments.channel else None,
            variant_configs=tuple(arguments.variant_config),
            exclusive_config=arguments.exclusive_config,
            offline=arguments.offline,
            workspace=Workspace.of_checkout(arguments.dist),
        )

    @property
    def is_own_recipe(self) -> bool:
        """Whether this is the checkout's own recipe, whose packages we know how to greet."""
        return self.recipe == DEFAULT_RECIPE

    def outputs(self) -> list[RenderedOutput]:
        """Render the recipe and pick what is asked for, in build order.

        Raises:
            RecipeError: the recipe cannot be rendered.
            VariantError: nothing of it matches.
        """
        rendered = render_recipe(self)
        chosen = [output for output in rendered if self.selection.takes(output)]
        cuda = self.selection.cuda
        known = {output.variant.get("cuda_compiler_version", "None") for output in rendered} - {"None"}
        if cuda is not None and cuda not in known:
            raise VariantError(
                f"the recipe has no variant for CUDA {cuda}",
                where=str(self.recipe),
                hint="it has " + (", ".join(sorted(known)) or "none with CUDA"),
            )
        if not chosen:
            raise VariantError(
                f"no variant of the recipe matches {self._asked_for()}",
                where=str(self.recipe),
                hint="it has " + _describe_variants(rendered),
            )
        return chosen

    def _asked_for(self) -> str:
        selection = self.selection
        named = (("Python", selection.python), ("BLAS", selection.blas), ("CUDA", selection.cuda))
        return ", ".join(f"{name} {value}" for name, value in named if value)

    def build_channels(self, reporter: Reporter) -> tuple[str, ...]:
        """The channels to build from; assembles the embedded one where none was named.

        Raises:
            NetworkError: a download was needed and could not be made.
        """
        if self.channels is not None:
            return self.channels
        return (embedded_channel(self.selection, reporter, offline=self.offline).url,)


def embedded_channel(selection: Selection, reporter: Reporter, *, offline: bool) -> EmbeddedChannel:
    """Assemble (or find) the embedded channel with what `selection` asks for.

    Raises:
        NetworkError: a download was needed and could not be made.
    """
    from slipway.bootstrap import ChannelRequest, ensure_channel

    request = ChannelRequest(cuda=selection.cuda, blas=selection.blas or "mkl", python=(selection.python or "3.11",))
    return ensure_channel(request, reporter, cache=cache_folder(), offline=offline)


def render_recipe(request: Request) -> Sequence[RenderedOutput]:
    """Every output of every variant of the request's recipe, in build order."""
    from slipway.recipe import load_recipe, render

    recipe = load_recipe(request.recipe)
    return render(recipe, [], platform="linux-64", environ=os.environ)


def _describe_variants(outputs: Sequence[RenderedOutput]) -> str:
    keys = ("python", "blas_impl", "cuda_compiler_version")
    parts = []
    for key in keys:
        values = sorted({output.variant[key] for output in outputs if key in output.variant})
        if values:
            parts.append(f"{key}: {', '.join(values)}")
    return "; ".join(parts) or "no variants"


def channel_address(text: str) -> str:
    """What the solver takes: a folder becomes a ``file://`` address; names and addresses stay."""
    path = Path(text)
    return path.resolve().as_uri() if path.is_dir() else text
