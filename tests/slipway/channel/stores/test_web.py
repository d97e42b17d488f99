"""What servers of the web may do wrong, and what is said of it."""

from __future__ import annotations

import http.server
import threading
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, NetworkError
from slipway.channel.stores import asking, open_store
from slipway.channel.stores.web import WebStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class PlainServer:
    """Takes files by PUT and keeps them in memory. `faults`: what goes wrong with the next requests of a method."""

    def __init__(self, *, heeds_conditions: bool = True) -> None:
        self.files: dict[str, bytes] = {}
        self.faults: list[tuple[str, str]] = []
        outer = self

        class PlainHandler(http.server.BaseHTTPRequestHandler):
            def answer(self, status: int, content: bytes = b"", promised: int | None = None) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content) if promised is None else promised))
                if self.path in outer.files:
                    self.send_header("ETag", f'"{hash(outer.files[self.path])}"')
                self.end_headers()
                self.wfile.write(content)

            def do_OPTIONS(self) -> None:
                self.answer(200)

            def do_DELETE(self) -> None:
                self.answer(204 if outer.files.pop(self.path, None) is not None else 404)

            def do_GET(self) -> None:
                content = outer.files.get(self.path)
                match outer.fault_of("GET"):
                    case "500":
                        self.answer(500)
                    case "truncated":
                        self.answer(200, (content or b"")[:1], promised=len(content or b""))
                    case "lies":
                        self.answer(200, b"x" + (content or b"")[1:])
                    case _:
                        self.answer(404) if content is None else self.answer(200, content)

            def do_PUT(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                there = outer.files.get(self.path)
                fault = outer.fault_of("PUT")
                if fault.isdigit():
                    self.answer(int(fault))
                    return
                if heeds_conditions and (
                    (self.headers.get("If-None-Match") == "*" and there is not None)
                    or self.headers.get("If-Match", f'"{hash(there)}"') != f'"{hash(there)}"'
                ):
                    self.answer(412)
                    return
                outer.files[self.path] = content[:-1] if fault == "truncated" else content
                if fault == "gone":
                    self.connection.shutdown(2)
                    return
                self.answer(201)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), PlainHandler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/ch"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def fault_of(self, method: str) -> str:
        """What goes wrong this time."""
        if self.faults and self.faults[0][0] == method:
            return self.faults.pop(0)[1]
        return ""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking.time, "sleep", lambda seconds: None)


@pytest.fixture
def plain() -> Iterator[PlainServer]:
    server = PlainServer()
    yield server
    server.server.shutdown()
    server.server.server_close()


def test_plain_server_with_conditions(plain: PlainServer, tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"package")
    with open_store(plain.url) as store:
        assert store.exchange("linux-64/p-1-0.conda", tmp_path / "p", None)
        assert not store.exchange("linux-64/p-1-0.conda", tmp_path / "p", None)
        assert store.exchange("c.json", b"1", None)
        before = store.read("c.json")
        assert store.exchange("c.json", b"2", before)
        assert not store.exchange("c.json", b"3", before)
    assert sorted(plain.files) == ["/ch/c.json", "/ch/linux-64/p-1-0.conda"], "no probe stays"


def test_server_that_heeds_no_conditions(tmp_path: Path) -> None:
    server = PlainServer(heeds_conditions=False)
    with (
        open_store(server.url) as store,
        pytest.raises(ChannelError, match="cannot tell two publishers apart") as caught,
    ):
        store.exchange("c.json", b"1", None)
    assert "--alone" in (caught.value.hint or "")
    assert "/ch/c.json" not in server.files
    with open_store(server.url, alone=True) as store:
        assert store.exchange("c.json", b"1", None)
        assert store.exchange("c.json", b"2", store.read("c.json"))
        assert not store.exchange("c.json", b"3", None), "that it looks itself"
    server.server.shutdown()
    server.server.server_close()


def test_faults_that_pass(plain: PlainServer) -> None:
    plain.faults = [("PUT", "500"), ("PUT", "503"), ("GET", "truncated"), ("GET", "500")]
    store = WebStore(plain.url)
    store.write("a", b"123")
    assert plain.files == {"/ch/a": b"123"}
    plain.faults = [("PUT", "truncated"), ("GET", "lies")]
    store.write("c", b"123")
    assert plain.files["/ch/c"] == b"123"
    plain.faults = [("PUT", "gone"), ("GET", "500")]
    store.write("b", b"123")


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        ([("PUT", "500")] * 3, "PUT is answered with 500"),
        ([("PUT", "401")], "PUT is answered with 401"),
        ([("PUT", "507")] * 3, "PUT is answered with 507"),
        ([("PUT", "truncated")] * 3, "what comes back has other bytes"),
        ([("GET", "lies")] * 3, "what comes back has other bytes"),
        ([("GET", "truncated")] * 3, "it promised 3 bytes and sent 1"),
    ],
)
def test_faults_that_stay(plain: PlainServer, faults: list[tuple[str, str]], message: str) -> None:
    plain.faults = list(faults)
    with pytest.raises(NetworkError, match=message):
        WebStore(plain.url).write("a", b"123")


def test_page_instead_of_a_file(plain: PlainServer) -> None:
    """A portal that wants a login gives its page for everything: that is no damaged catalogue."""
    page = b"<!doctype html><title>Log in</title>"
    plain.files |= {"/ch/catalogue.json": page, "/ch/simple/index.html": page}
    with pytest.raises(NetworkError, match="a page instead of the file") as caught:
        WebStore(plain.url).read("catalogue.json")
    assert "login" in (caught.value.hint or "")
    assert WebStore(plain.url).read("simple/index.html") is not None
