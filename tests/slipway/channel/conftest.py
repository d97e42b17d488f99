"""A package to put into channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.model import RenderedOutput
    from slipway.pipeline.run import Pipeline


@pytest.fixture
def package(make_output: Callable[..., RenderedOutput], make_pipeline: Callable[..., Pipeline]) -> Path:
    """A real package."""
    output = make_output(script="mkdir -p $PREFIX/lib; echo 1 > $PREFIX/lib/toy.txt")
    return make_pipeline().run([output], publish=False)[0].path
