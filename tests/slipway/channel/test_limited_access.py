"""Servers that are silent, endless or as slow as a snail: each ends soon, and the error names the limit."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, NetworkError
from slipway.base.http import ServerLimitError
from slipway.base.log import NullReporter
from slipway.channel.environments import Solution, install, offered, solve
from slipway.channel.limited_access import limited_access
from slipway.model import Source
from slipway.source.url import fetch

if TYPE_CHECKING:
    from pathlib import Path

Talk = Callable[[socket.socket], None]
LIMITS = {"SILENT_SECONDS": "2", "SPEED_SECONDS": "2", "LEAST_SPEED": "100", "INDEX_BYTES": "1000000",
          "FILE_BYTES": "1000000"}  # fmt: skip
HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"


def say_nothing(connection: socket.socket) -> None:
    time.sleep(30)


def stop_after_the_header(connection: socket.socket) -> None:
    connection.sendall(HEADER + b'{"packages": {')
    time.sleep(30)


def drip_the_header(connection: socket.socket) -> None:
    for byte in HEADER:
        connection.sendall(bytes([byte]))
        time.sleep(1)


def drip_the_body(connection: socket.socket) -> None:
    connection.sendall(HEADER)
    while True:
        connection.sendall(b" ")
        time.sleep(1)


def never_end(connection: socket.socket) -> None:
    connection.sendall(HEADER)
    while True:
        connection.sendall(b" " * 65536)


def show_a_page(connection: socket.socket) -> None:
    page = b"<!DOCTYPE html><title>Log in</title>"
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(page), page))


FAULTS = {
    say_nothing: "said nothing for 2 seconds",
    stop_after_the_header: "(said nothing for 2 seconds|too slow)",
    drip_the_header: "said nothing for 2 seconds",
    drip_the_body: "too slow",
    never_end: "more than the 1000000 bytes",
}


@contextmanager
def serving(talk: Talk) -> Iterator[str]:
    """The address of a server that talks like that to everybody."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.recv(65536)
                talk(connection)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LIMITS.items():
        monkeypatch.setenv(f"SLIPWAY_HTTP_{name}", value)


@pytest.mark.parametrize("talk", FAULTS)
@pytest.mark.parametrize("ask", ["solve", "offered", "source"])
def test_bad_servers(tmp_path: Path, talk: Talk, ask: str) -> None:
    asking: dict[str, Callable[[str], object]] = {
        "solve": lambda url: solve(["a"], [url]),
        "offered": lambda url: offered(["a"], url),
        "source": lambda url: fetch(Source(url=f"{url}/a.tar.gz"), tmp_path, tmp_path / "cache", offline=False),
    }
    started = time.monotonic()
    with serving(talk) as url, pytest.raises(NetworkError, match=FAULTS[talk]) as caught:
        asking[ask](url)
    assert isinstance(caught.value, ServerLimitError)
    assert url in str(caught.value.where)
    assert "SLIPWAY_HTTP_" in str(caught.value.hint)
    assert time.monotonic() - started < 20
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 2_000_000


def test_a_page_instead_of_an_index_is_named() -> None:
    with serving(show_a_page) as url, pytest.raises((NetworkError, ChannelError), match="a page instead of"):
        solve(["a"], [url])


def test_a_package_is_no_larger_than_promised() -> None:
    with serving(never_end) as url:
        package = f"{url}/linux-64/a-1-0.conda"

        def ask() -> None:
            with limited_access([url], {package: 70000}) as access:
                address = f"{access.address_of(url)}/linux-64/a-1-0.conda"
                with urllib.request.urlopen(address, timeout=10) as answer:
                    assert len(answer.read()) <= 70000
                raise OSError("rattler sees a package that is cut off")

        with pytest.raises(ServerLimitError, match="more than the 70000 bytes that its channel promises") as caught:
            ask()
        assert caught.value.where == package


def test_an_installation_needs_no_server_for_nothing(tmp_path: Path) -> None:
    assert install(Solution((), ()), tmp_path / "env", NullReporter()) == 0
