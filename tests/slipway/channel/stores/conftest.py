"""Servers of WebDAV, S3 and containers, as processes of this test run."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WEBDAV = """
import sys
from cheroot import wsgi
from wsgidav.wsgidav_app import WsgiDAVApp
folder, port = sys.argv[1:]
users = {"user_mapping": {"*": {"ada": {"password": "s3cretword"}}}}
settings = {"provider_mapping": {"/": folder}, "simple_dc": users}
wsgi.Server(("127.0.0.1", int(port)), WsgiDAVApp({**settings, "verbose": 0, "logging": {"enable": False}})).start()
"""

S3 = "import sys; from moto.server import main; main(['-p', sys.argv[1]])"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def serving(program: str, *words: str, port: int) -> Iterator[None]:
    """Run a Python program that listens on `port`."""
    with listening([sys.executable, "-W", "ignore", "-c", program, *words], port):
        yield


@contextlib.contextmanager
def listening(command: list[str], port: int) -> Iterator[None]:
    """Run a server until the block ends."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.1)
            else:
                pytest.fail("the server does not come up")
            yield
        finally:
            server.kill()


@pytest.fixture(scope="session")
def webdav(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a WebDAV server that asks who comes, and the folder that it serves."""
    folder, port = tmp_path_factory.mktemp("webdav"), free_port()
    with serving(WEBDAV, str(folder), str(port), port=port):
        yield f"http://ada:s3cretword@127.0.0.1:{port}", folder


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of a server that speaks S3, with a bucket `shelf`."""
    port = free_port()
    with serving(S3, str(port), port=port):
        signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, Signature=b"}
        made = urllib.request.Request(f"http://127.0.0.1:{port}/shelf", headers=signed, method="PUT")
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(made).close()
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a registry of containers."""
    program = shutil.which("docker-registry")
    assert program, "Debian's package docker-registry is missing; .ci/run installs it"
    folder, port = tmp_path_factory.mktemp("registry"), free_port()
    settings = {
        "version": 0.1,
        "log": {"level": "error"},
        "storage": {"filesystem": {"rootdirectory": str(folder)}, "delete": {"enabled": True}},
        "http": {"addr": f"127.0.0.1:{port}"},
    }
    (folder / "config.yml").write_text(json.dumps(settings), encoding="utf-8")
    with listening([program, "serve", str(folder / "config.yml")], port):
        yield f"oci+http://127.0.0.1:{port}"


@pytest.fixture
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its bucket."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "verysecretkey")
    return "s3://shelf"
