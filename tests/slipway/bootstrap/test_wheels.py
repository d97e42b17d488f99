"""Fetching wheels with the real pip, from a folder and from a server on this machine."""

from __future__ import annotations

import secrets
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from slipway.base import errors
from slipway.base.files import hash_file
from slipway.base.http import DownloadWatch, HttpLimits, ServerLimitError
from slipway.base.proc import Processes
from slipway.bootstrap import wheels
from slipway.bootstrap.lock import LockedWheel

from .snail import dripping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_pip_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_RETRIES", "0")


def locked(path: Path, **changes: str) -> LockedWheel:
    sha256 = changes.get("sha256", hash_file(path))
    return LockedWheel("toy", "1.0", "any", path.name, sha256, path.stat().st_size)


def fetch(wheel: LockedWheel, tmp_path: Path) -> Path:
    scratch, store = tmp_path / "scratch", tmp_path / "store"
    scratch.mkdir(exist_ok=True)
    store.mkdir(exist_ok=True)
    wheels.fetch([wheel], "3.11", Processes(), scratch, store)
    return store / wheel.sha256 / wheel.file


def serve_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def test_a_locked_wheel_arrives(
    make_wheel: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel()
    serve_folder(wheel.parent, monkeypatch)
    assert fetch(locked(wheel), tmp_path).read_bytes() == wheel.read_bytes()


def test_a_wrong_hash_is_an_integrity_error(
    make_wheel: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel()
    serve_folder(wheel.parent, monkeypatch)
    with pytest.raises(errors.IntegrityError) as caught:
        fetch(locked(wheel, sha256="0" * 64), tmp_path)
    assert "toy 1.0" in caught.value.message
    assert not list((tmp_path / "store").iterdir())


def test_keep_removes_what_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "half.whl").write_bytes(b"half")
    with pytest.raises(errors.IntegrityError, match=r"`half\.whl` has sha256"):
        wheels.store_download(tmp_path / "half.whl", "0" * 64, tmp_path / "store")
    assert not (tmp_path / "half.whl").exists()
    assert not (tmp_path / "store").exists()


def test_no_network(make_wheel: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(errors.NetworkError) as caught:
        fetch(locked(make_wheel()), tmp_path)
    assert caught.value.hint is not None
    assert "pip config list" in caught.value.hint


@contextmanager
def index(wheel: Path, *, cut: int) -> Iterator[str]:
    """A package index that promises the whole of `wheel`, but sends `cut` bytes less."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = wheel.read_bytes()
            if self.path.endswith(".whl"):
                kind, sent = "application/octet-stream", body[: len(body) - cut]
            else:
                sent = body = f'<a href="/files/{wheel.name}">{wheel.name}</a>'.encode()
                kind = "text/html"
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_download_cut_in_half_is_not_kept_and_the_next_run_goes_on(
    make_wheel: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel(files={"toy/data.txt": "x" * 100_000})
    with index(wheel, cut=60_000) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        with pytest.raises((errors.NetworkError, errors.IntegrityError)):
            fetch(locked(wheel), tmp_path)
    assert not list((tmp_path / "store").iterdir())
    with index(wheel, cut=0) as url:
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert fetch(locked(wheel), tmp_path).read_bytes() == wheel.read_bytes()


def test_resolve_names_file_hash_and_size(
    make_wheel: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel()
    serve_folder(wheel.parent, monkeypatch)
    (tmp_path / "scratch").mkdir()
    path, sha256, size = wheels.resolve("toy", "1.0", "3.12", Processes(), tmp_path / "scratch")
    assert (path.name, sha256, size) == (wheel.name, hash_file(wheel), wheel.stat().st_size)


def test_an_index_as_slow_as_a_snail_ends(
    make_wheel: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = make_wheel(files={"toy/data.txt": secrets.token_hex(50_000)})
    page = tmp_path / "simple" / "toy" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<a href="/wheels/{wheel.name}">{wheel.name}</a>')
    monkeypatch.setenv("SLIPWAY_HTTP_SPEED_SECONDS", "4")
    with dripping(tmp_path, ".whl") as address:
        monkeypatch.setenv("PIP_INDEX_URL", f"{address}/simple")
        with pytest.raises(ServerLimitError, match="too slow") as caught:
            fetch(locked(wheel), tmp_path)
    assert caught.value.where == "toy 1.0"
    assert not list((tmp_path / "store").iterdir())


def test_more_than_was_promised_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    watch = DownloadWatch(tmp_path / "many", "toy 1.0", HttpLimits(), most=1000)
    writes = "import time; open('many/big', 'wb').write(bytes(1001)); time.sleep(60)"
    started = time.monotonic()
    with pytest.raises(ServerLimitError, match="more than the"):
        Processes().run([sys.executable, "-c", writes], cwd=tmp_path, what="a download", watch=watch)
    assert time.monotonic() - started < 30
