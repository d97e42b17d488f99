"""Sharded indexes that are damaged on the way: that is said, nothing is installed, and nothing else breaks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgpack
import pytest
import zstandard

from slipway.base.errors import ChannelError, NetworkError
from slipway.channel.environments import solve
from slipway.channel.serving import make_server
from slipway.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..conftest import Kit


@pytest.fixture
def published(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, str]]:
    """A channel with the package `words`, and its address."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package = kit.package({"share/words": "words"}, name="words", about={"license": "MIT"})
    assert main(["publish", "--to", str(tmp_path / "ch"), str(package)]) == 0
    server = make_server(tmp_path / "ch", ("127.0.0.1", 0), on_answer=lambda line: None)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield tmp_path / "ch", f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def pack(value: object) -> bytes:
    return zstandard.ZstdCompressor().compress(msgpack.packb(value))


@pytest.mark.parametrize("file", ["repodata_shards.msgpack.zst", "shards/*.msgpack.zst"])
@pytest.mark.parametrize(
    "content",
    [b"", pack([1, 2]), pack({"shards": 1}), pack({"packages.conda": {"a.conda": {}}})],
    ids=["empty", "list", "number", "record"],
)
def test_damage_is_named(published: tuple[Path, str], file: str, content: bytes) -> None:
    folder, address = published
    (path,) = (folder / "linux-64").glob(file)
    path.write_bytes(content)
    with pytest.raises(ChannelError, match="a channel's index is damaged"):
        solve(["words"], [address])


@pytest.mark.parametrize("file", ["repodata_shards.msgpack.zst", "shards/*.msgpack.zst"])
def test_a_page_in_its_place_is_named(published: tuple[Path, str], file: str) -> None:
    folder, address = published
    (path,) = (folder / "linux-64").glob(file)
    path.write_bytes(b"<html>please log in</html>")
    with pytest.raises(NetworkError, match="answers with a page instead of linux-64/"):
        solve(["words"], [address])
