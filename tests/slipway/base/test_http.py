"""Who asks is told to the server that was named, wherever that one sends to."""

from __future__ import annotations

import http.server
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from slipway.base.http import HttpLimits, is_page, open_url

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def server(location: str, heard: list[str]) -> Iterator[str]:
    """The address of a server that sends to `location`, or answers where that is empty."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Authorization", ""))
            sends = location and not self.path.endswith("/there")
            self.send_response(302 if sends else 200)
            if sends:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        yield f"127.0.0.1:{listening.server_port}"
        listening.shutdown()


def ask(url: str, headers: dict[str, str]) -> None:
    with open_url(url, HttpLimits(silent_seconds=60), headers) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("by_address", [True, False])
def test_another_server_does_not_hear_who_asks(by_address: bool) -> None:
    named: list[str] = []
    other: list[str] = []
    with server("", other) as second, server(f"http://{second}/x", named) as first:
        if by_address:
            ask(f"http://ada:s3cretword@{first}/a", {})
        else:
            ask(f"http://{first}/a", {"Authorization": "Bearer s3cretword"})
    assert len(named) == len(other) == 1
    assert named[0].startswith(("Basic ", "Bearer "))
    assert other == [""]


def test_the_same_server_does() -> None:
    heard: list[str] = []
    with server("/there", heard) as first:
        ask(f"http://ada:s3cretword@{first}/a", {})
    assert heard[0] == heard[1] != ""


def test_pages() -> None:
    assert is_page(b"\n <!DOCTYPE html><html>")
    assert is_page(b"<HTML lang=en>")
    assert not is_page(b'{"packages": {}}')
    assert not is_page(b"")
