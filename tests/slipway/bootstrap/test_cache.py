"""The cache: one slipway at a time, nothing half written, full disks told apart."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from slipway.base import errors, log
from slipway.bootstrap.cache import Cache, typed_disk_errors

HOLDER = """
import sys, pathlib
from slipway.base import log
from slipway.bootstrap.cache import Cache
with Cache(pathlib.Path(sys.argv[1])).exclusive(log.NullReporter()):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_slipway_is_waited_for_and_then_busy(tmp_path: Path) -> None:
    said: list[str] = []

    class Reporter(log.NullReporter):
        def line(self, text: str) -> None:
            said.append(text)

    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(errors.BusyError), Cache(tmp_path).exclusive(Reporter(), patience=0.3):
            pass
        holder.communicate("")
    assert said == [f"waiting for another slipway that works in {tmp_path}"]
    with Cache(tmp_path).exclusive(Reporter(), patience=0):
        assert (tmp_path / "work").is_dir()


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "work" / "left").mkdir(parents=True)
    cache = Cache(tmp_path)
    with cache.exclusive(log.NullReporter()):
        assert not (tmp_path / "work" / "left").exists()
        with cache.scratch() as scratch:
            (scratch / "file").touch()
        assert not scratch.exists()
    assert not (tmp_path / "work").exists()


def test_a_full_device_is_a_disk_full_error(tmp_path: Path) -> None:
    with pytest.raises(errors.DiskFullError) as caught, typed_disk_errors(tmp_path):
        Path("/dev/full").write_bytes(b"x")
    assert caught.value.hint is not None
    assert "XDG_CACHE_HOME" in caught.value.hint


def test_other_errors_stay(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught, typed_disk_errors(tmp_path):  # noqa: PT011
        raise OSError(errno.EIO, "broken")
    assert caught.value.errno == errno.EIO
