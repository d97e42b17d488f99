"""The launcher: makes its environment once, from the lock, and says what is missing."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from .conftest import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The parts of a checkout that the launcher needs, with a lock that is quick to install."""
    folder = tmp_path / "a clone"
    (folder / "ci/slipway").mkdir(parents=True)
    shutil.copy(CHECKOUT / "slipway", folder)
    (folder / "ci/slipway/__init__.py").touch()
    (folder / "ci/slipway/__main__.py").write_text(
        "import sys\nprint('arguments:', *sys.argv[1:])\nprint('path:', sys.path[0])\n", encoding="utf-8"
    )
    (folder / "ci/requirements.lock").write_text("", encoding="utf-8")
    return folder


def launch(clone: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the clone's launcher."""
    return subprocess.run(
        [str(clone / "slipway"), *words], env=os.environ | variables, capture_output=True, text=True, check=False
    )


def test_first_use_makes_the_environment_and_later_uses_are_quick(clone: Path) -> None:
    first = launch(clone, "plan", "--matrix", "--json")
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines() == ["arguments: plan --matrix --json", f"path: {clone / 'ci'}"]
    assert "Making .venv" in first.stderr
    started = time.monotonic()
    second = launch(clone, "plan", "--matrix")
    assert time.monotonic() - started < 2.0
    assert "Making .venv" not in second.stderr


def test_changed_lock_makes_it_anew(clone: Path) -> None:
    launch(clone)
    (clone / "ci/requirements.lock").write_text("# other\n", encoding="utf-8")
    assert "Making .venv" in launch(clone).stderr
    assert "Making .venv" not in launch(clone).stderr


def test_works_through_a_link_and_from_anywhere(clone: Path, tmp_path: Path) -> None:
    link = tmp_path / "sl"
    link.symlink_to(clone / "slipway")
    answer = subprocess.run([str(link), "x"], cwd="/", capture_output=True, text=True, check=True)
    assert answer.stdout.startswith("arguments: x\n")


def test_callers_python_settings_do_not_reach_it(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "slipway.py").write_text("raise SystemExit('wrong module')", encoding="utf-8")
    answer = launch(clone, PYTHONPATH=str(tmp_path), PYTHONSTARTUP=str(tmp_path / "slipway.py"))
    assert answer.returncode == 0, answer.stderr


def test_uninstallable_lock_leaves_nothing_behind(clone: Path) -> None:
    bad_hash = "sha256:" + "0" * 64
    (clone / "ci/requirements.lock").write_text(f"packaging==26.3 --hash={bad_hash}\n", encoding="utf-8")
    answer = launch(clone)
    assert answer.returncode == 5
    assert "error: the packages of ci/requirements.lock could not be installed" in answer.stderr
    assert [path.name for path in clone.iterdir() if path.name.startswith(".venv")] == []


def test_old_python_is_named(clone: Path, tmp_path: Path) -> None:
    fake = tmp_path / "python3"
    fake.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    answer = launch(clone, SLIPWAY_PYTHON=str(fake))
    assert answer.returncode == 11
    assert "error: no Python 3.11 or newer on PATH" in answer.stderr
    assert "  hint: install one" in answer.stderr


def test_launcher_is_posix_sh() -> None:
    shell = next(filter(None, map(shutil.which, ("dash", "busybox", "sh"))))
    assert subprocess.run([shell, "-n", str(CHECKOUT / "slipway")], check=False).returncode == 0


@pytest.mark.parametrize("seconds", [0.0, 0.3, 1.0])
def test_killed_while_it_makes_the_environment(clone: Path, seconds: float) -> None:
    """As the kernel would: what it leaves is in nobody's way, and the next run takes it away."""
    lock = (CHECKOUT / "ci/requirements.lock").read_text(encoding="utf-8")
    (clone / "ci/requirements.lock").write_text(lock, encoding="utf-8")
    process = subprocess.Popen([str(clone / "slipway")], stderr=subprocess.DEVNULL, start_new_session=True)
    while not list(clone.glob(".venv*")):
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert [path.name for path in clone.glob(".venv*")] == [f".venv.partial.{process.pid}"]
    (clone / "ci/requirements.lock").write_text("", encoding="utf-8")
    assert launch(clone).returncode == 0
    assert [path.name for path in clone.glob(".venv*")] == [".venv"]
