"""A channel behind HTTP: built from it, built again with its locked packages, and what a server may do wrong."""

from __future__ import annotations

import http.server
import re
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from .conftest import Slipway


class Server:
    """Serves a folder; `fault` is a pattern of paths and what goes wrong with them."""

    def __init__(self, folder: Path) -> None:
        self.fault: tuple[str, str] | None = None
        outer = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *words: Any) -> None:
                super().__init__(*words, directory=str(folder))

            def do_GET(self) -> None:
                if outer.fault is None or not re.search(outer.fault[0], self.path):
                    super().do_GET()
                elif outer.fault[1].isdigit():
                    self.send_error(int(outer.fault[1]))
                else:
                    self.spoil(Path(self.translate_path(self.path)).read_bytes(), outer.fault[1])

            def spoil(self, content: bytes, how: str) -> None:
                """Half of it, or all of it with one other byte."""
                half = len(content) // 2
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                other = bytes([content[half] ^ 1]) + content[half + 1 :] if how == "other byte" else b""
                self.wfile.write(content[:half] + other)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections from now on."""
        self.server.shutdown()
        self.server.server_close()


def write_recipe(folder: Path, name: str, script: str, version: str = "1", host: str = "") -> Path:
    """A recipe without sources."""
    folder.mkdir()
    requirements = f"requirements:\n  host:\n    - {host}\n" if host else ""
    text = f'package:\n  name: {name}\n  version: "{version}"\n{requirements}about:\n  license: MIT\n'
    (folder / "meta.yaml").write_text(text, encoding="utf-8")
    (folder / "build.sh").write_text(f"mkdir -p $PREFIX/share\n{script}\n", encoding="utf-8")
    return folder


class Elsewhere:
    """A channel with a package `words`, and a recipe that copies what is in it."""

    def __init__(self, slipway: Slipway, folder: Path) -> None:
        self.folder = folder
        self.slipway = slipway
        self.cache = folder / "cache"
        self.add_words("1")
        self.server = Server(folder / "words" / "channel")
        self.recipe = write_recipe(folder / "copy", "copy", "cp $PREFIX/share/words.txt $PREFIX/share/copy.txt",
                                   host="words")  # fmt: skip

    def add_words(self, version: str) -> None:
        recipe = write_recipe(
            self.folder / f"words-{version}", "words", f"echo {version} > $PREFIX/share/words.txt", version
        )
        self.succeed("ship", recipe, "--dist", self.folder / "words", "--channel", self.folder / "nothing")

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        (self.folder / "nothing" / "noarch").mkdir(parents=True, exist_ok=True)
        for subdir in ("noarch", "linux-64"):
            index = self.folder / "nothing" / subdir / "repodata.json"
            index.parent.mkdir(exist_ok=True)
            index.write_text('{"packages": {}, "packages.conda": {}}', encoding="utf-8")
        return self.slipway(*words, env={"XDG_CACHE_HOME": str(self.cache), "no_proxy": "127.0.0.1"})

    def succeed(self, *words: str | Path) -> str:
        answer = self.run(*words)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    def ship(self) -> subprocess.CompletedProcess[str]:
        return self.run("ship", self.recipe, "--dist", self.folder / "dist", "--channel", self.server.url)

    def rebuild(self) -> subprocess.CompletedProcess[str]:
        place = ("--recipe", self.recipe, "--dist", self.folder / "dist", "--channel", self.server.url)
        return self.run("rebuild", "copy", *place)


@pytest.fixture
def elsewhere(slipway: Slipway, tmp_path: Path) -> Iterator[Elsewhere]:
    made = Elsewhere(slipway, tmp_path)
    yield made
    made.server.stop()


def test_built_again_with_the_packages_of_then(elsewhere: Elsewhere) -> None:
    assert elsewhere.ship().returncode == 0
    elsewhere.add_words("2")
    shutil.rmtree(elsewhere.cache)
    again = elsewhere.rebuild()
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"1 package(s) from {elsewhere.server.url}" in again.stdout
    for path in (elsewhere.folder / "words" / "channel").glob("*/words-1-*.conda"):
        path.unlink()
    shutil.rmtree(elsewhere.cache)
    gone = elsewhere.rebuild()
    assert gone.returncode in (5, 7), gone.stdout + gone.stderr
    assert "words" in gone.stderr


FAULTS = [
    ("/repodata", "404", 5, "could not find subdir"),
    ("/repodata", "500", 5, "500 Internal Server Error"),
    (r"/repodata\.json$", "half", 5, "before message length"),
    (r"/words-1-\w+\.conda", "404", 5, "404"),
    (r"/words-1-\w+\.conda", "503", 5, "503"),
    (r"/words-1-\w+\.conda", "half", 5, "a package cannot be fetched"),
    (r"/words-1-\w+\.conda", "other byte", 6, "not the one that the channel promises: sha256"),
]


@pytest.mark.parametrize(("path", "fault", "code", "message"), FAULTS)
def test_a_fault_is_named_and_the_next_run_succeeds(
    elsewhere: Elsewhere, path: str, fault: str, code: int, message: str
) -> None:
    # The compressed index would be asked for first.
    for packed in (elsewhere.folder / "words" / "channel").glob("*/*.zst"):
        packed.unlink()
    elsewhere.server.fault = (path, fault)
    answer = elsewhere.ship()
    assert answer.returncode == code, answer.stdout + answer.stderr
    assert message in answer.stderr
    elsewhere.server.fault = None
    again = elsewhere.ship()
    assert again.returncode == 0, again.stdout + again.stderr


def test_nobody_there(elsewhere: Elsewhere) -> None:
    elsewhere.server.stop()
    answer = elsewhere.ship()
    assert answer.returncode == 5, answer.stdout + answer.stderr
    assert elsewhere.server.url in answer.stderr


def test_a_bundle_does_not_hold_what_its_channels_were_told(elsewhere: Elsewhere) -> None:
    url = elsewhere.server.url.replace("//", "//somebody:a-password-of-theirs@")
    place = (elsewhere.recipe, "--dist", elsewhere.folder / "dist", "--channel", url)
    for words in (("ship", *place), ("bundle", *place, "--to", elsewhere.folder / "all.bundle")):
        answer = elsewhere.run(*words)
        assert answer.returncode == 0, answer.stdout + answer.stderr
    written = [path for path in elsewhere.folder.rglob("*") if path.is_file()]
    assert elsewhere.folder / "all.bundle" in written
    assert [path for path in written if b"a-password-of-theirs" in path.read_bytes()] == []
