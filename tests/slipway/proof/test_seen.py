"""What was seen of signed channels: kept whole, lost by nobody, and never taken for empty where it was damaged."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import BusyError, IntegrityError
from slipway.base.locks import hold_lock
from slipway.base.user_cache import cache_folder
from slipway.proof import seen
from slipway.proof.seen import check_number, remember_number, seen_number

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "https://example.org/channel"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, of a machine that has seen the channel with the number 7."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    remember_number(ADDRESS, 7)
    return cache_folder() / "seen-channels.json"


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 64, b"{", b"[]", b"null", b"{}", b'{"numbers": []}', b'{"numbers": {"a": "7"}}', b'{"numbers": 1}',
     b'{"numbers": {"a": NaN}}', b'{"numbers": {"a": true}}', b"[" * 100_000, b"\xff"],
    ids=range(13),
)  # fmt: skip
def test_damaged_file_lets_no_earlier_state_pass(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    for use in (
        lambda: seen_number(ADDRESS),
        lambda: check_number(ADDRESS, 3),
        lambda: remember_number(ADDRESS, 3),
        lambda: remember_number(ADDRESS, 3, allow_rollback=True),
    ):
        with pytest.raises(IntegrityError, match="cannot be read: it is damaged") as caught:
            use()
        assert caught.value.where == str(file)
        assert "remove the file" in str(caught.value.hint)
    assert file.read_bytes() == content, "it may still be mended by hand"


def test_folder_in_its_place_is_named(file: Path) -> None:
    file.unlink()
    file.mkdir()
    with pytest.raises(IntegrityError, match="cannot be read: Is a directory"):
        check_number(ADDRESS, 3)


def test_smaller_number_is_refused_where_it_is_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have seen more since this one has looked."""
    numbers = iter((None, 7))
    monkeypatch.setattr(seen, "_read", lambda: {ADDRESS: number} if (number := next(numbers)) else {})
    before = file.read_bytes()
    with pytest.raises(IntegrityError, match="has the number 3, and 7 was seen"):
        remember_number(ADDRESS, 3)
    assert file.read_bytes() == before


def test_many_writers_lose_nothing(file: Path) -> None:
    with multiprocessing.get_context("fork").Pool(8) as pool:
        pool.starmap(remember_number, [(f"{ADDRESS}/{number}", number) for number in range(40)])
    assert [seen_number(f"{ADDRESS}/{number}") for number in range(40)] == list(range(40))
    assert seen_number(ADDRESS) == 7
    assert sorted(path.name for path in file.parent.iterdir()) == ["seen-channels.json", "seen-channels.lock"]


def test_writer_that_is_killed_leaves_the_file_of_before(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()

    def killed(descriptor: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(os, "fsync", killed)
    process = multiprocessing.get_context("fork").Process(target=remember_number, args=(ADDRESS, 8))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert file.read_bytes() == before
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(file.parent.parent))
    remember_number(ADDRESS, 8)
    assert seen_number(ADDRESS) == 8


def test_writer_that_never_ends_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "PATIENCE_SECONDS", 0)
    with (
        hold_lock(file.with_suffix(".lock")),
        pytest.raises(BusyError, match=f"another slipway is at work there .process {os.getpid()}.") as caught,
    ):
        remember_number(ADDRESS, 8)
    assert caught.value.where == str(file.with_suffix(".lock"))
