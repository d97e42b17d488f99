"""`slipway rebuild`: the same bytes from what the package carries, or what is different."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.reproduce import reason, text_diff

RECIPES = Path(__file__).parent / "recipes"
Slipway = Callable[..., "subprocess.CompletedProcess[str]"]


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


def test_difference_is_shown_with_its_reason(slipway: Slipway, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe"
    recipe.mkdir()
    (recipe / "meta.yaml").write_text('package:\n  name: clock\n  version: "1"\nabout:\n  license: MIT\n')
    (recipe / "build.sh").write_text("mkdir $PREFIX/x; date '+at %Y-%m-%d %H:%M:%S' > $PREFIX/x/when\n")
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    time.sleep(1.1)
    answer = slipway("rebuild", "clock", "--recipe", recipe, "--dist", dist, "--json")
    assert answer.returncode == 9, answer.stdout + answer.stderr
    (result,) = json.loads(answer.stdout)
    assert not result["identical"]
    reasons = {difference["file"]: difference["why"] for difference in result["differences"]}
    assert reasons["x/when"] == "timestamp"
    assert "-at " in next(each["diff"] for each in result["differences"] if each["file"] == "x/when")


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


@pytest.mark.parametrize(
    ("one", "two", "why"),
    [
        (b"on 2026-01-01 10:00:00", b"on 2027-01-01 11:00:00", "timestamp"),
        (b'"timestamp": 1795228448437', b'"timestamp": 1795228473930', "timestamp"),
        (b"in /home/me/build/x", b"in /srv/build/x", "path"),
        (b"a\nb\n", b"b\na\n", "order"),
        (b"abc", b"abd", "content, first at byte 2 (3 and 3 bytes)"),
        (b"ab", b"abd", "content, first at byte 2 (2 and 3 bytes)"),
    ],
)
def test_reasons(one: bytes, two: bytes, why: str) -> None:
    assert reason(one, two) == why


def test_no_diff_of_binary_files() -> None:
    assert text_diff("x", b"\0a", b"\0b") == ""
