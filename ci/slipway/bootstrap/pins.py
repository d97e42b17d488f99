"""The configuration that goes with the embedded channel: it lies over a recipe's own wherever that channel is used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from slipway.bootstrap.choices import DATA, embedded_choices, python_build
from slipway.recipe.choose import CUDA_KEY, version_of
from slipway.recipe.config import VariantConfigText
from slipway.recipe.loader import CONFIG_NAME, load_config

if TYPE_CHECKING:
    from slipway.model import Variant

EMBEDDED: Final = "embedded"
"""The name by which a list of channels may hold the embedded one, as conda's lists may hold `defaults`."""


def embedded_pins(asked: Variant) -> tuple[VariantConfigText, ...]:
    """What the embedded channel holds, as variant configurations, low precedence first.

    The channel is assembled with one Python: that of the file, or the one that is `asked` for.

    Raises:
        VariantError: the channel has no such Python.
    """
    # Of CUDA alone it holds several versions: which of them are built for is the recipe's to say.
    pins = replace(load_config(DATA / CONFIG_NAME), offered=frozenset({CUDA_KEY}))
    if "python" not in asked:
        return (pins,)
    python = version_of(asked["python"])
    embedded_choices().check_python(python)
    value = f"{python}.* *_{python_build(python)}"
    return (pins, VariantConfigText("the embedded channel's Python", f"python:\n  - {value}\n"))
