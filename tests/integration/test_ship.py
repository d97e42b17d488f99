"""`slipway ship` on recipes of others: what users see when it works, fails, and is interrupted."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from .conftest import CHECKOUT, RECIPES

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Slipway


META = """\
package:
  name: tiny
  version: "1.0"
requirements:
  build:
    - ninja
about:
  license: MIT
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe that takes a moment to build."""
    folder = tmp_path / "recipe"
    folder.mkdir()
    (folder / "meta.yaml").write_text(META, encoding="utf-8")
    (folder / "build.sh").write_text("mkdir $PREFIX/x; echo 1 > $PREFIX/x/tiny\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["hello", "pure"])
def test_ships_a_recipe_from_source_to_channel(slipway: Slipway, tmp_path: Path, name: str) -> None:
    dist = tmp_path / "dist"
    answer = slipway("ship", RECIPES / name, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    subdir = {"hello": "linux-64", "pure": "noarch"}[name]
    index = json.loads((dist / "channel" / subdir / "repodata.json").read_text(encoding="utf-8"))
    (record,) = index["packages.conda"].values()
    if name == "hello":
        depends = {spec.split()[0] for spec in record["depends"]}
        assert {"mkl", "libstdcxx", "libgcc"} <= depends, "run_exports of the compilers and of MKL must be there"
        assert any(spec.startswith("__glibc >=") for spec in record["depends"])
        assert record["run_exports"] == {"weak": ["libhello >=1.2,<2.0a0"]}
    else:
        assert record["noarch"] == "python"
        assert "python >=3.9" in record["depends"]
    again = slipway("ship", RECIPES / name, "--dist", dist)
    assert "up to date" in again.stdout


def test_installed_package_runs(slipway: Slipway, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    assert slipway("ship", RECIPES / "pure", "--dist", dist).returncode == 0
    for expected in ("of them new", " 0 of them new"):
        answer = slipway("install", "pure", "python 3.11.*", "--dist", dist)
        assert answer.returncode == 0, answer.stderr
        assert expected in answer.stdout
    program = dist / "env/bin/pure"
    assert subprocess.run([program], env={}, capture_output=True, text=True, check=True).stdout == "hello, world\n"


def test_compiled_python_files_fit_their_sources(slipway: Slipway, tmp_path: Path) -> None:
    """What does not fit is compiled again with every import."""
    dist = tmp_path / "dist"
    assert slipway("ship", RECIPES / "compiled_python", "--dist", dist).returncode == 0
    assert slipway("install", "local-python", "--dist", dist).returncode == 0
    package = dist / "env/lib/python3.11/site-packages/pure"
    assert len(list((package / "__pycache__").glob("*.pyc"))) == 2
    answer = subprocess.run(
        [dist / "env/bin/python", "-v", "-c", "import pure.cli"], env={}, capture_output=True, text=True, check=True
    )
    for name in ("__init__", "cli"):
        assert f"matches {package / name}.py" in answer.stderr
    assert f"wrote '{package}" not in answer.stderr


def test_rebuilt_package_of_the_same_name_is_installed_again(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    for text in ("1", "2"):
        (recipe / "build.sh").write_text(f"mkdir $PREFIX/x; echo {text} > $PREFIX/x/tiny\n", encoding="utf-8")
        assert slipway("ship", recipe, "--dist", dist).returncode == 0
        assert slipway("install", "tiny", "--dist", dist).returncode == 0
        assert (dist / "env/x/tiny").read_text(encoding="utf-8") == f"{text}\n"


def test_interrupted_installation_begins_anew(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    assert slipway("install", "tiny", "--dist", dist).returncode == 0
    (dist / "env/x/tiny").unlink()
    (dist / "env/conda-meta/slipway-incomplete").touch()
    answer = slipway("install", "tiny", "--dist", dist)
    assert "an earlier installation was cut off" in answer.stdout
    assert (dist / "env/x/tiny").exists()


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (("package:", "packge:"), 3, "meta.yaml:1"),
        (("ninja", "ninja  # [linux and]"), 3, "meta.yaml:6"),
        (("ninja", "{{ nothing( }}"), 3, "meta.yaml:6"),
        (("license: MIT", "license: [MIT"), 3, "meta.yaml"),
        (("ninja", "no-such-package"), 7, "no-such-package"),
        (("ninja", "ninja 99.*"), 7, "ninja 99"),
    ],
)
def test_broken_recipe(
    slipway: Slipway, recipe: Path, tmp_path: Path, change: tuple[str, str], code: int, message: str
) -> None:
    (recipe / "meta.yaml").write_text(META.replace(*change), encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == code, answer.stdout + answer.stderr
    assert re.search(r"^error(\[[a-z-]+\])?: ", answer.stderr, re.MULTILINE)
    assert message in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--cuda", "9.9"), 2, "unrecognized arguments: --cuda 9.9"),  # this recipe declares no such short name
        (("--variant", "cuda_compiler_version=9.9"), 4, "the recipe has no variant for cuda_compiler_version 9.9"),
        (("--engine", "make"), 2, "there is no engine `make`"),
        (("-m", "nowhere.yaml"), 3, "there is no such variant config"),
    ],
)
def test_impossible_request(
    slipway: Slipway, recipe: Path, tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist", *words)
    assert answer.returncode == code, answer.stderr
    assert f"error: {message}" in answer.stderr


def test_failing_build_script(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    (recipe / "build.sh").write_text("echo the cause\nexit 7\n", encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 8
    assert "the cause" in answer.stderr
    log = next((tmp_path / "dist/logs").glob("tiny-*.log"))
    assert f"  at: {log}" in answer.stderr
    assert "the cause" in log.read_text(encoding="utf-8")


def test_no_network_and_nothing_cached(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    empty = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist", "--offline", env=empty)
    assert answer.returncode == 5, answer.stdout + answer.stderr
    assert "  hint: " in answer.stderr


def test_second_slipway_in_the_same_folder_is_told(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    (recipe / "build.sh").write_text("sleep 5; mkdir $PREFIX/x; touch $PREFIX/x/y\n", encoding="utf-8")
    dist = tmp_path / "dist"
    with subprocess.Popen(
        [str(CHECKOUT / "slipway"), "ship", str(recipe), "--dist", str(dist)], stdout=subprocess.DEVNULL
    ) as first:
        while not list((dist / "logs").glob("tiny-*.log")):
            assert first.poll() is None
            time.sleep(0.05)
        answer = slipway("ship", recipe, "--dist", dist)
        assert answer.returncode == 13
        assert "another slipway is at work" in answer.stderr
        first.send_signal(signal.SIGINT)


def test_interrupt_then_again(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    first_try = tmp_path / "first-try"
    script = f"if [ ! -e {first_try} ]; then touch {first_try}; sleep 100; fi; mkdir $PREFIX/x; touch $PREFIX/x/y\n"
    (recipe / "build.sh").write_text(script, encoding="utf-8")
    dist = tmp_path / "dist"
    words = ("ship", str(recipe), "--dist", str(dist), "--isolation", "off")  # no sandbox: scripts leave a mark here
    command = [str(CHECKOUT / "slipway"), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not first_try.exists():
            assert process.poll() is None
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "goes on from here" in errors
    assert slipway(*words).returncode == 0


def test_full_disk(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    """A file size limit makes writes fail as a full disk does."""
    script = f"ulimit -f 8; trap '' XFSZ; exec {CHECKOUT / 'slipway'} ship {recipe} --dist {tmp_path / 'dist'}"
    (recipe / "build.sh").write_text("mkdir $PREFIX/x; yes | head -c 1000000 > $PREFIX/x/y\n", encoding="utf-8")
    answer = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert answer.returncode in (8, 10), answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr
    assert slipway("ship", recipe, "--dist", tmp_path / "dist").returncode == 0


def test_verify_and_publish(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    assert slipway("verify", "--dist", dist).returncode == 0
    target = tmp_path / "mirror"
    assert slipway("publish", "--dist", dist, "--to", target).returncode == 0
    assert len(list(target.glob("linux-64/tiny-*.conda"))) == 1
    package = next(target.glob("linux-64/tiny-*.conda"))
    damaged = tmp_path / package.name
    shutil.copyfile(package, damaged)
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    answer = slipway("verify", damaged)
    assert answer.returncode == 6, answer.stdout + answer.stderr
    assert "error: the package is damaged" in answer.stderr
