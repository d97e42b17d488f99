"""A package, keys, and who is trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.pipeline.run import run
from slipway.proof.keys import SigningKey, Trust, TrustedKey, make_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from slipway.model import RenderedOutput
    from slipway.pipeline.context import RunContext


@pytest.fixture
def package(make_output: Callable[..., RenderedOutput], make_context: Callable[..., RunContext]) -> Path:
    """A real package that says what it was made from."""
    output = make_output(script="mkdir -p $PREFIX/lib; echo 1 > $PREFIX/lib/toy.txt")
    return run([output], make_context(), publish=False)[0].path


@pytest.fixture
def signing(tmp_path: Path) -> list[SigningKey]:
    """Three keys."""
    return [make_key(tmp_path / f"{number}.pem") for number in range(3)]


@pytest.fixture
def trust(signing: list[SigningKey]) -> Trust:
    """The first two are trusted, and both have to sign."""
    return Trust((TrustedKey("builder", signing[0].public), TrustedKey("rebuilder", signing[1].public)), threshold=2)
