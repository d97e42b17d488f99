"""What is said of a package that no channel has."""

from __future__ import annotations

import pytest

from slipway.base.errors import SolveError
from slipway.base.user_folders import cache_folder
from slipway.pipeline.unsolvable import _advise, advise_on_recipe
from slipway.request import DEFAULT_RECIPE


@pytest.mark.parametrize(("name", "channel", "said"), [
    ("zlibb", "embedded", "did you mean `zlib`?"),
    ("zlibb", "embedded", "`slipway bootstrap add wheel:zlibb`"),
    ("nccl", "embedded", "for another choice of CUDA or BLAS"),
    ("zlibb", "conda-forge", "looked for in conda-forge"),
])  # fmt: skip
def test_advice(name: str, channel: str, said: str) -> None:
    """The embedded channel's packages on demand count as known, though it holds none that nobody asked for."""
    address = (cache_folder() / "channels/x").as_uri() if channel == "embedded" else channel
    assert said in _advise(name, frozenset({"python"}), (address,))


def test_only_the_embedded_channel_has_packages_on_demand() -> None:
    assert "did you mean" not in _advise("zlibb", frozenset({"python"}), ("conda-forge",))


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("No candidates were found for pytorch-gpu *.", "`slipway ship --cuda X.Y` does"),
        ("No candidates were found for libtorch >=2.", "`slipway ship` does"),
        ("No candidates were found for numpy-of-nobody *.", None),
        ("No candidates were found for pytorch *.\nNo candidates were found for no-such *", "`slipway ship` does"),
    ],
)
def test_output_of_the_recipe_that_was_not_built_is_named(detail: str, said: str | None) -> None:
    error = SolveError("no environment satisfies it", detail=detail, hint="as before")
    advise_on_recipe(error, DEFAULT_RECIPE)
    assert str(error.hint).endswith(said or "as before")
    advise_on_recipe(error, DEFAULT_RECIPE / "nowhere")
    assert str(error.hint).endswith(said or "as before")
