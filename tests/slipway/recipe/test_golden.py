"""The renderer gives the same answers as the real conda-build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.base.platform import LINUX_64
from slipway.recipe import load_recipe, render

GOLDEN = Path(__file__).parents[2] / "golden" / "conda-build"
CASES = sorted(path.parent for path in GOLDEN.glob("*/expected.json"))


def test_there_are_cases() -> None:
    assert len(CASES) >= 19


@pytest.mark.filterwarnings("ignore::slipway.base.errors.RecipeWarning")  # some cases are what it warns of
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_same_as_conda_build(case: Path) -> None:
    outputs = render(load_recipe(case), platform=LINUX_64, environ={})
    assert {output.key: dict(output.listing) for output in outputs} == json.loads((case / "expected.json").read_text())
