"""Channels behind TLS that ask who comes: what is told them is told nobody else, and is written down nowhere."""

from __future__ import annotations

import base64
import http.server
import json
import shutil
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.errors import HostError, NetworkError
from slipway.base.log import NullReporter
from slipway.base.secrets import redact
from slipway.channel import limited_access
from slipway.channel.credentials import read_authorization
from slipway.channel.environments import install, offered, solve
from slipway.channel.folder import Channel
from slipway.channel.limited_access import with_credentials, without_credentials
from slipway.channel.package import read_info_files
from slipway.channel.taken import fetch_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Kit

SECRET = "s3cret-0123456789"
BASIC = "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()
WAYS = {
    # how the address says it, what the file of credentials has, what the server sees: prefix of its path, header
    "token": ("https://{host}/t/" + SECRET + "/channel", {}, f"/t/{SECRET}", None),
    "user": ("https://me:" + SECRET + "@{host}/channel", {}, "", BASIC),
    "bearer": ("https://{host}/channel", {"localhost": {"BearerToken": SECRET}}, "", f"Bearer {SECRET}"),
    "basic": (
        "https://{host}/channel", {"*.localhost": {"BasicHTTP": {"username": "me", "password": SECRET}}}, "", BASIC
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority of our own, and what it certifies."""
    folder = tmp_path_factory.mktemp("certificates")
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    (folder / "names").write_text("subjectAltName=DNS:localhost")
    for words in (
        ["req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ours"],
        ["req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost"],
        ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
         "server.pem", "-extfile", "names"],
    ):  # fmt: skip
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    return folder


class PrivateServer:
    """Serves `folder` as ``/channel`` to those who know the secret."""

    def __init__(self, folder: Path, certificates: Path, way: str) -> None:
        address, self.known, prefix, header = WAYS[way]

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *details: Any) -> None:
                super().__init__(*details, directory=str(folder))

            def do_GET(self) -> None:
                if self.path.startswith(f"{prefix}/channel/") and self.headers["Authorization"] == header:
                    self.path = self.path.removeprefix(f"{prefix}/channel")
                    super().do_GET()
                else:
                    self.send_error(401)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.address = address.format(host=f"localhost:{self.server.server_port}")
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture(params=WAYS)
def private(
    request: pytest.FixtureRequest, kit: Kit, tmp_path: Path, certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The address of a channel with the package `words`."""
    package = kit.package({"share/words": "words"}, name="words")
    Channel(tmp_path / "channel").publish([("linux-64", package)])
    server = PrivateServer(tmp_path / "channel", certificates, request.param)
    known = tmp_path.parent / f"{tmp_path.name}-credentials.json"
    known.write_text(json.dumps(server.known))
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(known))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "localhost")
    yield server.address
    server.server.shutdown()
    server.server.server_close()


def test_all_that_is_fetched_is_fetched_with_them_and_nothing_holds_them(private: str, tmp_path: Path) -> None:
    solution = solve(["words"], [private])
    assert install(solution, tmp_path / "env", NullReporter()) == 1
    (found,) = offered(["words"], private)
    assert fetch_archive(found.url, found.sha256).is_file()
    assert read_info_files(found.url, ["index.json"]).keys() == {"index.json"}
    assert (tmp_path / "env/share/words").read_text() == "words"
    told = [path for path in tmp_path.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert told == []
    assert SECRET not in "".join(package.url for package in solution.packages)


def test_who_may_not_come_in_is_told_how(private: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RATTLER_AUTH_FILE")
    stranger = without_credentials(private)
    monkeypatch.setattr(limited_access, "_given", {})
    with pytest.raises(NetworkError, match="401") as caught:
        solve(["words"], [stranger])
    assert "RATTLER_AUTH_FILE" in str(caught.value.hint)
    assert "127.0.0.1" not in caught.value.message
    assert SECRET not in caught.value.message


@pytest.mark.parametrize("content", ["", "[]", "{", '{"localhost": 1}'])
def test_a_damaged_file_of_credentials_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    known = tmp_path / "credentials.json"
    known.write_text(content)
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(known))
    with pytest.raises(HostError, match="file of credentials cannot be read") as caught:
        solve(["words"], ["http://localhost:1/channel"])  # folders ask for no credentials
    assert caught.value.where == str(known)


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"host.org": 1}', '{"host.org": {"BasicHTTP": {"username": "me"}}}', '{"*.org": "x"}']
)
def test_a_damaged_file_of_credentials_is_no_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    """Else a publisher would come as nobody, and read that the server knows no such user."""
    known = tmp_path / "credentials.json"
    known.write_text(content)
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(known))
    with pytest.raises(HostError, match="file of credentials cannot be read: ") as caught:
        read_authorization("https://host.org/channel")
    assert caught.value.where == str(known)


def test_no_file_of_credentials_knows_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(tmp_path / "none"))
    assert read_authorization("https://host.org/channel") == {}


def test_nobody_is_believed_without_a_certificate(private: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/dev/null")
    with pytest.raises(NetworkError, match="certificate verify failed") as caught:
        solve(["words"], [private])
    assert "SSL_CERT_FILE" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("https://a/b", "https://a/b"),
        ("https://u:p4ssw0rd@a:1/b/", "https://a:1/b"),
        ("https://a/t/to-ken-0123/b", "https://a/b"),
        ("https://a/b/t/c", "https://a/b/t/c"),
        ("file:///t/x/b", "file:///t/x/b"),
        ("conda-forge", "conda-forge"),
    ],
)
def test_addresses_without_credentials(given: str, plain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited_access, "_given", {})
    assert without_credentials(given) == plain
    assert with_credentials(f"{plain}/noarch/x.conda") == f"{given.rstrip('/')}/noarch/x.conda"
    if "p4ssw0rd" in given:
        assert "p4ssw0rd" not in redact("the server said: p4ssw0rd is wrong")
