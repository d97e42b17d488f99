"""A clock that is wrong: to TLS the server's certificate is then too young or too old, and whoever asks is told so."""

from __future__ import annotations

import http.server
import ssl
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from slipway.base.errors import NetworkError
from slipway.channel.environments import solve
from slipway.channel.stores.web import WebStore
from slipway.channel.taken import fetch_archive
from slipway.model import Source
from slipway.source.url import fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def write_certificate(path: Path, year: int) -> None:
    """Key and certificate of localhost, good in that year alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(year, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(year, 12, 31, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    text = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(text + made.public_bytes(pem))


@pytest.fixture(params=[2001, 2901])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of a server whose certificate is not good today."""
    write_certificate(tmp_path / "server.pem", request.param)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "server.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.setenv("no_proxy", "localhost")
        yield f"https://localhost:{server.server_port}/channel"
        server.shutdown()


@pytest.mark.parametrize(
    "ask",
    [
        lambda address, folder: solve(["words"], [address]),
        lambda address, folder: fetch_archive(f"{address}/noarch/a-1-0.conda", "0" * 64),
        lambda address, folder: WebStore(address).read("catalogue.json"),
        lambda address, folder: fetch(Source(url=f"{address}/a.tar"), folder, folder / "cache", offline=False),
    ],
    ids=["solve", "package", "publish", "source"],
)
def test_who_is_asked_about_the_clock(address: str, tmp_path: Path, ask: Callable[[str, Path], object]) -> None:
    with pytest.raises(NetworkError) as caught:
        ask(address, tmp_path)
    assert "is this machine's clock right? It says 2" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("message", "detail"),
    [
        (
            "apt cannot download libfmt9",
            "E: Release file for http://a/InRelease is not valid yet (invalid for another 4d)",
        ),
        ("the bucket did not do it: <Code>RequestTimeTooSkewed</Code>", None),
    ],
)
def test_what_others_say_of_time(message: str, detail: str | None) -> None:
    assert "clock" in str(NetworkError(message, where="there", hint="is the network up?", detail=detail).hint)


def test_other_failures_keep_their_hint() -> None:
    assert NetworkError("the server is away", hint="is the network up?").hint == "is the network up?"
