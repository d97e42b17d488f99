"""A package to put into channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.pipeline.run import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.model import RenderedOutput
    from slipway.pipeline.context import RunContext


@pytest.fixture
def package(make_output: Callable[..., RenderedOutput], make_context: Callable[..., RunContext]) -> Path:
    """A real package."""
    output = make_output(script="mkdir -p $PREFIX/lib; echo 1 > $PREFIX/lib/toy.txt")
    return run([output], make_context(), publish=False)[0].path
