"""What is asked of a recipe, checked: which variants of it, after which configuration files, from which channels.

Every command makes its outputs here, so all of them see the same matrix.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from slipway.base.checkout import default_folder, find_checkout
from slipway.base.errors import UsageError, VariantError
from slipway.bootstrap.pins import EMBEDDED, embedded_pins
from slipway.recipe import load_config, load_recipe, load_recipe_settings, render_matrix, surrounding_configs
from slipway.recipe.choose import CUDA_KEY, WITHOUT, describe_asked, used_variant, variant_of
from slipway.recipe.loader import find_recipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from slipway.base.paths import Workspace
    from slipway.base.platform import Platform
    from slipway.model import RenderedOutput, Source, Variant, VariantOption
    from slipway.recipe import RecipeMatrix, VariantConfigText
    from slipway.recipe.stages import SolvedOutputs

DEFAULT_RECIPE = default_folder() / "recipe"


@dataclass(frozen=True)
class Configurations:
    """The variant configurations beside the recipe's own.

    Attributes:
        surroundings: folders whose conda_build_config.yaml lies below the recipe's own.
        exclusive: files that take the place of those, in order.
        additional: files that lie over the recipe's own, in order.
        variants: keys and values that lie over every file.
    """

    surroundings: tuple[Path, ...] = ()
    exclusive: tuple[Path, ...] = ()
    additional: tuple[Path, ...] = ()
    variants: Mapping[str, Any] | None = None

    def render(
        self,
        recipe: Path,
        platform: Platform,
        *,
        environ: Mapping[str, str],
        pins: tuple[VariantConfigText, ...] = (),
        solved: SolvedOutputs | None = None,
    ) -> RecipeMatrix:
        """Every output of a recipe in every variant, in build order.

        Args:
            environ: environment variables that selectors and templates may see.
            pins: a channel's configurations, which lie between the recipe's own and the additional ones.
            solved: see `recipe.render`.

        Raises:
            RecipeError: the recipe cannot be rendered.
        """
        if self.exclusive:
            below = tuple(load_config(path) for path in self.exclusive)
        else:
            below = surrounding_configs(self.surroundings)
        return render_matrix(
            load_recipe(recipe),
            (*pins, *(load_config(path) for path in self.additional)),
            platform=platform,
            environ=environ,
            base_configs=below,
            variants=self.variants,
            solved=solved,
        )


@dataclass(frozen=True)
class Request:
    """A validated command line.

    Attributes:
        recipe: the recipe's folder.
        platform: what is built for.
        asked: the variant keys that somebody gave a value, and the values.
        channels: those to take what the recipe needs from; None for the embedded one.
        surroundings: folders whose conda_build_config.yaml lies below the recipe's own: conda-build's are the user's
            home and the working directory.
        exclusive_configs: files that take the place of those (conda-build's ``-e``), in order.
        variant_configs: files that lie over the recipe's own (``-m``), in order.
        variants: keys and values that lie over every file (``--variants``).
        environ: environment variables that selectors and templates may see.
        offline: whether nothing may be downloaded.
        pinned: sources that lie elsewhere and are known already, see `slipway.source.pin_sources`.
    """

    recipe: Path
    platform: Platform
    workspace: Workspace
    asked: Variant = field(default_factory=dict)
    channels: tuple[str, ...] | None = None
    surroundings: tuple[Path, ...] = ()
    exclusive_configs: tuple[Path, ...] = ()
    variant_configs: tuple[Path, ...] = ()
    variants: Mapping[str, Any] | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    offline: bool = False
    pinned: Mapping[Source, Source] = field(default_factory=dict)

    def at(self, recipe: Path) -> Request:
        """The same of another recipe."""
        return replace(self, recipe=recipe)

    @functools.cached_property
    def options(self) -> Mapping[str, VariantOption]:
        """The short names of variant keys that the recipe declares, by name."""
        return load_recipe_settings(self.recipe).options

    @property
    def preferred(self) -> Variant:
        """What is asked for, and for other keys what the recipe declares as its default."""
        return {option.key: option.default for option in self.options.values() if option.default is not None} | dict(
            self.asked
        )

    @property
    def uses_embedded(self) -> bool:
        """Whether the embedded channel is among those to build from: then its pins hold."""
        return self.channels is None or EMBEDDED in self.channels

    @property
    def is_own_recipe(self) -> bool:
        """Whether this is the checkout's own recipe, whose packages we know how to greet."""
        return find_checkout() is not None and self.recipe == DEFAULT_RECIPE

    def matrix(self, solved: SolvedOutputs | None = None) -> RecipeMatrix:
        """Every output in every variant, in build order, whatever was asked for.

        Configuration files count in conda-build's order; the embedded channel's pins lie between the recipe's own and
        those that are named.

        Args:
            solved: what the solver says of the outputs' environments, where that is known: see `recipe.render`.

        Raises:
            RecipeError: the recipe cannot be rendered.
            VariantError: the embedded channel does not have what is asked for.
        """
        configurations = Configurations(self.surroundings, self.exclusive_configs, self.variant_configs, self.variants)
        pins = embedded_pins(self.preferred) if self.uses_embedded else ()
        return configurations.render(self.recipe, self.platform, environ=self.environ, pins=pins, solved=solved)

    def check_places(self, outputs: Iterable[RenderedOutput] = ()) -> None:
        """Refuse an output folder that holds what it is made from: nothing in it counts as source.

        Raises:
            UsageError: it holds the recipe, or a source of `outputs`.
        """
        recipe, dist = self.recipe.resolve(), self.workspace.dist
        sources = {(recipe / source.path).resolve() for one in outputs for source in one.sources if source.path}
        for place in (recipe, *sorted(sources)):
            if dist in (place, *place.parents):
                what = "the recipe" if place == recipe else "a source of the recipe"
                raise UsageError(
                    f"the output folder holds {what}: {place}", where=str(dist),
                    hint="give it a folder of its own with --dist",
                )  # fmt: skip

    def matching(self) -> tuple[RenderedOutput, ...]:
        """The outputs that belong to what was asked for, in build order; all of them if nothing was.

        Raises:
            RecipeError: the recipe cannot be rendered.
            VariantError: the recipe has no such variant.
        """
        chosen = self.matrix().select(self.asked, self._titles())
        self.check_places(chosen)
        return chosen

    def outputs(self) -> tuple[RenderedOutput, ...]:
        """The outputs to build: those that were asked for, and in what nobody spoke of, the recipe's defaults.

        Raises:
            RecipeError: the recipe cannot be rendered.
            VariantError: nothing of it matches.
        """
        matrix, titles = self.matrix(), self._titles()
        if not matrix.outputs:
            raise VariantError(
                f"the recipe skips every variant on {self.platform}",
                where=str(find_recipe(self.recipe)),
                hint="see `build/skip`; `slipway plan DIR --matrix --platform SUBDIR` lists those of other platforms",
            )
        matrix.select(self.asked, titles)
        wanted = matrix.with_defaults(self.asked, self.preferred)
        chosen = matrix.select(wanted, titles)
        if not chosen:
            raise VariantError(
                f"no variant of the recipe matches {describe_asked(wanted, titles)}",
                where=str(self.recipe),
                hint="it has " + matrix.describe(),
            )
        self.check_places(chosen)
        return chosen

    def channel_variant(self, outputs: Iterable[RenderedOutput]) -> Variant:
        """What the embedded channel must offer, for `outputs` to be built from it: of CUDA, every version of theirs."""
        outputs = tuple(outputs)
        used = (used_variant(output).get(CUDA_KEY, WITHOUT) for output in outputs)
        cudas = ",".join(dict.fromkeys(version for version in used if version != WITHOUT))
        asked = {**self.preferred, **variant_of(outputs), "target_platform": self.platform.subdir}
        return {**asked, CUDA_KEY: cudas} if cudas else asked

    def _titles(self) -> Mapping[str, str]:
        return {option.key: option.title or option.key for option in self.options.values()}
