"""Folders for a while: gone after the block, and gone soon where a process was killed."""

import array
import contextlib
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slipway.base.scratch import remove_orphans, scratch_folder, spread_folders

HOLD = """
import sys
from pathlib import Path
from slipway.base.scratch import scratch_folder
with scratch_folder("held", below=Path(sys.argv[1])) as folder:
    (folder / "inner").mkdir()
    print(folder, flush=True)
    sys.stdin.read()
"""


def hold(below: Path) -> tuple["subprocess.Popen[str]", Path]:
    """Another process that holds a folder until its input ends."""
    command = [sys.executable, "-P", "-c", HOLD, str(below)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip()).parent


def test_nothing_stays_after_the_block_nor_after_an_error(tmp_path: Path) -> None:
    with scratch_folder("trial", below=tmp_path) as folder:
        (folder / "file").write_text("x")
        assert folder.parent.parent == tmp_path
    with pytest.raises(KeyboardInterrupt), scratch_folder("trial", below=tmp_path):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_the_next_one_removes_what_a_killed_process_left_and_nothing_else(tmp_path: Path) -> None:
    process, left = hold(tmp_path)
    held, kept = hold(tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    others = [tmp_path / name for name in ("slipway-build", "slipway-my-12345678", "other-abcdefgh.scratch")]
    for path in others:
        path.mkdir()
    remove_orphans(tmp_path)
    assert left.is_dir(), "it may be one that is just being made"
    for path in (left, kept, *others):
        os.utime(path, (0, 0))
    with scratch_folder("next", below=tmp_path) as folder:
        assert {*tmp_path.iterdir()} == {kept, folder.parent, *others}
    held.communicate("")
    assert held.returncode == 0
    assert {*tmp_path.iterdir()} == {*others}


def test_a_link_of_that_name_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "mine"
    (target / "file").mkdir(parents=True)
    link = tmp_path / "slipway-link-abcdefgh.scratch"
    link.symlink_to(target)
    remove_orphans(tmp_path, young=-1)
    assert link.is_symlink()
    assert (target / "file").is_dir()


def test_folders_are_spread_where_the_file_system_can(tmp_path: Path) -> None:
    spread_folders(tmp_path)
    spread_folders(tmp_path)
    asked = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], text=True, capture_output=True, check=True)
    flags = array.array("i", [0])
    descriptor = os.open(tmp_path, os.O_RDONLY)
    with contextlib.suppress(OSError):  # tmpfs and others have none
        fcntl.ioctl(descriptor, 0x80086601, flags)
    os.close(descriptor)
    assert bool(flags[0] & 0x20000) == (asked.stdout.strip() == "ext2/ext3")  # its name for ext4, too
    (tmp_path / "folder").mkdir()
