"""slipway as a wheel in an environment of its own, used in a repository that is not this one."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

import pytest

from slipway.base.platform import LINUX_64
from slipway.channel.package import unpack_package
from slipway.recipe import load_recipe, render

from ..slipway.solved_channel import write_channel
from .conftest import CHECKOUT, Slipway

if TYPE_CHECKING:
    from pathlib import Path

EMBEDDED = frozenset({"python", "packaging", "patchelf", "pathspec", "pip"})
"""What slipway requires and the embedded channel has."""

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "counts"
version = "1.2"
license = "MIT"
requires-python = ">=3.10"
dependencies = ["packaging"]
[tool.setuptools]
py-modules = ["counts"]
"""
HATCHLING = PYPROJECT.replace("setuptools.build_meta", "hatchling.build").replace("setuptools", "hatchling")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, with what its wheel requires."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install", "-q"]
    subprocess.run([*pip, str(CHECKOUT)], check=True)
    return folder / "bin/slipway"


def run(*words: str | Path, cwd: Path) -> str:
    """What a program prints, the checkout out of its sight."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SLIPWAY"))}
    answer = subprocess.run(
        list(map(str, words)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.mark.network
@pytest.mark.parametrize(("project", "with_git"), [(PYPROJECT, True), (HATCHLING, False)])
def test_a_project_gets_a_recipe_and_ships(installed: Path, tmp_path: Path, project: str, with_git: bool) -> None:
    (tmp_path / "pyproject.toml").write_text(project, encoding="utf-8")
    (tmp_path / "counts.py").write_text("import packaging\n", encoding="utf-8")
    (tmp_path / "LICENSE").write_text("Do as you like.\n", encoding="utf-8")
    if with_git:
        run("git", "init", "-q", ".", cwd=tmp_path)
    assert "recipe/meta.yaml: written" in run(installed, "init", cwd=tmp_path)
    assert "counts   1.2" in run(installed, "ship", "recipe", cwd=tmp_path)
    assert "up to date" in run(installed, "ship", "recipe", cwd=tmp_path), "what it was built to is no source of it"
    assert [path.name for path in tmp_path.glob("dist/channel/noarch/*.conda")] == ["counts-1.2-py_0.conda"]


def test_slipway_makes_its_own_conda_package(slipway: Slipway, tmp_path: Path) -> None:
    """What it requires are empty packages here: the embedded channel lacks most of it, conda-forge has all."""
    (output,) = render(load_recipe(CHECKOUT / "ci/recipe"), platform=LINUX_64, environ={})
    required = [spec.partition(" ") for spec in output.requirements.run]
    stubs = {name: {"version": version.lstrip("=") or "1"} for name, _, version in required if name not in EMBEDDED}
    channel = write_channel(tmp_path / "stubs", stubs)
    dist = tmp_path / "dist"
    answer = slipway("ship", CHECKOUT / "ci/recipe", "--dist", dist, "-c", channel.url, "-c", "embedded")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    (package,) = dist.glob("channel/noarch/slipway-*.conda")
    with unpack_package(package) as folder:
        program = "from slipway.__main__ import run; run()"
        places = os.pathsep.join([str(folder / "site-packages"), *site.getsitepackages()])
        words = [sys.executable, "-P", "-c", program, "--version"]
        version = subprocess.run(
            words, env={"PYTHONPATH": places}, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert version.stdout.startswith(f"slipway {output.version} (py-rattler-build ")
        assert json.loads((folder / "info/link.json").read_bytes())["noarch"]["entry_points"] == [
            "slipway = slipway.__main__:run"
        ]
