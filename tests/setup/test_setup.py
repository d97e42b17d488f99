"""setup.py: versions, the check before the build, the call of CMake, links into site-packages, cleaning."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    specification = importlib.util.spec_from_file_location("torch_setup", SOURCE / "setup.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["torch_setup"] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH with what the check looks for; each does the least that it asks."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, text in {
        "cmake": "echo cmake version 3.28.1",
        "ninja": "exit 0",
        "c++": "exit 0",  # finds every header
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def test_versions(setup: Any) -> None:
    written = (SOURCE / "version.txt").read_text(encoding="utf-8").strip()
    assert setup.package_version({}, None) == written
    assert setup.package_version({}, "0123456789abcdef") == f"{written}+git0123456"
    assert setup.package_version({"TORCH_BUILD_VERSION": "2.2.0"}, "0123456789abcdef") == "2.2.0"


def test_a_folder_without_git_has_no_commit(setup: Any, tmp_path: Path) -> None:
    assert setup.git_commit(tmp_path) is None


def test_nothing_is_missing(setup: Any, tools: Path) -> None:
    assert list(setup.find_missing({"PATH": str(tools)})) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("cmake", None, ["cmake is not on PATH"]),
        ("cmake", "echo cmake version 3.16.3", ["cmake 3.16.3 is too old: 3.24 or later is needed"]),
        ("ninja", None, ["neither ninja nor make is on PATH"]),
        ("c++", None, ["the C++ compiler `c++` is not on PATH"]),
        ("c++", "exit 1", ["no BLAS: none of mkl.h, cblas.h is found", "Google Highway (hwy/highway.h) is not found"]),
    ],
)
def test_missing_things_are_named(setup: Any, tools: Path, name: str, text: str | None, expected: list[str]) -> None:
    (tools / name).unlink()
    if text is not None:
        (tools / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    missing = list(setup.find_missing({"PATH": str(tools)}))
    assert [item.what for item in missing] == expected
    assert all(item.hint for item in missing)
    with pytest.raises(setup.PreflightError) as caught:
        setup.preflight({"PATH": str(tools)})
    assert all(item in str(caught.value) for item in expected)


def test_headers_are_found_in_prefixes(setup: Any, tools: Path, tmp_path: Path) -> None:
    (tools / "c++").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    for header in ("include/openblas/cblas.h", "include/hwy/highway.h", "include/eigen3/unsupported/Eigen/FFT"):
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).touch()
    environment = {"PATH": str(tools), "CMAKE_PREFIX_PATH": str(tmp_path)}
    assert list(setup.find_missing(environment)) == []
    assert [item.what for item in setup.find_missing({**environment, "TORCH_BLAS": "MKL"})] == [
        "no BLAS: none of mkl.h is found"
    ]


def test_what_cmake_is_told(setup: Any, tools: Path) -> None:
    command = setup.configure_command(
        {"PATH": str(tools), "TORCH_BUILD_VERSION": "2.2.0", "DEBUG": "1", "CMAKE_ARGS": "-DA=1 '-DB=two words'"}, "abc"
    )
    assert command[:7] == ["cmake", "-S", str(SOURCE), "-B", str(SOURCE / "build"), "-G", "Ninja"]
    assert {"-DTORCH_BUILD_VERSION=2.2.0", "-DTORCH_GIT_VERSION=abc", "-DCMAKE_BUILD_TYPE=Debug"} <= set(command)
    assert command[-2:] == ["-DA=1", "-DB=two words"]


def test_links_a_checkout_once(setup: Any, tmp_path: Path) -> None:
    distribution = setup.BinaryDistribution({"name": "torch", "version": "2.2.0a0"})
    link = setup.link_checkout(tmp_path, distribution)
    assert link.read_text(encoding="utf-8") == f"{SOURCE}\n"
    setup.link_checkout(tmp_path, distribution)  # again: replaces what was there
    (info,) = tmp_path.glob("*.dist-info")
    recorded = {line.split(",")[0] for line in (info / "RECORD").read_text(encoding="utf-8").splitlines()}
    assert recorded == {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert "Name: torch" in (info / "METADATA").read_text(encoding="utf-8")
    (info / "direct_url.json").unlink()
    with pytest.raises(SystemExit, match="pip uninstall torch"):
        setup.link_checkout(tmp_path, distribution)


def test_the_commands_are_there() -> None:
    answer = subprocess.run(
        [sys.executable, "setup.py", "--help-commands"], cwd=SOURCE, capture_output=True, text=True, check=True
    )
    for name in (
        "build_deps",
        "build_py",
        "build_ext",
        "build",
        "install",
        "develop",
        "rebuild",
        "clean",
        "bdist_wheel",
    ):
        assert f"\n  {name} " in answer.stdout


def test_a_build_that_cannot_succeed_does_not_start(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "setup.py", "build_deps"],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path)},
    )
    assert answer.returncode == 1
    assert "torch cannot be built here:\n- cmake is not on PATH\n  hint: pip install cmake" in answer.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("raise ImportError('none here')", " has no setuptools"),
        ("__version__ = '65.5.0'", "- setuptools 65.5.0 is too old: 70.1 or later is needed"),
    ],
)
def test_a_venv_without_setuptools_says_so(tmp_path: Path, text: str, expected: str) -> None:
    """`python -m venv` brings no setuptools, or an old one: no traceback, and the rest of the list with it."""
    (tmp_path / "setuptools.py").write_text(text, encoding="utf-8")
    answer = subprocess.run(
        [sys.executable, "setup.py", "develop"],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path)},
    )
    assert answer.returncode == 1
    assert answer.stderr.startswith("torch cannot be built here:\n- ")
    assert expected in answer.stderr
    assert "-m pip install" in answer.stderr
    assert "cmake is not on PATH" in answer.stderr
    assert "Traceback" not in answer.stderr
