"""`slipway bundle`: what packages were built from, used where there is no network and nothing in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
Slipway = Callable[..., "subprocess.CompletedProcess[str]"]

META = """\
{% set version = "1" %}
package:
  name: bundled-split
  version: {{ version }}
source:
  - path: ../src
    patches:
      - ../patches/two.patch
  - git_url: ../upstream
    git_rev: main
    folder: upstream
  - url: ../words.txt
    folder: words
requirements:
  build:
    - make
outputs:
  - name: libbundled
    files:
      - share/one.txt
  - name: bundled
    script: install.sh
    requirements:
      host:
        - {{ pin_subpackage("libbundled", exact=True) }}
        - python
      run:
        - {{ pin_subpackage("libbundled", exact=True) }}
    test:
      requires:
        - ninja
      commands:
        - ninja --version
        - grep -q three $PREFIX/share/two.txt
about:
  license: MIT
  summary: a {{ colour }} package
"""
FILES = {
    "checkout/recipe/meta.yaml": META,
    "checkout/recipe/build.sh": "mkdir -p $PREFIX/share\ncat a.txt upstream/b.txt words/* > $PREFIX/share/one.txt\n",
    "checkout/recipe/install.sh": "cat $PREFIX/share/one.txt $SRC_DIR/words/* > $PREFIX/share/two.txt\n"
    "echo $GIT_FULL_HASH >> $PREFIX/share/two.txt; $PREFIX/bin/python --version >> $PREFIX/share/two.txt\n",
    "checkout/src/a.txt": "one\n",
    "checkout/patches/two.patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\n",
    "checkout/words.txt": "words\n",
    "checkout/upstream/b.txt": "three\n",
    "extra.yaml": "colour:\n  - green\n",
}


def without_network() -> list[str]:
    """What to put before a command so that it has no network; where nobody may do that, proxies refuse."""
    command = ["unshare", "--net"]
    allowed = shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True, check=False)
    refused = "http://127.0.0.1:9"
    return [
        *(command if allowed and allowed.returncode == 0 else ()),
        *("env", f"http_proxy={refused}", f"https_proxy={refused}", f"all_proxy={refused}"),
    ]


def run(*words: str | Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """slipway without a network, with nothing in its cache and with an empty home."""
    home = cache.with_name(f"{cache.name}-home")
    home.mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SLIPWAY_"))}
    environment |= {"XDG_CACHE_HOME": str(cache), "HOME": str(home)}
    return subprocess.run(
        [*without_network(), str(CHECKOUT / "slipway"), *map(str, words)],
        env=environment, capture_output=True, text=True, check=False, cwd=home,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dist of packages, their bundle, and nothing else of what they were made from."""
    folder = tmp_path_factory.mktemp("made")
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    git = ["git", "-C", str(folder / "checkout/upstream"), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    asked = [folder / "checkout/recipe", "--dist", folder / "dist", "-m", folder / "extra.yaml"]
    for words in (["ship", *asked], ["bundle", *asked, "--to", folder / "all.bundle"]):
        subprocess.run([CHECKOUT / "slipway", *words], check=True)
    (folder / "checkout").rename(folder / "away")
    (folder / "extra.yaml").rename(folder / "away" / "extra.yaml")
    return folder


def packages(dist: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in dist.glob("channel/*/*.conda")}


def test_built_again_from_the_bundle_alone(made: Path, tmp_path: Path) -> None:
    bundle, dist = made / "all.bundle", tmp_path / "dist"
    answer = run("rebuild", "bundled", "libbundled", "--bundle", bundle, "--dist", dist, cache=tmp_path / "one")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert answer.stdout.count("the same bytes") == 2
    answer = run("ship", "--bundle", bundle, "--dist", dist, cache=tmp_path / "two")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert len(packages(dist)) == 2
    assert packages(dist) == packages(made / "dist")


def test_installed_from_the_bundle_alone(slipway: Slipway, made: Path, tmp_path: Path) -> None:
    words = ("install", "bundled", "--bundle", made / "all.bundle", "--prefix", tmp_path / "env", "--dist", tmp_path)
    answer = run(*words, cache=tmp_path / "cache")
    assert answer.returncode == 0, answer.stderr
    assert "three" in (tmp_path / "env/share/two.txt").read_text(encoding="utf-8")
    bundle, key, trusted = tmp_path / "signed.bundle", tmp_path / "key.pem", tmp_path / "trusted.yaml"
    shutil.copyfile(made / "all.bundle", bundle)
    public = slipway("attest", "--new-key", key).stdout.split()[-1]
    trusted.write_text(f"keys: [{{name: me, key: {public}}}]\n", encoding="utf-8")
    words = ("install", "bundled", "--bundle", bundle, "--require-signed", trusted, "--prefix", tmp_path / "held")
    answer = run(*words, "--dist", tmp_path, cache=tmp_path / "cache-1")
    assert (answer.returncode, (tmp_path / "held").exists()) == (9, False), answer.stderr
    assert slipway("attest", "--key", key, bundle).returncode == 0
    answer = run(*words, "--dist", tmp_path, cache=tmp_path / "cache-2")
    assert answer.returncode == 0, answer.stderr
    assert "the bundle is as me signed it" in answer.stdout
    content = bytearray((made / "all.bundle").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "edited.bundle").write_bytes(content)
    (tmp_path / "short.bundle").write_bytes(content[: len(content) // 2])
    for name in ("edited.bundle", "short.bundle"):
        words = ("install", "bundled", "--bundle", tmp_path / name, "--prefix", tmp_path / f"{name}.env")
        answer = run(*words, "--dist", tmp_path, cache=tmp_path / f"{name}.cache")
        assert answer.returncode == 6, answer.stderr
        assert not (tmp_path / f"{name}.env").exists()


def test_tar_alone_makes_channels_of_a_bundle(made: Path, tmp_path: Path) -> None:
    """For whom there is no slipway: rattler, as conda does, reads what tar leaves."""
    subprocess.run(["tar", "-C", tmp_path, "-xf", made / "all.bundle", "channel", "packages"], check=True)
    channels = [word for name in ("packages", "channel") for word in ("-c", (tmp_path / name).as_uri())]
    words = ("install", "bundled", *channels, "--prefix", tmp_path / "env", "--dist", tmp_path / "dist")
    answer = run(*words, cache=tmp_path / "cache")
    assert answer.returncode == 0, answer.stderr
    assert "three" in (tmp_path / "env/share/two.txt").read_text(encoding="utf-8")


def test_what_is_not_up_to_date_or_damaged_is_refused(slipway: Slipway, made: Path, tmp_path: Path) -> None:
    changed = tmp_path / "checkout"
    shutil.copytree(made / "away", changed)
    (changed / "src" / "a.txt").write_text("one\n\n", encoding="utf-8")
    target = tmp_path / "new.bundle"
    answer = slipway("bundle", changed / "recipe", "--dist", made / "dist", "-m", made / "away" / "extra.yaml",
                     "--to", target)  # fmt: skip
    assert answer.returncode == 12, answer.stdout + answer.stderr
    assert "there is no package of `libbundled-1-0`, `bundled-1-" in answer.stderr
    assert not target.exists()
    content = bytearray((made / "all.bundle").read_bytes())
    content[len(content) // 2] ^= 1
    target.write_bytes(content)
    answer = slipway("rebuild", "bundled", "--bundle", target, "--dist", tmp_path / "dist")
    assert answer.returncode == 6
    assert "the bundle is damaged: `channel/" in answer.stderr
    assert str(target) in answer.stderr
    answer = slipway("ship", changed / "recipe", "--bundle", made / "all.bundle", "--dist", tmp_path / "dist")
    assert answer.returncode == 2
    assert "a bundle has its own recipe" in answer.stderr


def test_built_again_from_a_bundle_since_an_earlier_one(slipway: Slipway, made: Path, tmp_path: Path) -> None:
    """Only what changed is carried; with the earlier one beside it the same bytes come of it, without a network."""
    changed, dist = tmp_path / "checkout", tmp_path / "dist"
    shutil.copytree(made / "away", changed)
    (changed / "words.txt").write_text("other words\n", encoding="utf-8")
    asked = [changed / "recipe", "--dist", dist, "-m", changed / "extra.yaml"]
    shutil.copyfile(made / "all.bundle", tmp_path / "all.bundle")
    for words in (["ship", *asked], ["bundle", *asked, "--to", tmp_path / "new", "--since", tmp_path / "all.bundle"]):
        answer = slipway(*words)
        assert answer.returncode == 0, answer.stdout + answer.stderr
    assert (tmp_path / "new").stat().st_size < (tmp_path / "all.bundle").stat().st_size / 10
    answer = run("ship", "--bundle", tmp_path / "new", "--dist", tmp_path / "again", cache=tmp_path / "cache")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert packages(tmp_path / "again") == packages(dist)
    assert packages(dist) != packages(made / "dist")
    (tmp_path / "all.bundle").unlink()
    answer = run("ship", "--bundle", tmp_path / "new", "--dist", tmp_path / "never", cache=tmp_path / "cache2")
    assert answer.returncode == 2
    assert "the bundle needs an earlier one, all.bundle" in answer.stderr
