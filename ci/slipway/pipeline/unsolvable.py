"""Why an environment of an output has no solution: the recipe's line, and what to write instead."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from slipway.base.errors import RecipeError, SlipwayError, SolveError
from slipway.base.user_folders import cache_folder
from slipway.bootstrap.choices import names_on_demand
from slipway.channel.environments import package_names
from slipway.model import META_NAME
from slipway.recipe.choose import used_variant
from slipway.recipe.hashes import name_of
from slipway.recipe.loader import load_recipe_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from slipway.model import RenderedOutput


def explain(error: SolveError, output: RenderedOutput, section: str, specs: Sequence[str]) -> SolveError:
    """`error`, which the solver made of `specs`, in terms of the recipe.

    Args:
        section: of the requirements: ``build`` or ``host``.
    """
    variant = ", ".join(f"{key} {value}" for key, value in used_variant(output).items())
    of_what = f"`{output.name}` {output.version}" + (f" ({variant})" if variant else "")
    try:
        offered = package_names(error.channels) if error.channels else None
    except SlipwayError:
        offered = None  # it could be reached a moment ago: the solver's own words have to do
    missing = [name_of(spec) for spec in specs if name_of(spec) not in offered] if offered is not None else []
    missing = [name for name in missing if not name.startswith("__")]
    if offered is not None and missing:
        explained = SolveError(
            f"no channel has `{missing[0]}`, which the {section} section of {of_what} asks for",
            where=find_line(output.recipe_path, section, missing[0]), code="missing-package",
            hint=_advise(missing[0], offered, error.channels),
        )  # fmt: skip
    else:
        named = next((name_of(spec) for spec in specs if f" {name_of(spec)} " in f"{error.detail} "), "")
        explained = SolveError(
            f"the {section} section of {of_what} has no solution",
            where=find_line(output.recipe_path, section, named), code="unsolvable",
            hint=f"{error.hint}; packages came from {', '.join(error.channels)}", detail=error.detail,
        )  # fmt: skip
    explained.channels = error.channels
    return explained


def advise_on_recipe(error: SolveError, recipe: Path) -> None:
    """Say in the hint of `error` how what the solver missed is built, where it is an output of a recipe.

    Args:
        recipe: its folder, which may not be there.
    """
    try:
        sections = _NAMED.split((recipe / META_NAME).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return
    outputs = dict(zip(sections[1::2], sections[2::2], strict=True))
    missed = next((name for name in _MISSED.findall(error.detail or "") if name in outputs), None)
    if missed is None:
        return
    skipped = " ".join(re.findall(r"^\s+skip:.*", outputs[missed], re.MULTILINE))
    options = load_recipe_settings(recipe).options.items()
    asked = [f" --{name} {option.takes}" for name, option in options if re.search(rf"\b{option.key}\b", skipped)]
    error.hint = f"the recipe here has an output of that name, which is not built: `slipway ship{''.join(asked)}` does"


_NAMED = re.compile(r"^\s*-?\s*name:\s*([\w.-]+)\s*$", re.MULTILINE)
"""Where a part of a recipe begins that is called something."""

_MISSED = re.compile(r"No candidates were found for ([\w.-]+)")
"""How the solver says that no channel has a name."""


def find_line(meta: Path, section: str, name: str) -> str:
    """``path:line`` of the requirement `name`; of its first mention where no section of that name has it."""
    try:
        lines = meta.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, RecipeError):
        return str(meta)
    wanted = re.compile(rf"^\s*-\s+[\"']?{re.escape(name)}(?![\w.-])") if name else re.compile("(?!)")
    inside, anywhere = "", None
    for number, line in enumerate(lines, start=1):
        if heading := re.match(r"\s*(\w+):\s*(#.*)?$", line):
            inside = heading[1]
        if wanted.match(line):
            if inside == section:
                return f"{meta}:{number}"
            anywhere = anywhere or number
    return f"{meta}:{anywhere}" if anywhere else str(meta)


def _advise(name: str, offered: frozenset[str], channels: Sequence[str]) -> str:
    embedded = any(channel.startswith(cache_folder().as_uri()) for channel in channels)
    on_demand = names_on_demand() if embedded else frozenset()
    if name in on_demand:
        return "the embedded channel has it for another choice of CUDA or BLAS: look at the variant"
    close = difflib.get_close_matches(name, sorted(offered | on_demand), n=1, cutoff=0.75)
    said = [f"did you mean `{close[0]}`?"] if close else []
    if embedded:
        said.append(
            "the embedded channel lacks it: take it from another one (`--channel embedded --channel conda-forge`), "
            f"or add it: `slipway bootstrap add wheel:{name}`, or `deb:` and what Debian calls it"
        )
    else:
        said.append(f"looked for in {', '.join(channels)}; `--channel` names others")
    return " ".join(said)
