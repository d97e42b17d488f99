"""Recipes whose sources lie elsewhere, from the prompt: shipped, planned, shipped offline, and built again."""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Slipway


META = """\
package:
  name: fetched
  version: "1"
source:
  - git_url: ../upstream
    git_rev: {revision}
    patches:
      - three.patch
  - url:
      - http://127.0.0.1:9/words-1.tar.xz
      - {address}
    sha256: {sha256}
    folder: words
about:
  license: MIT
"""
SCRIPT = """\
mkdir -p $PREFIX/share/fetched
cp a.txt words/b.txt $PREFIX/share/fetched
echo $GIT_DESCRIBE_TAG $GIT_DESCRIBE_NUMBER $GIT_FULL_HASH > $PREFIX/share/fetched/git.txt
"""
PATCH = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n two\n+three\n"


def git(folder: Path, *words: str) -> str:
    """What git says in `folder`."""
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", *author, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe of a patched branch of a git repository, and of an archive from the second of two mirrors."""
    upstream, folder = tmp_path / "upstream", tmp_path / "recipe"
    for path in (upstream, folder, tmp_path / "words-1"):
        path.mkdir()
    git(upstream, "init", "--quiet", "--initial-branch=main")
    (upstream / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    git(upstream, "add", ".")
    git(upstream, "commit", "--quiet", "--message=first")
    git(upstream, "tag", "v1")
    (tmp_path / "words-1" / "b.txt").write_text("b\n", encoding="utf-8")
    archive = tmp_path / "words-1.tar.xz"
    with tarfile.open(archive, "w:xz") as stream:
        stream.add(tmp_path / "words-1", "words-1")
    sha256 = hashlib.sha256(archive.read_bytes()).hexdigest()
    text = META.format(revision="main", address=archive.as_uri(), sha256=sha256)
    (folder / "meta.yaml").write_text(text, encoding="utf-8")
    (folder / "build.sh").write_text(SCRIPT, encoding="utf-8")
    (folder / "three.patch").write_text(PATCH, encoding="utf-8")
    return folder


def test_shipped_planned_and_built_again(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    dist, upstream = tmp_path / "dist", tmp_path / "upstream"
    first = git(upstream, "rev-parse", "HEAD")

    def run(*words: str | Path) -> str:
        answer = slipway(*words, "--dist", dist)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    run("ship", recipe)
    run("install", "fetched", "--prefix", tmp_path / "env")
    installed = tmp_path / "env" / "share" / "fetched"
    assert (installed / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert (installed / "b.txt").read_text() == "b\n"
    assert (installed / "git.txt").read_text() == f"v1 0 {first}\n"

    upstream.rename(tmp_path / "away")
    (tmp_path / "words-1.tar.xz").unlink()
    again = slipway("ship", recipe, "--dist", dist, "--offline")
    assert again.returncode == 3, "a repository of this machine must be there"
    (tmp_path / "away").rename(upstream)
    assert "up to date" in run("ship", recipe, "--offline")

    (upstream / "a.txt").write_text("one\ntwo\n\nfour\n", encoding="utf-8")
    git(upstream, "commit", "--quiet", "--all", "--message=second")
    second = git(upstream, "rev-parse", "HEAD")
    assert f"source git: {first} -> {second}" in run("plan", recipe)
    assert "the same bytes" in run("rebuild", "fetched", "--recipe", recipe), "from the commit, not from the branch"


def test_wrong_bytes_and_unknown_revisions(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    meta = recipe / "meta.yaml"
    good = meta.read_text(encoding="utf-8")
    meta.write_text(good.replace("git_rev: main", "git_rev: mian"), encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 3
    assert "no revision `mian`" in answer.stderr
    assert "did you mean `main`?" in answer.stderr
    sha256 = good.partition("sha256: ")[2].partition("\n")[0]
    meta.write_text(good.replace(sha256, "0" * 64), encoding="utf-8")
    answer = slipway("plan", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 6
    assert f"sha256 {sha256} instead of 000" in answer.stderr
