"""torch.hub: repositories and files, from a server that answers as GitHub does."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import ContentTooShortError, HTTPError, URLError

import pytest

import torch
from torch import hub

if TYPE_CHECKING:
    from collections.abc import Iterator

HUBCONF = '''
dependencies = ["torch"]
from helper import factor

def scale(x, by=factor):
    """x times a factor."""
    return by * x

_hidden = scale
'''


def pack(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@dataclass
class Server:
    """What it has, by path (a number: that status), and what it was asked for; what it promises beyond the content."""

    url: str = ""
    pages: dict[str, bytes | int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    promised: int = 0

    def offer(self, name: str = "somebody/models", ref: str = "main", factor: int = 2) -> None:
        """A repository with one branch."""
        top = name.replace("/", "-") + "-0123abc/"
        files = {top: "", f"{top}hubconf.py": HUBCONF, f"{top}helper.py": f"factor = {factor}\n"}
        branches = json.dumps([{"name": ref, "commit": {"sha": "0123abcdef"}}]).encode()
        self.pages |= {
            f"/{name}/tree/main/": b"" if ref == "main" else 404,
            f"/repos/{name}/branches?per_page=100&page=1": branches,
            f"/repos/{name}/branches?per_page=100&page=2": b"[]",
            f"/repos/{name}/tags?per_page=100&page=1": b"[]",
            f"/{name}/zipball/{ref}": pack(files),
        }


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    known = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append(self.path)
            page = known.pages.get(self.path, 404)
            body = page if isinstance(page, bytes) else b""
            self.send_response(200 if isinstance(page, bytes) else page)
            self.send_header("Content-Length", str(len(body) + known.promised))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, args=[0.01], daemon=True).start()
    known.url = f"http://127.0.0.1:{listening.server_port}"
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(hub, "_GITHUB", known.url)
    monkeypatch.setattr(hub, "_GITHUB_API", known.url)
    monkeypatch.setattr(hub, "_directory", str(tmp_path / "hub"))
    yield known
    listening.shutdown()
    listening.server_close()


def answer(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setattr("builtins.input", lambda question: word)


def forget_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(__import__("sys").modules, "helper", raising=False)


def test_local_folder(tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text('def twice(x):\n    """Twice x."""\n    return 2 * x\n')
    assert torch.hub.load(str(tmp_path), "twice", 4, source="local") == 8
    with pytest.raises(RuntimeError, match="Cannot find callable thrice in hubconf"):
        torch.hub.load(str(tmp_path), "thrice", source="local")
    with pytest.raises(FileNotFoundError, match=r"hubconf\.py is not there"):
        torch.hub.load(str(tmp_path / "other"), "twice", source="local")
    with pytest.raises(ValueError, match="Unknown source"):
        torch.hub.load(str(tmp_path), "twice", source="gitlab")


@pytest.mark.parametrize("ref", ["main", "master"])
def test_repository_is_downloaded_once(server: Server, monkeypatch: pytest.MonkeyPatch, ref: str) -> None:
    server.offer(ref=ref)
    forget_helper(monkeypatch)
    assert torch.hub.load("somebody/models", "scale", 4, trust_repo=True, by=3) == 12
    assert torch.hub.list("somebody/models") == ["scale"]
    assert torch.hub.help("somebody/models", "scale") == "x times a factor."
    assert [path for path in server.asked if "zipball" in path] == [f"/somebody/models/zipball/{ref}"]
    kept = sorted(path.name for path in Path(torch.hub.get_dir()).iterdir())
    assert kept == [f"somebody_models_{ref}", "trusted_list"]
    server.offer(ref=ref, factor=5)
    forget_helper(monkeypatch)
    assert torch.hub.load("somebody/models", "scale", 4, force_reload=True) == 20
    server.pages.clear()
    forget_helper(monkeypatch)
    assert torch.hub.load(f"somebody/models:{ref}", "scale", 4) == 20


def test_repository_nobody_trusts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.offer()
    forget_helper(monkeypatch)
    for word, message in (("", "Untrusted repository"), ("n", "Untrusted repository"), ("hm", "Unrecognized")):
        answer(monkeypatch, word)
        with pytest.raises(Exception, match=message):
            torch.hub.load("somebody/models", "scale", 4)
    assert not any("zipball" in path for path in server.asked), "nothing of it is here"
    answer(monkeypatch, "y")
    assert torch.hub.load("somebody/models", "scale", 4) == 8
    answer(monkeypatch, "n")
    assert torch.hub.load("somebody/models", "scale", 4) == 8
    with pytest.raises(Exception, match="Untrusted repository"):
        torch.hub.load("somebody/models", "scale", 4, trust_repo=False)


def test_bad_repositories_leave_nothing(server: Server) -> None:
    server.offer()
    for address in ("models", "a/b/c", "", "somebody/models:"):
        with pytest.raises(ValueError, match='a repository is "owner/name"'):
            torch.hub.load(address, "scale", trust_repo=True)
    with pytest.raises(ValueError, match="Cannot find v9 in"):
        torch.hub.load("somebody/models:v9", "scale", trust_repo=True)
    for files, message in (
        ({"../evil.py": ""}, "directory traversal"),
        ({"/evil.py": ""}, "absolute path"),
        ({"c:\\evil.py": ""}, "absolute path"),
        ({"hubconf.py": ""}, "no one folder"),
        ({"a/hubconf.py": "", "b/hubconf.py": ""}, "no one folder"),
    ):
        server.pages["/somebody/models/zipball/main"] = pack(files)
        with pytest.raises((ValueError, RuntimeError), match=message):
            torch.hub.load("somebody/models", "scale", trust_repo=True)
    server.pages["/somebody/models/zipball/main"] = b"no archive"
    with pytest.raises(zipfile.BadZipFile):
        torch.hub.load("somebody/models", "scale", trust_repo=True)
    server.pages["/somebody/models/zipball/main"] = 500
    with pytest.raises(HTTPError):
        torch.hub.load("somebody/models", "scale", trust_repo=True)
    assert [path.name for path in Path(torch.hub.get_dir()).iterdir()] == ["trusted_list"]


def test_missing_dependency_is_named(tmp_path: Path) -> None:
    (tmp_path / "hubconf.py").write_text("dependencies = ['torch', 'nobody_has_this']\ndef f(): pass\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: nobody_has_this"):
        torch.hub.load(str(tmp_path), "f", source="local")


def test_ref_that_is_a_tag_and_a_branch(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.offer(ref="v1")
    server.pages["/somebody/models/zipball/refs/heads/v1"] = server.pages["/somebody/models/zipball/v1"]
    server.pages["/somebody/models/zipball/v1"] = 300
    forget_helper(monkeypatch)
    with pytest.warns(UserWarning, match="the branch is taken"):
        assert torch.hub.load("somebody/models:v1", "scale", 4, trust_repo=True) == 8


def test_without_a_network_the_last_download_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.offer()
    forget_helper(monkeypatch)
    assert torch.hub.load("somebody/models", "scale", 4, trust_repo=True) == 8
    monkeypatch.setattr(hub, "_GITHUB", "http://127.0.0.1:9")
    assert torch.hub.load("somebody/models", "scale", 4) == 8
    with pytest.raises(RuntimeError, match="no internet connection"):
        torch.hub.load("somebody/other", "scale", 4, trust_repo=True)


def test_weights_of_an_address(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    buffer = io.BytesIO()
    torch.save({"weight": torch.arange(3.0)}, buffer)
    digest = hashlib.sha256(buffer.getvalue()).hexdigest()
    for name in (f"net-{digest[:8]}.pth", "net-00000000.pth", "plain.pth"):
        server.pages[f"/{name}"] = buffer.getvalue()
    good = f"{server.url}/net-{digest[:8]}.pth?download=1"
    for _ in range(2):
        server.pages[f"/net-{digest[:8]}.pth?download=1"] = buffer.getvalue()
        loaded = torch.hub.load_state_dict_from_url(good, check_hash=True)
        assert loaded["weight"].tolist() == [0, 1, 2]
    assert len(server.asked) == 1
    assert "100" in capsys.readouterr().err
    with pytest.raises(RuntimeError, match=f'expected "00000000", got "{digest}"'):
        torch.hub.load_state_dict_from_url(f"{server.url}/net-00000000.pth", check_hash=True)
    with pytest.raises(HTTPError):
        torch.hub.load_state_dict_from_url(f"{server.url}/missing.pth")
    folder = Path(torch.hub.get_dir()) / "checkpoints"
    assert [path.name for path in folder.iterdir()] == [f"net-{digest[:8]}.pth"], "nothing is left of what failed"
    own = folder.parent / "own"
    capsys.readouterr()
    torch.utils.model_zoo.load_url(f"{server.url}/plain.pth", model_dir=str(own), file_name="mine.pth", progress=False)
    assert [path.name for path in own.iterdir()] == ["mine.pth"]
    assert capsys.readouterr().err.count("%") == 0


def test_weights_that_somebody_compressed(server: Server) -> None:
    buffer = io.BytesIO()
    torch.save({"weight": torch.ones(2)}, buffer, _use_new_zipfile_serialization=False)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner.pth", buffer.getvalue())
    server.pages["/old.zip"] = packed.getvalue()
    assert torch.hub.load_state_dict_from_url(f"{server.url}/old.zip")["weight"].tolist() == [1, 1]


def test_file_that_breaks_off(server: Server, tmp_path: Path) -> None:
    with pytest.raises(URLError):
        torch.hub.download_url_to_file("http://127.0.0.1:9/a", str(tmp_path / "a"))
    server.pages["/a"], server.promised = b"abc", 7
    with pytest.raises(ContentTooShortError, match="ended after 3 of 10 bytes"):
        torch.hub.download_url_to_file(f"{server.url}/a", str(tmp_path / "a"))
    source = tmp_path / "source.bin"
    source.write_bytes(b"abc")
    torch.hub.download_url_to_file(source.as_uri(), str(tmp_path / "copy.bin"), progress=False)
    assert (tmp_path / "copy.bin").read_bytes() == b"abc"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["copy.bin", "source.bin"]
