"""Where the cache lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.base.user_cache import cache_folder


def test_cache_folder_follows_xdg() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/var/cache/me"}) == Path("/var/cache/me/slipway")


@pytest.mark.parametrize("unusable", ["", "relative"])
def test_cache_folder_ignores_what_xdg_says_to_ignore(unusable: str) -> None:
    assert cache_folder({"XDG_CACHE_HOME": unusable}) == Path.home() / ".cache/slipway"
