"""`pip install .` at the top of the checkout installs slipway, all of it and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from slipway import __version__
from slipway.base.platform import LINUX_64
from slipway.recipe import load_recipe, render

CHECKOUT = Path(__file__).resolve().parents[2]
HELLO = CHECKOUT / "tests/integration/recipes/hello"
PYPROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_lock_holds_what_the_package_requires() -> None:
    lock = (CHECKOUT / "ci/requirements.lock").read_text(encoding="utf-8")
    locked = dict(re.findall(r"(?m)^([\w.-]+)==(\S+)", lock))
    required = {Requirement(text).name.lower(): Requirement(text) for text in PYPROJECT["project"]["dependencies"]}
    for name, requirement in required.items():
        assert name in locked, f"run ci/lock.sh: {name} is not in ci/requirements.lock"
        assert locked[name] in requirement.specifier, "run ci/lock.sh"
    direct = re.findall(r"(?m)^([\w.-]+)==(?:(?!^\S)[\s\S])*?via[^\n]*(?:\n +#[^\n]*)*pyproject", lock)
    assert set(direct) == set(required), "the lock was made from another list: run ci/lock.sh"


def test_the_conda_package_is_the_same_and_requires_the_same() -> None:
    recipe = CHECKOUT / "ci/recipe"
    (output,) = render(load_recipe(recipe), platform=LINUX_64, environ={})
    assert output.version == __version__
    required = (Requirement(text) for text in PYPROJECT["project"]["dependencies"])
    wanted = {f"{one.name.lower()} {one.specifier}".strip() for one in required}
    assert set(output.requirements.run) == wanted | {f"python {PYPROJECT['project']['requires-python']}"}


def files_of_the_package() -> set[str]:
    """What git has, or would have, of ci/slipway, as `import slipway` sees it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "slipway"]
    listed = subprocess.run(command, cwd=CHECKOUT / "ci", capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (CHECKOUT / "ci" / name).is_file()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(folder), str(CHECKOUT)]
    subprocess.run(command, check=True)
    (path,) = folder.glob("slipway-*.whl")
    return path


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program, the checkout out of its sight."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd), "LANG": "C.UTF-8"}
    return subprocess.run(list(map(str, words)), cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.network
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        facts = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "slipway = slipway.__main__:run" in archive.read(facts).decode()
    assert names == files_of_the_package()


@pytest.mark.network
def test_installed_it_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "-q", wheel], check=True)
    slipway = tmp_path / "venv/bin/slipway"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "commands:" in run(slipway, "--help", cwd=elsewhere).stdout
    rendered = run(slipway, "render", HELLO, cwd=elsewhere)
    assert "linux-64/libhello-1.2-" in rendered.stdout, rendered.stderr
    looked = run(slipway, "doctor", "--json", cwd=elsewhere)
    assert str(elsewhere) in looked.stdout, looked.stderr
    shipped = run(slipway, "verify", "--help", cwd=elsewhere)
    assert shipped.returncode == 0, shipped.stderr
    for words in (["test", "lint"], ["bench"], ["cleanroom"], ["ci", "truth"]):
        refused = run(slipway, *words, cwd=elsewhere)
        assert refused.returncode == 2, refused.stderr
        assert "needs a checkout of slipway's repository" in refused.stderr


@pytest.mark.network
def test_an_editable_install_is_the_checkout(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    command = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--editable", CHECKOUT]
    subprocess.run(command, check=True)
    program = "import slipway.base.checkout as it; print(it.find_checkout())"
    assert run(python, "-c", program, cwd=tmp_path).stdout == f"{CHECKOUT}\n"
