"""Whether a secret changed can be told on the machine that has the key, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import HostError
from slipway.base.keyed_hash import KEY_FILE, hash_with_key

if TYPE_CHECKING:
    from pathlib import Path


def test_the_same_secret_has_the_same_hash_where_the_key_is(tmp_path: Path) -> None:
    here, there = ({"XDG_CACHE_HOME": str(tmp_path / name)} for name in ("here", "there"))
    first = hash_with_key("A", "value", here)
    assert first == hash_with_key("A", "value", here)
    assert len({first, hash_with_key("B", "value", here), hash_with_key("A", "other", here)}) == 3
    assert first != hash_with_key("A", "value", there)
    key = tmp_path / "here/slipway" / KEY_FILE
    assert key.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in key.parent.iterdir()] == [KEY_FILE]


def test_a_damaged_key_is_told(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    hash_with_key("A", "value", environ)
    (tmp_path / "slipway" / KEY_FILE).write_bytes(b"")
    with pytest.raises(HostError, match="is damaged"):
        hash_with_key("A", "value", environ)
