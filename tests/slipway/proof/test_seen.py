"""What was seen of signed channels: kept whole, lost by nobody, and never taken for empty where it was damaged."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.errors import BusyError, IntegrityError
from slipway.base.locks import hold_lock
from slipway.base.user_folders import state_folder
from slipway.channel.catalogue import ChannelState
from slipway.proof import seen
from slipway.proof.seen import SeenChannels, check_state, remember_state, seen_state

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "https://example.org/channel"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, of a machine that has seen the channel with the number 7."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    remember_state(ADDRESS, ChannelState(7))
    return state_folder() / "seen-channels.json"


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 64, b"{", b"[]", b"null", b"{}", b'{"numbers": []}', b'{"numbers": {"a": "7"}}', b'{"numbers": 1}',
     b'{"numbers": {"a": NaN}}', b'{"numbers": {"a": true}}', b"[" * 100_000, b"\xff"],
    ids=range(13),
)  # fmt: skip
def test_damaged_file_lets_no_earlier_state_pass(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    for use in (
        lambda: seen_state(ADDRESS),
        lambda: check_state(ADDRESS, ChannelState(3)),
        lambda: remember_state(ADDRESS, ChannelState(3)),
        lambda: remember_state(ADDRESS, ChannelState(3), allow_rollback=True),
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
        check_state(ADDRESS, ChannelState(3))


def test_smaller_number_is_refused_where_it_is_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have seen more since this one has looked."""
    known = iter((SeenChannels({}), SeenChannels({ADDRESS: 7})))
    monkeypatch.setattr(seen, "_read", lambda: next(known))
    before = file.read_bytes()
    with pytest.raises(IntegrityError, match="has the number 3, and 7 was seen"):
        remember_state(ADDRESS, ChannelState(3))
    assert file.read_bytes() == before


def test_another_channel_is_refused(file: Path) -> None:
    """What slipway of before wrote knows no identities: the first that is seen is believed."""
    file.write_text(json.dumps({"numbers": {ADDRESS: 7}}), encoding="utf-8")
    remember_state(ADDRESS, ChannelState(8, "one"))
    for other in (ChannelState(9, "other"), ChannelState(9)):
        with pytest.raises(IntegrityError, match="another one than was seen here before"):
            remember_state(ADDRESS, other)
    remember_state(ADDRESS, ChannelState(2, "other"), allow_rollback=True)
    assert seen_state(ADDRESS) == ChannelState(2, "other")


def test_many_writers_lose_nothing(file: Path) -> None:
    # Not forked: other tests may have started rattler's threads, whose locks a fork never releases.
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.starmap(remember_state, [(f"{ADDRESS}/{number}", ChannelState(number)) for number in range(40)])
    assert [seen_state(f"{ADDRESS}/{number}") for number in range(40)] == [ChannelState(n) for n in range(40)]
    assert seen_state(ADDRESS) == ChannelState(7)
    assert sorted(path.name for path in file.parent.iterdir()) == ["seen-channels.json", "seen-channels.lock"]


def test_writer_that_is_killed_leaves_the_file_of_before(file: Path) -> None:
    before = file.read_bytes()
    program = (
        "import os, signal, sys\n"
        "from slipway.channel.catalogue import ChannelState\n"
        "from slipway.proof.seen import remember_state\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        "remember_state(sys.argv[1], ChannelState(8))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(PACKAGE_ROOT)}
    killed = subprocess.run([sys.executable, "-c", program, ADDRESS], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert file.read_bytes() == before
    remember_state(ADDRESS, ChannelState(8))
    assert seen_state(ADDRESS) == ChannelState(8)


def test_writer_that_never_ends_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "PATIENCE_SECONDS", 0)
    with (
        hold_lock(file.with_suffix(".lock")),
        pytest.raises(BusyError, match=f"another slipway is at work there .process {os.getpid()}.") as caught,
    ):
        remember_state(ADDRESS, ChannelState(8))
    assert caught.value.where == str(file.with_suffix(".lock"))
