"""Where a registry keeps the files of a channel, and how it learns who asks."""

from __future__ import annotations

import hashlib
import http.server
import json
import threading
from email.message import Message
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from slipway.base.errors import NetworkError, UsageError
from slipway.channel.stores.asking import Server, ServerAnswer
from slipway.channel.stores.oci import RegistryStore, locate

if TYPE_CHECKING:
    from pathlib import Path


def test_where_files_lie() -> None:
    conda = "application/vnd.conda.package.v2"
    assert locate("ch", "linux-64/libtorch-cuda-2.13.0-cuda130_h01_0.conda") == (
        "ch/linux-64/libtorch-cuda",
        "2.13.0-cuda130_h01_0",
        conda,
    )
    assert locate("a/b", "noarch/_x-1!2+git=3-0.conda") == ("a/b/noarch/zzz_x", "1__e__2__p__git__eq__3-0", conda)
    assert locate("ch", "noarch/repodata.json.zst")[:2] == ("ch/noarch/repodata.json", "latest")
    assert locate("ch", "catalogue.json")[:2] == ("ch/files", "catalogue.json")
    assert locate("ch", "noarch/x-1-0.conda.cdx.json")[:2] == ("ch/files", "noarch__s__x-1-0.conda.cdx.json")
    assert len(locate("ch", f"noarch/{'x' * 130}.json")[1]) == 64


@pytest.mark.parametrize("address", ["oci://host", "oci:///ch", "oci:ch"])
def test_addresses_without_a_channel(address: str) -> None:
    with pytest.raises(UsageError, match="names no channel"):
        RegistryStore(address)


def test_token_of_somebody_else() -> None:
    """The registry sends to a place that gives a token for user and password."""
    asked: list[tuple[str, str]] = []

    class TokenHandler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = self.headers.get("Authorization", "")
            asked.append((self.path.partition("?")[0], said.partition(" ")[0]))
            status, content = 404, b""
            if self.path.startswith("/token"):
                status, content = (200, b'{"token": "a-token-of-theirs"}') if said.startswith("Basic") else (401, b"")
            elif said != "Bearer a-token-of-theirs":
                status = 401
            self.send_response(status)
            if status == 401:
                realm = f"http://127.0.0.1:{self.server.server_port}/token"  # type: ignore[attr-defined]
                self.send_header("WWW-Authenticate", f'Bearer realm="{realm}",service="r"')
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), TokenHandler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    store = RegistryStore(f"oci+http://ada:s3cretword@127.0.0.1:{server.server_port}/ch")
    assert "s3cretword" not in store.address
    assert store.read("catalogue.json") is None
    place = "/v2/ch/files/manifests/catalogue.json"
    assert asked == [(place, ""), ("/token", "Basic"), (place, "Bearer")]
    with pytest.raises(NetworkError, match="401"):
        RegistryStore(f"oci+http://127.0.0.1:{server.server_port}/ch").read("catalogue.json")
    server.shutdown()
    server.server_close()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What servers are told of who asks, by their address; registries name the place for tokens in `realm`."""
    said: list[tuple[str, str]] = []

    def ask(server: Server, _method: str, url: str, **_: object) -> ServerAnswer:
        said.append((url.partition("?")[0], server.headers.get("Authorization", "").partition(" ")[0]))
        return ServerAnswer(200, Message(), 1, "", b'{"token": "a-token-of-theirs"}')

    monkeypatch.setattr(Server, "ask", ask)
    return said


def challenge(store: RegistryStore, realm: str) -> dict[str, str]:
    """What the store says after a registry has named a place for tokens."""
    return store._authorize(f'Bearer realm="{realm}",service="r"', "ch/x")


@pytest.mark.parametrize(
    ("registry", "realm"),
    [
        ("oci://ada:s3cretword@registry-1.docker.io/ch", "https://auth.docker.io/token"),
        ("oci://ada:s3cretword@registry.example.co.uk/ch", "https://gitlab.example.co.uk/jwt/auth"),
        ("oci://ada:s3cretword@ghcr.io/ch", "https://ghcr.io/token"),
        ("oci://ada:s3cretword@host:5000/ch", "https://host:5001/token"),
        ("oci+http://ada:s3cretword@10.0.0.1:5000/ch", "http://10.0.0.1:5000/token"),
    ],
)
def test_password_goes_to_the_registry_and_its_domain(registry: str, realm: str, told: list[tuple[str, str]]) -> None:
    assert challenge(RegistryStore(registry), realm) == {"Authorization": "Bearer a-token-of-theirs"}
    assert told == [(realm, "Basic")]


@pytest.mark.parametrize(
    ("registry", "realm"),
    [
        ("oci://ada:s3cretword@ghcr.io/ch", "https://evil.io/token"),
        ("oci://ada:s3cretword@one.co.uk/ch", "https://other.co.uk/token"),
        ("oci://ada:s3cretword@registry-1.docker.io/ch", "https://auth.docker.io.evil.org/token"),
        ("oci://ada:s3cretword@registry-1.docker.io/ch", "https://auth.docker.io@evil.org/token"),
        ("oci+http://ada:s3cretword@10.0.0.1/ch", "https://10.1.0.1/token"),
        ("oci+http://ada:s3cretword@registry.example.org/ch", "http://auth.example.org/token"),
        ("oci+http://ada:s3cretword@host:5000/ch", "http://host:5001/token"),
    ],
)
def test_password_goes_nowhere_else(
    registry: str, realm: str, told: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes there once the file of credentials says who one is there."""
    known = tmp_path / "credentials.json"
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(known))
    store = RegistryStore(registry)
    with pytest.raises(NetworkError, match="wants your password to be told to another server") as caught:
        challenge(store, realm)
    assert told == []
    assert "RATTLER_AUTH_FILE" in str(caught.value.hint)
    assert "s3cretword" not in f"{caught.value.message}{caught.value.hint}{caught.value.where}"
    known.write_text(json.dumps({urlsplit(realm).hostname: {"BearerToken": "another-token"}}))
    challenge(store, realm)
    assert told == [(realm, "Bearer")]


@pytest.mark.parametrize("realm", ["", "token", "ftp://ghcr.io/token", "http://ghcr.io/token", "https:///token"])
def test_place_for_tokens_that_is_none(realm: str, told: list[tuple[str, str]]) -> None:
    with pytest.raises(NetworkError, match="names no place that gives tokens"):
        challenge(RegistryStore("oci://ada:s3cretword@ghcr.io/ch"), realm)
    assert told == []


def test_strangers_ask_anywhere(told: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(tmp_path / "none"))
    challenge(RegistryStore("oci://ghcr.io/ch"), "https://elsewhere.org/token")
    assert told == [("https://elsewhere.org/token", "")]


@pytest.mark.parametrize(
    ("location", "says"), [("/up", "Bearer"), ("https://store.org/up", ""), ("http://ghcr.io/up", "")]
)
def test_token_goes_with_an_upload_to_the_registry_alone(
    location: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def ask(server: Server, method: str, url: str, **_: object) -> ServerAnswer:
        headers = Message()
        headers["Location"] = location
        if method == "PUT":
            said.append(server.headers.get("Authorization", "").partition(" ")[0])
        return ServerAnswer({"HEAD": 404, "POST": 202, "PUT": 201}[method], headers, 0, "", b"")

    monkeypatch.setattr(Server, "ask", ask)
    store = RegistryStore("oci://ghcr.io/ch")
    store._server.headers["Authorization"] = "Bearer a-token-of-theirs"
    store._upload("ch/x", b"content", "application/octet-stream", "x")
    assert said == [says]


def test_a_registry_that_lies_about_a_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its manifest names the package that was published, and its blob is another one."""
    told = {"layers": [{"mediaType": "application/vnd.conda.package.v2", "digest": f"sha256:{'a' * 64}"}]}
    store = RegistryStore("oci+http://127.0.0.1:9/ch")
    answers = {"manifests": json.dumps(told).encode(), "blobs": b"something else"}

    def ask(_self: object, _method: str, url: str, *_: object, **__: object) -> ServerAnswer:
        content = answers[url.split("/")[-2]]
        return ServerAnswer(200, Message(), len(content), hashlib.sha256(content).hexdigest(), content)

    monkeypatch.setattr(Server, "ask", ask)
    assert store.hash_file("linux-64/x-1-0.conda") == hashlib.sha256(b"something else").hexdigest()
    with pytest.raises(NetworkError, match="other bytes than it promised"):
        store.read("linux-64/x-1-0.conda")
    answers["manifests"] = b"<!doctype html>"
    with pytest.raises(NetworkError, match="something else than a manifest"):
        store.read("linux-64/x-1-0.conda")
