"""Recipes from text: the renderer is pure, so its tests need no files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from slipway.base.platform import LINUX_64
from slipway.model import RenderedOutput
from slipway.recipe import Recipe, VariantConfigText, render

Rendering = Callable[..., dict[str, RenderedOutput]]

HEAD = 'package:\n  name: demo\n  version: "1.2.3"\n'


def recipe_of(meta: str, config: str | None = None, files: Mapping[str, str] | None = None) -> Recipe:
    return Recipe(
        directory=Path("recipe"),
        path="meta.yaml",
        text=dedent(meta),
        config=VariantConfigText("conda_build_config.yaml", dedent(config)) if config is not None else None,
        read_file=dict(files or {}).get,
    )


@pytest.fixture
def rendered() -> Rendering:
    """Render text; gives the outputs by ``name-version-build``, in build order."""

    def render_text(
        meta: str, config: str | None = None, *, files: Mapping[str, str] | None = None, **options: Any
    ) -> dict[str, RenderedOutput]:
        options = {"environ": {}, "platform": LINUX_64} | options
        return {output.key: output for output in render(recipe_of(meta, config, files), **options)}

    return render_text
