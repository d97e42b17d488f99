"""Where the user's folders lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.base.user_folders import cache_folder, state_folder


def test_folders_follow_xdg() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/var/cache/me"}) == Path("/var/cache/me/slipway")
    assert state_folder({"XDG_STATE_HOME": "/var/state/me"}) == Path("/var/state/me/slipway")


@pytest.mark.parametrize("unusable", ["", "relative"])
def test_folders_ignore_what_xdg_says_to_ignore(unusable: str) -> None:
    assert cache_folder({"XDG_CACHE_HOME": unusable}) == Path.home() / ".cache/slipway"
    assert state_folder({"XDG_STATE_HOME": unusable}) == Path.home() / ".local/state/slipway"
