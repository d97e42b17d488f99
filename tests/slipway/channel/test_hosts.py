"""Servers that index themselves: what they are sent, and what is not sent."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import ChannelError, NetworkError, UsageError
from slipway.base.log import NullReporter
from slipway.channel.catalogue import Catalogue, CataloguedPackage
from slipway.channel.folder import Channel
from slipway.channel.hosts import TOKENS, HostedChannel, order_by_dependencies
from slipway.channel.publishing import PublishPlan, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# In a process of its own: rattler-build's uploads let no other thread of theirs run.
SERVER = """
import http.server, json, sys
status, log = int(sys.argv[1]), sys.argv[2]
class Handler(http.server.BaseHTTPRequestHandler):
    def take(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        while self.headers.get("Transfer-Encoding") == "chunked":
            piece = self.rfile.read(int(self.rfile.readline(), 16)); self.rfile.readline()
            if not piece: break
            body += piece
        said = self.headers.get("Authorization") or self.headers.get("X-API-Key") or ""
        with open(log, "a") as file: print(json.dumps([self.command, self.path, said, len(body)]), file=file)
        answer = json.dumps({"post_url": "http://%s:%d/bucket" % self.server.server_address,
                             "form_data": {"key": "k"}, "dist_id": "1", "basename": "b"}).encode()
        self.send_response(status); self.send_header("Content-Length", str(len(answer))); self.end_headers()
        self.wfile.write(answer)
    do_GET = do_POST = do_PUT = do_PATCH = take
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


class HostServer:
    """Answers every request with one status; `requests` are method, path, authorization and size of each."""

    def __init__(self, folder: Path, status: int) -> None:
        self._log = folder / "requests"
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(status), str(self._log)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.process.stdout.close()

    @property
    def requests(self) -> list[tuple[str, str, str, int]]:
        time.sleep(0.05)
        return [tuple(json.loads(line)) for line in self._log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(params=[200])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HostServer]:
    made = HostServer(tmp_path, request.param)
    yield made
    made.process.kill()
    made.process.wait()


@pytest.mark.parametrize(
    ("kind", "method", "path", "said"),
    [
        ("prefix", "POST", "/api/v1/upload/ch", "Bearer secrettoken"),
        ("quetz", "POST", "/api/channels/ch/upload/{name}?force=false&sha256=", "secrettoken"),
        ("artifactory", "PUT", "/artifactory/ch/linux-64/{name}", "Bearer secrettoken"),
        ("anaconda", "POST", "/stage/ch/libtoy/1.0/linux-64/{name}", "token secrettoken"),
    ],
)
def test_what_is_uploaded(
    kind: str, method: str, path: str, said: str, server: HostServer, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(next(name for one, name in TOKENS.items() if one == kind), "secrettoken")
    host = HostedChannel.parse(f"{kind}+http://127.0.0.1:{server.port}/ch", "none")
    plan = host.plan(prepare([("linux-64", package)]))
    assert plan.lines() == [f"add            linux-64/{package.name}"]
    host.carry_out(plan, NullReporter())
    expected = path.format(name=package.name)
    sent = [one for one in server.requests if one[0] == method and one[1].startswith(expected)]
    assert [one[2] for one in sent] == [said], server.requests


@pytest.mark.parametrize("server", [401, 409, 500], indirect=True)
def test_what_servers_refuse(server: HostServer, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUETZ_API_KEY", "secrettoken")
    host = HostedChannel.parse(f"quetz+http://127.0.0.1:{server.port}/ch", "none")
    with pytest.raises(NetworkError, match="did not take the package") as caught:
        host.carry_out(host.plan(prepare([("linux-64", package)])), NullReporter())
    assert "secrettoken" not in f"{caught.value} {caught.value.where} {caught.value.hint}"


def test_what_the_index_tells(package: Path, tmp_path: Path) -> None:
    Channel(tmp_path / "c").publish([("linux-64", package)])
    host = HostedChannel.parse("quetz://example.org/ch", Channel(tmp_path / "c").url)
    assert host.plan(prepare([("linux-64", package)])).lines() == [f"there already  linux-64/{package.name}"]
    wanted = prepare([("linux-64", package)])
    name = f"linux-64/{package.name}"
    other = {name: CataloguedPackage({**wanted.described[name].record, "sha256": "0" * 64})}
    with pytest.raises(ChannelError, match="another package is published"):
        host.plan(type(wanted)(wanted.files, other))
    assert HostedChannel.parse("quetz://example.org/ch").index == "https://example.org/get/ch"


@pytest.mark.parametrize("address", ["quetz://host", "quetz:///ch", "prefix+ftp://host/ch", "conda://host/ch"])
def test_addresses_without_a_channel(address: str) -> None:
    with pytest.raises(UsageError, match="names no channel"):
        HostedChannel.parse(address)


def test_nobody_says_who_publishes(monkeypatch: pytest.MonkeyPatch, package: Path, tmp_path: Path) -> None:
    monkeypatch.delenv("QUETZ_API_KEY", raising=False)
    monkeypatch.setenv("RATTLER_AUTH_FILE", str(tmp_path / "none"))
    host = HostedChannel.parse("quetz://127.0.0.1:9/ch", "none")
    with pytest.raises(UsageError, match="nobody says who publishes"):
        host.carry_out(host.plan(prepare([("linux-64", package)])), NullReporter())


def test_what_is_needed_comes_first(tmp_path: Path) -> None:
    needs = {"a": ["b >=1"], "b": ["c", "bash"], "c": ["a"], "d": []}
    packages = {f"noarch/{name}-1-0.conda": CataloguedPackage({"name": name, "depends": needs[name]}) for name in needs}
    plan = PublishPlan("x", dict.fromkeys(packages, tmp_path), (), (), Catalogue(packages))
    assert [path[7] for path in order_by_dependencies(plan)] == ["c", "b", "a", "d"]
