"""Events carry keys; titles are made of them."""

from __future__ import annotations

import pytest

from slipway.base.events import Stage, StageKey


@pytest.mark.parametrize(
    ("stage", "title"),
    [
        (Stage(StageKey.RECIPE), "render the recipe"),
        (Stage(StageKey.OUTPUT, "lib-torch-2.2.0a0-mkl_h01_100", 1, 4), "[1/4] lib-torch 2.2.0a0 mkl_h01_100"),
        (Stage(StageKey.TOP_LEVEL, "torch"), "top level torch, whose files its outputs take"),
        (Stage(StageKey.PUBLISH, "dist/channel", count=2), "publish 2 package(s) to dist/channel"),
    ],
)
def test_the_title_of_a_stage(stage: Stage, title: str) -> None:
    assert str(stage) == title


@pytest.mark.parametrize("key", StageKey)
def test_every_stage_has_a_title(key: StageKey) -> None:
    assert str(Stage(key, "a-1-0", 1, 2)).strip()
