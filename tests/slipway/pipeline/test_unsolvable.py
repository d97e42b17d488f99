"""What is said of a package that no channel has."""

from __future__ import annotations

import pytest

from slipway.base.user_cache import cache_folder
from slipway.pipeline.unsolvable import _advise


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
