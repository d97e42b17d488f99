"""`slipway rebuild`: the same bytes from what the package carries, or what is different."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.channel.package import unpack_package

from .conftest import RECIPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Slipway


def write_recipe(folder: Path, name: str, script: str, *, version: str = "1", needs: str = "") -> Path:
    """A recipe with one source file, ``a.txt``."""
    folder.mkdir(parents=True)
    text = f'package:\n  name: {name}\n  version: "{version}"\nsource:\n  path: a.txt\n{needs}'
    (folder / "meta.yaml").write_text(f"{text}about:\n  license: MIT\n", encoding="utf-8")
    (folder / "build.sh").write_text(script, encoding="utf-8")
    (folder / "a.txt").write_text("a\n", encoding="utf-8")
    return folder


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    """With another mask for the files that programs make."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("name", "package"), [("hello", "libhello"), ("pure", "pure"), ("compiled_python", "local-python")]
)
def test_same_bytes_from_another_folder_later(slipway: Slipway, tmp_path: Path, name: str, package: str) -> None:
    elsewhere = tmp_path / "a copy" / "of it"
    shutil.copytree(RECIPES / name, elsewhere)
    dist = tmp_path / "dist"
    assert slipway("ship", elsewhere, "--dist", dist).returncode == 0
    time.sleep(1.1)
    answer = slipway("rebuild", package, "--recipe", RECIPES / name, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "the same bytes" in answer.stdout


def test_sources_that_lie_elsewhere(slipway: Slipway, tmp_path: Path) -> None:
    recipe, dist = write_recipe(tmp_path / "recipe", "lies", "cp a.txt $PREFIX/lies.txt\n"), tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    shutil.move(recipe, tmp_path / "moved")
    answer = slipway("rebuild", "lies", "--recipe", recipe, "--dist", dist)
    assert answer.returncode == 6
    assert "is not as it was" in answer.stderr
    assert "`--recipe DIR`" in answer.stderr
    assert slipway("rebuild", "lies", "--recipe", tmp_path / "moved", "--dist", dist).returncode == 0


BREAKS = """\
here=$PREFIX/share/breaks
mkdir -p $here
date '+at %Y-%m-%d %H:%M:%S' > $here/timestamp.txt
(cd $(mktemp -d) && pwd) > $here/path.txt
echo "$(cat $here/timestamp.txt) in $(mktemp -d)/x" > $here/both.txt
seq 100 | shuf > $here/order.txt
cp a.txt $here/packed.txt; touch $here/packed.txt; gzip $here/packed.txt
head -c 9 /dev/urandom > $here/other.bin
echo steady > $here/steady.txt
"""


def test_every_kind_of_difference_is_shown_with_its_reason(slipway: Slipway, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path / "recipe", "breaks", BREAKS)
    dist = tmp_path / "dist"
    answer = slipway("ship", recipe, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    time.sleep(1.1)
    answer = slipway("rebuild", "breaks", "--recipe", recipe, "--dist", dist, "--json")
    assert answer.returncode == 9, answer.stdout + answer.stderr
    (result,) = json.loads(answer.stdout)
    assert not result["identical"]
    reasons = {Path(difference["file"]).name: difference["why"] for difference in result["differences"]}
    assert reasons.pop("other.bin").startswith("other: the content, first at byte ")
    assert reasons == {
        "timestamp.txt": "timestamp",
        "path.txt": "path",
        "both.txt": "timestamp and path",
        "order.txt": "order",
        "packed.txt.gz": "timestamp",
        "paths.json": "follows from the above: their hashes and sizes",
    }
    diffs = {Path(difference["file"]).name: difference["diff"] for difference in result["differences"]}
    assert "\n-at 20" in diffs["timestamp.txt"]
    assert "\n+at 20" in diffs["timestamp.txt"]
    assert "\n+packed at 20" in diffs["packed.txt.gz"]
    assert "breaks-1-0.conda has other bytes" in answer.stderr


SEES = """\
mkdir -p $PREFIX/share/sees
{ env | grep -v PLACEHOLD; pwd; ls; umask; date +%Z; command -v sed patchelf; stat -c '%Y %a' a.txt; } |
  sed 's,/,!,g' | sort > $PREFIX/share/sees/all.txt
"""


def test_a_build_sees_nothing_of_who_builds_it(slipway: Slipway, tmp_path: Path) -> None:
    """Another user's home, another checkout, other times of files, another output folder: the same surroundings."""
    recipe = write_recipe(tmp_path / "one" / "recipe", "sees", SEES)
    first, second = tmp_path / "first", tmp_path / "second"
    answer = slipway("ship", recipe, "--dist", first)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (package,) = first.glob("channel/*/sees-*.conda")
    copied = tmp_path / "two" / "deeper" / "recipe"
    shutil.copytree(recipe, copied, copy_function=shutil.copy)
    os.utime(copied / "a.txt", (1_000_000_000, 1_000_000_000))
    home = tmp_path / "home"
    home.mkdir()
    others = {
        "HOME": str(home),
        "USER": "somebody",
        "LOGNAME": "somebody",
        "TZ": "Asia/Tokyo",
        "LANG": "de_DE.UTF-8",
        "EDITOR": "ed",
        "SOURCE_DATE_EPOCH": "1",
        "CFLAGS": "-O0",
        # The channel is the same; only its folder in the cache would have to be assembled again.
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
    }
    with umask(0o077):
        answer = slipway("rebuild", package, "--recipe", copied, "--dist", second, env=others, cwd=home)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_built_with_what_it_was_built_with_not_with_todays_packages(slipway: Slipway, tmp_path: Path) -> None:
    """The solver would take the new `words`; when the old one is gone, rebuild says so instead of taking the new."""

    def ship_words(version: str) -> Path:
        script = f"mkdir -p $PREFIX/share; echo {version} > $PREFIX/share/words.txt"
        recipe = write_recipe(tmp_path / f"words-{version}", "words", script, version=version)
        answer = slipway("ship", recipe, "--dist", tmp_path / "words")
        assert answer.returncode == 0, answer.stdout + answer.stderr
        (package,) = tmp_path.glob(f"words/channel/*/words-{version}-0.conda")
        return package

    words = ship_words("1.0")
    script = "mkdir -p $PREFIX/lib; cp $PREFIX/share/words.txt $PREFIX/lib/quoted.txt"
    needs = "requirements:\n  host:\n    - words\n"
    recipe = write_recipe(tmp_path / "quotes", "quotes", script, needs=needs)
    channel = (tmp_path / "words" / "channel").as_uri()
    dist = tmp_path / "dist"
    answer = slipway("ship", recipe, "--channel", channel, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    ship_words("2.0")
    again = ("rebuild", "quotes", "--recipe", recipe, "--channel", channel, "--dist", dist)
    answer = slipway(*again)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    planned = slipway("plan", recipe, "--channel", channel, "--dist", dist)
    assert "host words: 1.0 0 -> 2.0 0" in planned.stdout

    index = words.with_name("repodata.json")
    content = json.loads(index.read_text(encoding="utf-8"))
    del content["packages.conda"][words.name]
    index.write_text(json.dumps(content), encoding="utf-8")
    answer = slipway(*again)
    assert answer.returncode == 7
    assert "in no channel any more: words 1.0 0" in answer.stderr


def test_sources_come_from_git_when_the_checkout_moved_on(slipway: Slipway, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    recipe = checkout / "recipe"
    recipe.mkdir(parents=True)
    (checkout / "src").mkdir()
    (checkout / "src/a.txt").write_text("first\n", encoding="utf-8")
    text = 'package:\n  name: old\n  version: "1"\nsource:\n  path: ../src\nabout:\n  license: MIT\n'
    (recipe / "meta.yaml").write_text(text, encoding="utf-8")
    (recipe / "build.sh").write_text("mkdir $PREFIX/x; cp a.txt $PREFIX/x\n", encoding="utf-8")
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    words = ("rebuild", "old", "--recipe", recipe, "--dist", dist)
    git = ["git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    (checkout / "src/a.txt").write_text("second\n", encoding="utf-8")
    answer = slipway(*words)
    assert answer.returncode == 6
    assert "`a.txt` is not as it was" in answer.stderr
    for content in ("first\n", "second\n"):
        (checkout / "src/a.txt").write_text(content, encoding="utf-8")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", content], check=True)
    answer = slipway(*words)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_what_was_built_with_secrets_is_built_again_with_the_same(slipway: Slipway, tmp_path: Path) -> None:
    """One of any name, one that is short, one that the recipe's text repeats; the package holds none of them."""
    values = {"ODDLY_NAMED": "PLANTED-value-1", "DB_PASSWORD": "pw-9", "API_TOKEN": "PLANTED-token-2"}
    script = 'mkdir -p $PREFIX/share; echo "$ODDLY_NAMED" "$DB_PASSWORD" | sha256sum > $PREFIX/share/sum\n'
    script += "test $API_TOKEN = PLANTED-token-2\n"
    needs = "build:\n  script_env:\n    - ODDLY_NAMED\n    - DB_PASSWORD\n    - API_TOKEN\n"
    recipe = write_recipe(tmp_path / "recipe", "keeps", script, needs=needs)
    cache = {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")}
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist", env=values)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (package,) = (tmp_path / "dist/channel").glob("*/keeps-*.conda")
    said = answer.stdout + answer.stderr
    said += "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "dist/logs").rglob("*") if path.is_file())
    with unpack_package(package) as folder:
        said += "".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file())
    assert [value for value in values.values() if value in said] == []

    def rebuild(changes: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return slipway("rebuild", package, "--recipe", recipe, "--dist", tmp_path / "two", env=cache | values | changes)

    again = rebuild({})
    assert again.returncode == 0, again.stdout + again.stderr
    for name in values:
        other = rebuild({name: "PLANTED-other"})
        assert other.returncode == 6, other.stdout + other.stderr
        assert f"another value of ${name}" in other.stderr
        assert not any(value in other.stdout + other.stderr for value in (*values.values(), "PLANTED-other"))


@pytest.mark.parametrize("which", ["needed by the recipe", "own"])
def test_flipped_byte_in_a_package_that_was_built_with(slipway: Slipway, tmp_path: Path, which: str) -> None:
    """Of another recipe, and of the same one: neither is put into an environment."""
    dist = tmp_path / "dist"
    words = write_recipe(tmp_path / "words", "words", "mkdir -p $PREFIX/share; cp a.txt $PREFIX/share/words\n")
    assert slipway("ship", words, "--dist", dist).returncode == 0
    script = "mkdir -p $PREFIX/share; cp $PREFIX/share/words $PREFIX/share/quotes\n"
    needs = "requirements:\n  host:\n    - words\n"
    recipe = write_recipe(tmp_path / "quotes", "quotes", script, needs=needs)
    if which == "own":
        both = "package:\n  name: both\n  version: 1\nsource:\n  path: a.txt\nabout:\n  license: MIT\noutputs:\n"
        both += "  - name: base\n    script: base.sh\n  - name: quotes\n    script: quotes.sh\n"
        both += "    requirements:\n      host:\n        - base\n"
        (recipe / "meta.yaml").write_text(both, encoding="utf-8")
        (recipe / "build.sh").rename(recipe / "quotes.sh")
        (recipe / "base.sh").write_text("mkdir -p $PREFIX/share; cp a.txt $PREFIX/share/words\n", encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    again = slipway("rebuild", "quotes", "--recipe", recipe, "--dist", dist)
    assert again.returncode == 0, again.stdout + again.stderr
    (used,) = dist.glob("channel/*/base-*.conda" if which == "own" else "channel/*/words-*.conda")
    content = bytearray(used.read_bytes())
    content[len(content) // 2] ^= 1
    used.write_bytes(content)
    again = slipway("rebuild", "quotes", "--recipe", recipe, "--dist", dist)
    assert again.returncode == 7, again.stdout + again.stderr
    assert "base" in again.stderr if which == "own" else "words" in again.stderr
