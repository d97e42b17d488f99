"""Git sources, from repositories that the tests make: what is built, what `plan` says of it, and what goes wrong."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import HostError, NetworkError, RecipeError
from slipway.base.user_folders import cache_folder
from slipway.model import RenderedOutput, Source
from slipway.pipeline.manifest import Manifest, differences, make_manifest
from slipway.source import pin_sources, pinned, put
from slipway.source.git import variables

if TYPE_CHECKING:
    from collections.abc import Iterator


def git(folder: Path, *words: str) -> str:
    """What git says in `folder`, as an author with a name."""
    author = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    answer = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def commit(folder: Path, name: str, text: str) -> str:
    """One more commit with a file; returns its hash."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "--force", name)
    git(folder, "commit", "--quiet", "--message", f"{name}: {text}")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Beside the recipe: a tag v1.0 on the first of two commits of `main`."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "a.txt", "one")
    git(folder, "tag", "v1.0")
    commit(folder, "a.txt", "two")
    return folder


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    folder = tmp_path / "recipe"
    folder.mkdir()
    return folder


def files(source: Source, folder: Path) -> dict[str, str]:
    """What a build would get."""
    put(source, folder, where="meta.yaml")
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("depth", [None, 1])
@pytest.mark.parametrize(
    ("revision", "text"), [("v1.0", "one"), (None, "two"), ("main", "two"), ("origin/main", "two"), ("HEAD~1", "one")]
)
def test_revisions(
    repository: Path, recipe: Path, tmp_path: Path, revision: str | None, text: str, depth: int | None
) -> None:
    url = "../upstream" if depth is None else repository.as_uri()  # git fetches all there is from a mere path
    found = pinned(Source(git_url=url, git_rev=revision, git_depth=depth), recipe, offline=False)
    assert files(found, tmp_path / "out") == {"a.txt": text}


def test_a_commit_is_kept_and_needs_the_repository_no_more(repository: Path, recipe: Path, tmp_path: Path) -> None:
    first = git(repository, "rev-parse", "v1.0")
    source = Source(git_url=str(repository), git_rev=first)
    found = pinned(source, recipe, offline=False)
    assert found.git_commit == first
    again = pinned(source, recipe, offline=True)
    assert again == found
    shutil.rmtree(repository)
    assert pinned(found, recipe, offline=True) == found
    assert files(found, tmp_path / "out") == {"a.txt": "one"}


def test_damaged_caches_are_made_again(repository: Path, recipe: Path, tmp_path: Path) -> None:
    source = Source(git_url=str(repository), git_rev="v1.0")
    found = pinned(source, recipe, offline=False)
    kept = cache_folder() / "git" / "trees" / str(found.git_commit) / "files" / "a.txt"
    kept.write_text("six", encoding="utf-8")
    for head in (cache_folder() / "git" / "mirrors").glob("*/HEAD"):
        head.write_text("nonsense", encoding="utf-8")
    assert files(pinned(source, recipe, offline=False), tmp_path / "out") == {"a.txt": "one"}


def test_all_that_is_tracked_and_nothing_of_git(repository: Path, recipe: Path, tmp_path: Path) -> None:
    commit(repository, ".gitignore", "*.log\n")
    commit(repository, "kept.log", "ignored, and tracked")
    (repository / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (repository / "run").chmod(0o755)
    (repository / "link").symlink_to("run")
    git(repository, "add", "run", "link")
    git(repository, "commit", "--quiet", "--message=run")
    found = pinned(Source(git_url="../upstream"), recipe, offline=False)
    assert set(files(found, tmp_path / "out")) == {".gitignore", "a.txt", "kept.log", "link", "run"}
    assert os.access(tmp_path / "out" / "run", os.X_OK)
    assert (tmp_path / "out" / "link").readlink() == Path("run")


def test_name_that_no_package_can_hold(repository: Path, recipe: Path) -> None:
    (repository / os.fsdecode(b"caf\xe9")).write_bytes(b"x")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=coffee")
    with pytest.raises(RecipeError, match="not UTF-8") as caught:
        pinned(Source(git_url="../upstream"), recipe, offline=False)
    assert str(caught.value.where).endswith("/caf\\xe9")


def test_submodules_come_along(repository: Path, recipe: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    commit(inner, "b.txt", "inside")
    git(repository, "submodule", "--quiet", "add", "../inner", "third_party/inner")
    git(repository, "commit", "--quiet", "--message=inner")
    found = pinned(Source(git_url="../upstream"), recipe, offline=False)
    assert files(found, tmp_path / "out")["third_party/inner/b.txt"] == "inside"
    assert not list((tmp_path / "out").rglob(".git"))


def test_what_scripts_are_told(repository: Path, recipe: Path) -> None:
    found = pinned(Source(git_url="../upstream"), recipe, offline=False)
    assert found.git_commit is not None
    short = f"g{found.git_commit[:7]}"
    assert variables(found.git_commit, found.git_describe) == {
        "GIT_FULL_HASH": found.git_commit,
        "GIT_DESCRIBE_TAG": "v1.0",
        "GIT_DESCRIBE_NUMBER": "1",
        "GIT_DESCRIBE_HASH": short,
        "GIT_DESCRIBE_TAG_PEP440": f"1.0.post1+{short}",
        "GIT_BUILD_STR": f"1_{short}",
    }
    assert variables("f" * 40, None) == {"GIT_FULL_HASH": "f" * 40}


def manifest(output: RenderedOutput) -> Manifest:
    return make_manifest(output, engine="rattler 1", environments={}, needed={})


def test_a_moved_branch_is_a_change(repository: Path, recipe: Path, make_output: object) -> None:
    assert callable(make_output)
    output = make_output(sources=(Source(git_url=str(repository), git_rev="main"),))
    before = manifest(pin_sources(output, offline=False))
    assert manifest(pin_sources(output, offline=False)).digest == before.digest
    old = git(repository, "rev-parse", "HEAD")
    new = commit(repository, "a.txt", "three")
    after = manifest(pin_sources(output, offline=False))
    assert after.digest != before.digest
    assert differences(before, after) == [
        f"source git: {old} -> {new}",
        f"source git describe: v1.0-1-g{old[:7]} -> v1.0-2-g{new[:7]}",
    ]


def test_other_sources_do_not_know_of_it(make_output: object) -> None:
    assert callable(make_output)
    (written,) = manifest(make_output(sources=(Source(url="http://a/b.tar.gz", sha256="0"),))).rendered["sources"]
    assert set(written) == {"path", "url", "sha256", "git_url", "git_rev", "folder", "patches"}


def test_unknown_revision(repository: Path, recipe: Path) -> None:
    with pytest.raises(RecipeError, match=r"has no revision `v1\.1`") as caught:
        pinned(Source(git_url="../upstream", git_rev="v1.1"), recipe, offline=False)
    assert caught.value.hint == "did you mean `v1.0`?"
    with pytest.raises(RecipeError, match="has no revision"):
        pinned(Source(git_url="../upstream", git_rev="f" * 40), recipe, offline=False)
    with pytest.raises(RecipeError, match="has no revision `--all`"):
        pinned(Source(git_url="../upstream", git_rev="--all"), recipe, offline=False)


@pytest.mark.parametrize("url", ["../nowhere", "file:///nowhere/at/all"])
def test_no_repository_on_this_machine(recipe: Path, url: str) -> None:
    with pytest.raises(RecipeError, match="no git repository here"):
        pinned(Source(git_url=url), recipe, offline=False)


def test_folder_that_is_no_repository(recipe: Path) -> None:
    (recipe.parent / "plain").mkdir()
    with pytest.raises(RecipeError, match="git cannot read") as caught:
        pinned(Source(git_url="../plain"), recipe, offline=False)
    assert "does not appear to be a git repository" in (caught.value.detail or "")


def test_unreachable(recipe: Path) -> None:
    source = Source(git_url="http://127.0.0.1:9/a.git")
    with pytest.raises(NetworkError, match="cannot be fetched") as caught:
        pinned(source, recipe, offline=False)
    assert "127.0.0.1" in (caught.value.detail or "")
    with pytest.raises(NetworkError, match="--offline"):
        pinned(source, recipe, offline=True)


def test_a_recipe_cannot_have_git_run_programs(recipe: Path, tmp_path: Path) -> None:
    for url in (f"ext::sh -c touch% {tmp_path}/ran", f"--upload-pack=touch {tmp_path}/ran"):
        with pytest.raises(NetworkError):
            pinned(Source(git_url=url), recipe, offline=False)
    assert not (tmp_path / "ran").exists()


def test_without_git(repository: Path, recipe: Path) -> None:
    with pytest.raises(HostError, match="git is not installed"):
        pinned(Source(git_url="../upstream"), recipe, offline=False, environ={"PATH": "/nowhere", "HOME": "/tmp"})


def test_kinds_that_are_not_followed(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="`source/hg_url` is not supported"):
        put(replace(Source(), unsupported="hg_url"), tmp_path / "out", where="meta.yaml")


@pytest.mark.parametrize("target", ["/etc/hostname", "../../outside", "sub/../../x"])
def test_links_that_leave_a_repository(repository: Path, recipe: Path, target: str) -> None:
    (repository / "sub").mkdir()
    (repository / "sub" / "file").touch()
    (repository / "LICENSE").symlink_to(target)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "a link")
    with pytest.raises(RecipeError, match=f"`LICENSE` in the source is a link .* to `{target}`") as caught:
        pinned(Source(git_url="../upstream"), recipe, offline=False)
    assert str(repository) in str(caught.value.where)


def test_links_of_a_repository_stay_links(repository: Path, recipe: Path, tmp_path: Path) -> None:
    (repository / "link").symlink_to("a.txt")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "a link")
    put(pinned(Source(git_url="../upstream"), recipe, offline=False), tmp_path / "out", where="meta.yaml")
    assert str((tmp_path / "out/link").readlink()) == "a.txt"


@contextmanager
def listening(answer: bytes = b"", pause: float = 0.2) -> Iterator[int]:
    """A server's port; it takes connections and says `answer` byte by byte, with pauses, or nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = []

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    taken.append(connection)
                    for byte in answer:
                        connection.sendall(bytes([byte]))
                        time.sleep(pause)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for connection in taken:
                connection.close()
            thread.join(10)


@pytest.mark.parametrize(
    ("scheme", "answer", "limits", "named"),
    [
        ("http", b"", {"SPEED_SECONDS": "1"}, "LEAST_SPEED"),
        ("http", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50, {"SPEED_SECONDS": "1"}, "LEAST_SPEED"),
        ("git", b"", {"GIT_SECONDS": "1"}, "GIT_SECONDS"),
        ("git", b"ff00" + b"x" * 300, {"GIT_SECONDS": "1"}, "GIT_SECONDS"),
    ],
)
def test_servers_that_are_silent_or_slow(
    recipe: Path, scheme: str, answer: bytes, limits: dict[str, str], named: str
) -> None:
    environ = {**os.environ, **{f"SLIPWAY_HTTP_{name}": value for name, value in limits.items()}}
    started = time.monotonic()
    with listening(answer) as port, pytest.raises(NetworkError) as caught:
        pinned(Source(git_url=f"{scheme}://127.0.0.1:{port}/x.git"), recipe, offline=False, environ=environ)
    assert f"SLIPWAY_HTTP_{named}" in str(caught.value.hint)
    assert time.monotonic() - started < 30


def test_a_repository_without_end(repository: Path, recipe: Path) -> None:
    (repository / "large").write_bytes(os.urandom(300_000))
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=large")
    git(repository, "repack", "-qad")
    git(repository, "update-server-info")
    handler = functools.partial(QuietHandler, directory=repository)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        source = Source(git_url=f"http://127.0.0.1:{server.server_port}/.git")
        environ = {**os.environ, "SLIPWAY_HTTP_FILE_BYTES": "100000"}
        with pytest.raises(NetworkError) as caught:
            pinned(source, recipe, offline=False, environ=environ)
        assert "SLIPWAY_HTTP_FILE_BYTES" in str(caught.value.hint)
        # Under another address, as this server knows nothing of going on where it was left.
        found = pinned(replace(source, git_url=f"{source.git_url}/"), recipe, offline=False)
        server.shutdown()
    assert found.git_commit == git(repository, "rev-parse", "HEAD")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Nothing."""
