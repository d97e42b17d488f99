"""The cache keeps to its size: what was used last stays."""

import os
from pathlib import Path

import pytest

from slipway.base.cache_room import room_bytes, trim, trim_now_and_then
from slipway.base.errors import UsageError
from slipway.base.locks import hold_lock
from slipway.cli import main

SIZE = 1 << 20


def fill(root: Path, name: str, age: float, size: int = SIZE) -> Path:
    """An entry of the cache, last used so many hours ago."""
    entry = root / name
    (entry / "files").mkdir(parents=True)
    (entry / "files" / "content").write_bytes(b"x" * size)
    used = entry.stat().st_mtime - age * 3600
    os.utime(entry, (used, used))
    return entry


def test_the_oldest_entries_go_until_the_rest_fits(tmp_path: Path) -> None:
    old, middle, new = (fill(tmp_path, f"unpacked/{age}", age) for age in (30, 20, 10))
    other = fill(tmp_path, "sccache/ab", 100)
    assert trim(tmp_path, 10 * SIZE).removed == 0
    assert trim(tmp_path, 2 * SIZE + SIZE // 2).removed == SIZE
    assert not old.exists()
    assert middle.exists()
    assert new.exists()
    assert other.exists()


def test_what_may_be_in_use_stays_whatever_its_size(tmp_path: Path) -> None:
    lately, before = fill(tmp_path, "for-builds/a", 1), fill(tmp_path, "downloads/b", 9)
    assert trim(tmp_path, 0)[:2] == (SIZE, SIZE)
    assert lately.exists()
    assert not before.exists()


def test_a_file_with_two_names_counts_once_and_for_the_later_use(tmp_path: Path) -> None:
    package, channel = fill(tmp_path, "packages/a", 30), fill(tmp_path, "channels/b", 20, size=0)
    (channel / "files" / "same").hardlink_to(package / "files" / "content")
    os.utime(channel, (package.stat().st_mtime + 3600,) * 2)
    assert trim(tmp_path, SIZE + SIZE // 2).removed == 0
    assert package.exists()
    assert channel.exists()


def test_nothing_goes_while_another_one_writes(tmp_path: Path) -> None:
    entry = fill(tmp_path, "unpacked/a", 30)
    with hold_lock(tmp_path / "taken.lock"):
        assert trim(tmp_path, 0).busy
    assert entry.exists()
    assert trim(tmp_path, 0).removed == SIZE


def test_other_folders_are_looked_after_by_those_who_name_them(tmp_path: Path) -> None:
    blob, other = fill(tmp_path, "blobs/a", 50), fill(tmp_path, "unpacked/b", 50)
    assert trim(tmp_path, 0, shelves=("blobs",), locks=()).removed == SIZE
    assert not blob.exists()
    assert other.exists()
    assert not (tmp_path / "lock").exists()


def test_once_a_day_and_to_the_size_that_is_set(tmp_path: Path) -> None:
    entry = fill(tmp_path, "unpacked/a", 30)
    assert trim_now_and_then(tmp_path, {}) == 0
    assert trim_now_and_then(tmp_path, {"SLIPWAY_CACHE_GB": "0"}) == 0, "it was looked at just now"
    os.utime(tmp_path / "trimmed", (0, 0))
    assert trim_now_and_then(tmp_path, {"SLIPWAY_CACHE_GB": "0"}) == SIZE
    assert not entry.exists()
    with pytest.raises(UsageError, match="a number of gigabytes, not `much`"):
        room_bytes({"SLIPWAY_CACHE_GB": "much"})


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    entry = fill(tmp_path, "slipway/unpacked/a", 30)
    assert main(["clean"]) == 0
    assert entry.exists()
    assert main(["clean", "--to", "0"]) == 0
    assert "1.0 MB removed" in capsys.readouterr().out
    assert not entry.exists()
    fill(tmp_path, "slipway/unpacked/b", 1)
    assert main(["clean", "--to", "0"]) == 0
    assert "1.0 MB do, since they were used in the last 6 hours" in capsys.readouterr().out
    with hold_lock(tmp_path / "slipway" / "lock"):
        assert main(["clean"]) == 0
    assert "another slipway works there" in capsys.readouterr().out
