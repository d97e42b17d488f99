"""A recipe from a project: it says what the project's files say, and it renders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.platform import LINUX_64
from slipway.cli import main
from slipway.commands._project import read_project, write_recipe
from slipway.recipe import load_recipe, render

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.model import RenderedOutput

PYTHON = """
[build-system]
requires = ["setuptools>=61"]
[project]
name = "Counts_Things"
version = "1.2"
description = 'Counts "things"'
license = {text = "MIT"}
requires-python = ">=3.10"
scripts = {count = "counts_things:main"}
dependencies = ["packaging>=23,<99; sys_platform == 'linux'", "pywin32; sys_platform == 'win32'", "a[b]~=1.4"]
"""


def rendered(folder: Path) -> RenderedOutput:
    """The only output of the recipe that `init` writes."""
    assert main(["init", str(folder), "--quiet"]) == 0
    (output,) = render(load_recipe(folder / "recipe"), platform=LINUX_64, environ={})
    return output


def test_pure_python(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON, encoding="utf-8")
    (tmp_path / "LICENSE.txt").touch()
    (tmp_path / "src/counts_things").mkdir(parents=True)
    (tmp_path / "src/counts_things/__init__.py").touch()
    output = rendered(tmp_path)
    assert output.key == "counts_things-1.2-py_0"
    assert output.requirements.host == ("python >=3.10", "pip", "setuptools >=61")
    assert output.requirements.run == ("python >=3.10", "packaging >=23,<99", "a ~=1.4")
    assert output.test.imports == ("counts_things",)
    assert output.build["entry_points"] == ["count = counts_things:main"]
    assert output.about == {"summary": 'Counts "things"', "license": "MIT", "license_file": "LICENSE.txt"}


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ("", "ci/recipe"),
        ("[tool.setuptools]\npackages = ['counts_things']\n", "recipe"),
        ("[tool.setuptools.package-data]\ncounts_things = ['*.txt']\n", "ci/recipe"),
    ],
)
def test_where_setuptools_looks_for_packages(tmp_path: Path, more: str, place: str) -> None:
    (tmp_path / "pyproject.toml").write_text(PYTHON + more, encoding="utf-8")
    (tmp_path / "counts_things").mkdir()
    (tmp_path / "counts_things/__init__.py").touch()
    assert main(["init", str(tmp_path), "--quiet"]) == 0
    (output,) = render(load_recipe(tmp_path / place), platform=LINUX_64, environ={})
    source = tmp_path / place / str(output.sources[0].path)
    assert source.resolve() == tmp_path
    assert main(["init", str(tmp_path), "--quiet"]) == 2


def test_python_with_compiled_code(tmp_path: Path) -> None:
    text = PYTHON.replace("setuptools>=61", 'scikit-build-core", "pybind11')
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text("project(counts)\nenable_language(CUDA)\n", encoding="utf-8")
    project = read_project(tmp_path)
    assert project.languages == ("c", "cxx", "cuda")
    text = write_recipe(project)["meta.yaml"]
    assert "noarch" not in text
    assert "    - {{ compiler('cuda') }}\n    - {{ stdlib('c') }}\n    - cmake\n    - ninja\n" in text
    assert "    - python\n    - pip\n    - scikit-build-core\n    - pybind11\n" in text


@pytest.mark.parametrize(
    ("cmake", "languages"),
    [
        ("project(hello VERSION 0.4 LANGUAGES C)", ("c",)),
        ("project(hello VERSION 0.4)", ("c", "cxx")),
        ("project(hello VERSION 0.4 LANGUAGES CXX Fortran)", ("cxx", "fortran")),
        ("project(hello VERSION 0.4)\nfind_package(CUDAToolkit)", ("c", "cxx", "cuda")),
    ],
)
def test_cmake(tmp_path: Path, cmake: str, languages: tuple[str, ...]) -> None:
    (tmp_path / "CMakeLists.txt").write_text(cmake, encoding="utf-8")
    assert read_project(tmp_path).languages == languages
    output = rendered(tmp_path)
    assert (output.name, output.version) == ("hello", "0.4")
    assert output.requirements.build[-2:] == ("cmake", "ninja")


def test_nothing_is_written_over_and_nothing_made_of_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path)]) == 2
    assert "pyproject.toml or a CMakeLists.txt" in capsys.readouterr().err
    (tmp_path / "CMakeLists.txt").touch()
    assert main(["init", str(tmp_path), "--ci"]) == 0
    assert main(["init", str(tmp_path)]) == 2
    assert "there is a recipe already" in capsys.readouterr().err


def test_workflows_are_those_of_ci_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "CMakeLists.txt").write_text("project(hello VERSION 0.4)")
    workflow = tmp_path / ".github/workflows/packages.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text("mine\n")
    assert main(["init", str(tmp_path), "--ci"]) == 0
    assert "packages.yml: there already, and kept" in capsys.readouterr().out
    assert workflow.read_text() == "mine\n"
    workflow.unlink()
    monkeypatch.chdir(tmp_path)
    words = ["ci", "write", "recipe", "--github", "--to", str(tmp_path)]
    assert main([*words, "--check"]) == 2
    said = capsys.readouterr().out.splitlines()
    assert [line.partition("] ")[2] for line in said if not line.endswith(": fresh")] == [
        ".github/workflows/packages.yml: not fresh"
    ]
    assert main(words) == 0
    assert main([*words, "--check"]) == 0
