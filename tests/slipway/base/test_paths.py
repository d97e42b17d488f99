"""The workspace: stable paths, and one slipway at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.errors import HostError
from slipway.base.paths import Workspace

PROGRAM = """
import pathlib, sys
from slipway.base.errors import BusyError
from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.paths import Workspace
try:
    with Workspace(pathlib.Path(sys.argv[1])).lock():
        print("locked")
except BusyError as error:
    print(error.message, error.hint)
"""


def _lock_elsewhere(folder: Path) -> str:
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    environment = {"PYTHONPATH": str(PACKAGE_ROOT)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_a_folder_of_other_things_is_not_taken_for_output(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file.c").touch()
    for name in ("dist", "other"):
        with Workspace(tmp_path / name).lock():
            assert (tmp_path / name / ".gitignore").exists() == (name == "dist")


def test_folder_that_cannot_be_made() -> None:
    with pytest.raises(HostError, match="the folder cannot be made"), Workspace(Path("/proc/none")).lock():
        pass


def test_second_slipway_is_kept_out_until_the_first_is_done(tmp_path: Path) -> None:
    with Workspace(tmp_path).lock():
        answer = _lock_elsewhere(tmp_path)
        assert answer.startswith(f"another slipway is at work there (process {os.getpid()}) ")
        assert answer.endswith("or give this one a folder of its own with --dist")
    assert _lock_elsewhere(tmp_path) == "locked"


def test_log_names_are_safe(tmp_path: Path) -> None:
    assert Workspace(tmp_path).log("a/b:c-1.0-h_0").name == "a_b_c-1.0-h_0.log"
