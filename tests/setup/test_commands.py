"""setup.py's commands and pip, run for real on a project of the same shape whose libraries compile in no time.

Setuptools, CMake, the compiler and pip are the machine's own. Only compiling is short: torch's own CMake is what
`slipway ship` builds and tests.
"""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"
PROJECT = Path(__file__).parent / "project"
PROGRAM = "import torch; print(torch.answer(), torch.__file__)"

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        not all(map(shutil.which, ("cmake", "ninja", "c++"))), reason="needs CMake, Ninja and a compiler on PATH"
    ),
]


class Checkout:
    """A copy of the project, and an environment of its own to install it into."""

    def __init__(self, folder: Path) -> None:
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        self.root = folder / "src"
        shutil.copytree(PROJECT, self.root)
        for name in ("setup.py", "build_requirements.py", "pyproject.toml"):
            shutil.copy(SOURCE / name, self.root)
        self.prefix = folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.prefix], check=True)
        self.python = self.prefix / "bin" / "python"
        # pip, setuptools and PyYAML are those of the environment that runs the tests.
        (self.site_packages / "tools.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
        # What setup.py looks for and the project does not use.
        for header in ("cblas.h", "hwy/highway.h", "unsupported/Eigen/FFT"):
            (folder / "headers" / "include" / header).parent.mkdir(parents=True, exist_ok=True)
            (folder / "headers" / "include" / header).touch()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CMAKE", "TORCH"))}
        self.environment = {**kept, "CMAKE_PREFIX_PATH": str(folder / "headers"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.as_written = self.files(self.root)
        self.bare = self.files(self.prefix)

    @property
    def site_packages(self) -> Path:
        (folder,) = self.prefix.glob("lib/python*/site-packages")
        return folder

    @staticmethod
    def files(folder: Path) -> set[Path]:
        return {path for path in folder.rglob("*") if path.is_file()}

    def run(self, *words: str | Path, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, *words],
            cwd=cwd or self.root,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def setup(self, *words: str, **variables: str) -> str:
        completed = self.run("setup.py", *words, **variables)
        assert completed.returncode == 0, completed.stdout + completed.stderr
        assert "Deprecat" not in completed.stderr
        return completed.stdout

    def pip(self, *words: str) -> str:
        completed = self.run("-m", "pip", "--disable-pip-version-check", *words)
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout

    def imported(self, **variables: str) -> tuple[int, Path]:
        """What the library answers and where the package lies, seen from a folder that has nothing to do with it."""
        completed = self.run("-c", PROGRAM, cwd=self.elsewhere, **variables)
        assert completed.returncode == 0, completed.stderr
        answer, path = completed.stdout.split(maxsplit=1)
        return int(answer), Path(path.strip()).parent

    def uninstall(self) -> None:
        self.pip("uninstall", "--yes", "torch")
        assert self.files(self.prefix) == self.bare


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_develop_rebuild_clean(checkout: Checkout) -> None:
    """The life of a developer's checkout: nothing is copied, a change is compiled, nothing is left behind."""
    assert "nothing was built yet" in checkout.run("setup.py", "rebuild").stderr
    assert "torch/version.py is missing" in checkout.run("setup.py", "build_py").stderr
    checkout.setup("develop")
    assert checkout.imported() == (41, checkout.root / "torch")
    time.sleep(1.1)  # for `cmake --install`, files whose times differ by less than a second are the same
    (checkout.root / "answer.txt").write_text("42\n", encoding="utf-8")
    assert "Building C object" in checkout.setup("rebuild")
    assert checkout.imported()[0] == 42
    assert "Building C object" not in checkout.setup("rebuild")
    checkout.setup("develop")  # again: replaces the link
    checkout.uninstall()
    checkout.setup("clean")
    assert checkout.files(checkout.root) == checkout.as_written
    checkout.setup("clean")  # of nothing


def test_one_part_after_the_other(checkout: Checkout) -> None:
    """build_deps makes the libraries, build_ext the bindings, build_py gathers; `build` does all three."""
    lib = checkout.root / "torch" / "lib"
    checkout.setup("build_deps")
    assert (lib / "libtorch.so").is_file()
    assert not (lib / "libtorch_python.so").exists()
    checkout.setup("build_ext")
    assert (lib / "libtorch_python.so").is_file()
    checkout.setup("build_py")
    package = checkout.root / "build" / "package"
    assert checkout.imported(PYTHONPATH=str(package)) == (41, package / "torch")
    (package / "torch" / "left_over.py").touch()
    checkout.setup("build")
    assert not (package / "torch" / "left_over.py").exists()
    assert (package / "torch" / "lib" / "include" / "answer.txt").is_file()


def test_wheels_and_installs(checkout: Checkout) -> None:
    installed = checkout.site_packages / "torch"
    checkout.setup("bdist_wheel")
    (wheel,) = (checkout.root / "dist").glob("*.whl")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.startswith(f"torch-2.13.0a0-{tag}-{tag}-linux_")
    checkout.pip("install", "--no-deps", str(wheel))
    assert checkout.imported() == (41, installed)
    checkout.uninstall()
    checkout.setup("install", TORCH_BUILD_VERSION="2.2.0")
    assert checkout.imported() == (41, installed)
    assert (checkout.site_packages / "torch-2.2.0.dist-info").is_dir()
    checkout.uninstall()
    prefix = checkout.root.parent / "prefix"
    checkout.setup("install", "--prefix", str(prefix))
    (packages,) = prefix.glob("lib/python*/site-packages")
    assert checkout.imported(PYTHONPATH=str(packages)) == (41, packages / "torch")
    assert checkout.files(checkout.prefix) == checkout.bare


def test_pip(checkout: Checkout) -> None:
    """As `pip install .`, and in place; without isolation, so that nothing is downloaded."""
    checkout.pip("install", "--no-deps", "--no-build-isolation", ".")
    assert checkout.imported() == (41, checkout.site_packages / "torch")
    checkout.uninstall()
    checkout.pip("install", "--no-deps", "--no-build-isolation", "--editable", ".")
    assert checkout.imported() == (41, checkout.root / "torch")
    time.sleep(1.1)  # for `cmake --install`, files whose times differ by less than a second are the same
    (checkout.root / "answer.txt").write_text("43\n", encoding="utf-8")
    checkout.setup("rebuild")
    assert checkout.imported()[0] == 43
    checkout.uninstall()


def test_failures_are_told_and_install_nothing(checkout: Checkout) -> None:
    """pip's editable install must not swallow that the build failed, nor what is missing."""
    (checkout.root / "binding.c").write_text("#error this cannot be compiled\n", encoding="utf-8")
    words = ("-m", "pip", "install", "--no-deps", "--no-build-isolation", "--editable", ".")
    completed = checkout.run(*words)
    assert completed.returncode != 0
    assert "this cannot be compiled" in completed.stdout + completed.stderr
    completed = checkout.run(*words, PATH=str(checkout.elsewhere))
    assert completed.returncode != 0
    assert "cmake is not on PATH" in completed.stdout + completed.stderr
    assert checkout.files(checkout.prefix) == checkout.bare
