"""slipway as a wheel in an environment of its own, used in a repository that is not this one."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

import pytest

from .conftest import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

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
