"""The renderer for conda-build's recipe dialect: text in, `RenderedOutput`s out.

    recipe = load_recipe(Path("recipe"))
    outputs = render(recipe, [load_config(path)], platform=LINUX_64, environ={})

`loader` is the one module that reads files. Everything else is pure: the same texts, platform and environment give the
same outputs, and nothing of a recipe is ever run outside Jinja's sandbox. The stages, each with its module:

    selectors   lines that end in ``[...]``
    config      conda_build_config.yaml, stacked and multiplied out to variants
    limits      the process in which all of this runs, with so much time and memory
    templates   Jinja in its sandbox; `functions` is what templates may name
    document    YAML with line numbers; `fields` are the keys it may hold
    overlay     recipe_append.yaml and recipe_clobber.yaml
    outputs     what each output takes from the top level
    excerpts, usage, hashes   which keys an output uses, and its build string
    order       build order
    finish      pins resolved
    render      the whole; `stages` are the types in between
    choose      picking variants from the result
    v1          instead of all that: recipe.yaml, rendered by rattler-build
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slipway.base.errors import RecipeError
from slipway.base.secrets import names_a_secret, remember_secret
from slipway.recipe import finish, render as rendering, v1
from slipway.recipe.choose import RecipeMatrix
from slipway.recipe.config import VariantConfigText, given, meet_offers, parse
from slipway.recipe.limits import RenderLimits, call_limited, only_environment
from slipway.recipe.loader import load_config, load_recipe, load_recipe_settings, surrounding_configs
from slipway.recipe.stages import Recipe, Solved, SolvedOutputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slipway.base.platform import Platform
    from slipway.model import RenderedOutput

__all__ = [
    "Recipe",
    "RecipeMatrix",
    "RenderLimits",
    "Solved",
    "VariantConfigText",
    "load_config",
    "load_recipe",
    "load_recipe_settings",
    "render",
    "render_matrix",
    "surrounding_configs",
]

DEFAULT_LIMITS = RenderLimits()


def render(
    recipe: Recipe,
    configs: Sequence[VariantConfigText] = (),
    *,
    platform: Platform,
    environ: Mapping[str, str],
    base_configs: Sequence[VariantConfigText] = (),
    variants: Mapping[str, Any] | None = None,
    solved: SolvedOutputs | None = None,
    limits: RenderLimits = DEFAULT_LIMITS,
) -> tuple[RenderedOutput, ...]:
    """Render every output of every variant.

    Precedence, from low to high: conda-build's defaults, `base_configs`, the recipe's own configuration, `configs`,
    `variants`.

    Args:
        recipe: from `load_recipe`.
        configs: conda-build's ``-m`` files, in order.
        platform: what is built on and, unless a configuration sets `target_platform`, for.
        environ: environment variables; selectors and templates see them, but for those that hold secrets by their name
            (see `slipway.base.secrets`): what is rendered is printed, and goes into packages. `script_env`
            may ask for one.
        base_configs: files below the recipe's own: ``--exclusive-config-file``, or the user's and working directory's.
        variants: key to value or list of values, as given on a command line.
        solved: what the solver says of the outputs' environments: `pin_compatible`, `pin_run_as_build`, hashes and
            build strings go by it. Without it `pin_compatible` leaves the bare name, and the rest goes by the variant.
        limits: the processor time and memory that rendering may take.

    Returns:
        The outputs that are not skipped, each after those that it needs.

    Raises:
        RecipeError: the recipe or a configuration cannot be rendered; `where` is ``path:line``.
    """
    return render_matrix(
        recipe,
        configs,
        platform=platform,
        environ=environ,
        base_configs=base_configs,
        variants=variants,
        solved=solved,
        limits=limits,
    ).outputs


def render_matrix(
    recipe: Recipe,
    configs: Sequence[VariantConfigText] = (),
    *,
    platform: Platform,
    environ: Mapping[str, str],
    base_configs: Sequence[VariantConfigText] = (),
    variants: Mapping[str, Any] | None = None,
    solved: SolvedOutputs | None = None,
    limits: RenderLimits = DEFAULT_LIMITS,
) -> RecipeMatrix:
    """The same as `render`, together with the configured values, some of which no output uses."""
    stack = (*base_configs, *((recipe.config,) if recipe.config is not None else ()), *configs)
    try:
        matrix = call_limited(
            limits, _render, recipe, stack, platform, dict(environ), dict(variants or {}), solved, limits
        )
    except RecipeError as error:
        error.where = error.where or recipe.path
        raise
    for output in matrix.outputs:
        for one in (output, *([output.staging] if output.staging is not None else [])):
            for name in one.secret_env:
                remember_secret(one.script_env[name], name)
    for key, values in matrix.configured.items():
        if names_a_secret(key):
            for value in values:
                remember_secret(value, key)
    return matrix


def _render(
    recipe: Recipe,
    stack: Sequence[VariantConfigText],
    platform: Platform,
    environ: Mapping[str, str],
    variants: Mapping[str, Any],
    solved: SolvedOutputs | None,
    limits: RenderLimits,
) -> RecipeMatrix:
    """See `render_matrix`; runs in the process that has the limits."""
    shown = {name: value for name, value in environ.items() if not names_a_secret(name)}
    parsed = [parse(source, platform=platform, environ=shown) for source in stack]
    parsed = meet_offers(parsed, [source.offered for source in stack])
    if variants:
        parsed.append(given(variants))
    if recipe.is_v1:
        with only_environment(shown):
            return v1.render(recipe, parsed, platform=platform, environ=environ)
    renderer = rendering.Renderer(recipe, parsed, platform=platform, environ=environ, solved=solved, limits=limits)
    outputs = tuple(finish.without_secrets(output) for output in renderer.render())
    return RecipeMatrix(outputs, renderer.space.values(), renderer.space.zip_groups)
