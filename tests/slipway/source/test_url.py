"""Sources by their address: mirrors, hashes, archives, names, and a server of the test's own that misbehaves."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import IntegrityError, NetworkError, RecipeError
from slipway.base.user_folders import cache_folder
from slipway.model import Source
from slipway.source import pinned, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = b"hello\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()


class Server:
    """Answers what the test says; counts who asks."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.failures = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                if self.path == "/missing":
                    self.send_error(404)
                elif self.path == "/flaky" and outer.failures:
                    outer.failures -= 1
                    self.send_error(503)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(TEXT)))
                    self.end_headers()
                    cut = self.path == "/cut" and outer.failures
                    outer.failures -= bool(cut)
                    self.wfile.write(TEXT[:2] if cut else TEXT)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    started = Server()
    yield started
    started.server.shutdown()
    started.server.server_close()


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def files(source: Source, recipe: Path, folder: Path, *, offline: bool = False) -> dict[str, str]:
    """What a build would get."""
    put(pinned(source, recipe, offline=offline), folder, where="meta.yaml")
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def archive(path: Path, names: tuple[str, ...]) -> Path:
    """An archive of the kind that the name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as zipped:
            for name in names:
                info = zipfile.ZipInfo(name)
                info.external_attr = 0o755 << 16
                zipped.writestr(info, TEXT)
        return path
    with tarfile.open(path, f"w:{path.suffix[1:]}" if path.suffix != ".tar" else "w") as tarred:  # type: ignore[call-overload]
        for name in names:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(TEXT), 0o755
            tarred.addfile(info, io.BytesIO(TEXT))
    return path


def by_hash(path: Path, **others: object) -> Source:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return Source(url=path.as_uri(), sha256=sha256, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tar.bz2", "a.tar.xz", "a.zip"])
def test_archives_lose_their_only_folder(tmp_path: Path, name: str) -> None:
    source = by_hash(archive(tmp_path / name, ("a-1.0/run", "a-1.0/b/c.txt")))
    assert set(files(source, tmp_path, tmp_path / "out")) == {"run", "b/c.txt"}
    assert (tmp_path / "out/run").stat().st_mode & 0o111


def test_archives_of_more_than_a_folder_and_no_hoist(tmp_path: Path) -> None:
    flat = by_hash(archive(tmp_path / "flat.tar.gz", ("a/b", "c")))
    assert set(files(flat, tmp_path, tmp_path / "flat")) == {"a/b", "c"}
    kept = by_hash(archive(tmp_path / "kept.tar.gz", ("a/b",)), no_hoist=True)
    assert set(files(kept, tmp_path, tmp_path / "kept")) == {"a/b"}
    packed = by_hash(tmp_path / "kept.tar.gz", expand=False)
    put(pinned(packed, tmp_path, offline=False), tmp_path / "packed", where="meta.yaml")
    assert [path.name for path in (tmp_path / "packed").iterdir()] == ["kept.tar.gz"]


def test_other_files_keep_their_name_or_get_one(tmp_path: Path, server: Server) -> None:
    plain = Source(url=f"{server.url}/a%20b.txt?x=1", sha256=SHA256)
    assert files(plain, tmp_path, tmp_path / "plain") == {"a b.txt": "hello\n"}
    named = Source(url=f"{server.url}/download?id=3", sha256=SHA256, fn="c.txt")
    assert files(named, tmp_path, tmp_path / "named") == {"c.txt": "hello\n"}


def test_paths_without_a_scheme_start_from_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "beside.txt").write_bytes(TEXT)
    source = Source(url="../beside.txt", sha256=SHA256)
    assert files(source, tmp_path / "recipe", tmp_path / "out") == {"beside.txt": "hello\n"}


def test_once_fetched_it_is_asked_for_no_more(tmp_path: Path, server: Server) -> None:
    source = Source(url=f"{server.url}/a.txt", sha256=SHA256)
    with pytest.raises(NetworkError, match="--offline"):
        pinned(source, tmp_path, offline=True)
    files(source, tmp_path, tmp_path / "first")
    assert files(source, tmp_path, tmp_path / "second", offline=True) == {"a.txt": "hello\n"}
    assert server.asked == ["/a.txt"]
    (cache_folder() / "sources" / SHA256).write_bytes(b"damage")
    assert files(source, tmp_path, tmp_path / "third") == {"a.txt": "hello\n"}
    assert server.asked == ["/a.txt"] * 2


def test_mirrors_are_asked_in_turn(tmp_path: Path, server: Server) -> None:
    source = Source(url="http://127.0.0.1:9/a", mirrors=(f"{server.url}/missing", f"{server.url}/a"), sha256=SHA256)
    assert files(source, tmp_path, tmp_path / "out") == {"a": "hello\n"}
    assert server.asked == ["/missing", "/a"]


@pytest.mark.parametrize("path", ["/flaky", "/cut"])
def test_passing_failures_are_tried_again(tmp_path: Path, server: Server, path: str) -> None:
    server.failures = 2
    source = Source(url=server.url + path, sha256=SHA256)
    assert files(source, tmp_path, tmp_path / "out") == {path[1:]: "hello\n"}
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("path", "message", "asked"),
    [("/missing", "HTTP 404", 1), ("/flaky", "HTTP 503", 3), ("/cut", "after 2 of 6 bytes", 3)],
)
def test_lasting_failures(tmp_path: Path, server: Server, path: str, message: str, asked: int) -> None:
    server.failures = 99
    with pytest.raises(NetworkError, match=message):
        pinned(Source(url=server.url + path, sha256=SHA256), tmp_path, offline=False)
    assert len(server.asked) == asked
    assert list((cache_folder() / "sources").iterdir()) == [], "nothing half is left"


@pytest.mark.parametrize("kind", ["sha256", "sha1", "md5"])
def test_another_file_than_promised(tmp_path: Path, server: Server, kind: str) -> None:
    wrong = Source(url=f"{server.url}/a", **{kind: "0" * 32})  # type: ignore[arg-type]
    with pytest.raises(IntegrityError, match=rf"not the one that the recipe promises: {kind} \w+ instead of 000"):
        pinned(wrong, tmp_path, offline=False)
    right = Source(url=f"{server.url}/a", **{kind: hashlib.new(kind, TEXT).hexdigest().upper()})  # type: ignore[arg-type]
    assert pinned(right, tmp_path, offline=False).sha256 in (SHA256, SHA256.upper())


def test_without_a_hash_it_is_what_is_there_now(tmp_path: Path, server: Server) -> None:
    assert pinned(Source(url=f"{server.url}/a"), tmp_path, offline=False).sha256 == SHA256


def test_file_of_this_machine_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot be read"):
        pinned(Source(url=(tmp_path / "nothing.tar.gz").as_uri(), sha256=SHA256), tmp_path, offline=False)


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar.xz", "a.tar.bz2", "a.zip"])
def test_damaged_archive(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / name, ("a/b", "a/c"))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(IntegrityError, match="cannot be unpacked"):
        files(by_hash(path), tmp_path, tmp_path / "out")


def test_archives_that_lead_out(tmp_path: Path) -> None:
    path = archive(tmp_path / "out.tar.gz", ("../escaped",))
    with pytest.raises(IntegrityError, match="cannot be unpacked"):
        files(by_hash(path), tmp_path, tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as zipped:
        info = zipfile.ZipInfo("a/link")
        info.external_attr = 0o120777 << 16
        zipped.writestr(info, "../../escaped")
    with pytest.raises(IntegrityError, match="leads out"):
        files(by_hash(tmp_path / "link.zip"), tmp_path, tmp_path / "zip")
    assert not (tmp_path / "escaped").exists()


def test_kinds_that_cannot_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.7z").write_bytes(b"7z")
    with pytest.raises(RecipeError, match="cannot be unpacked"):
        files(by_hash(tmp_path / "a.7z"), tmp_path, tmp_path / "out")
