"""Files are whole or not there, locks are held by one process, digests are of what lies on the disk."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from slipway.base.checkout import PACKAGE_ROOT
from slipway.base.errors import BusyError, DiskFullError
from slipway.base.files import (
    RememberedHashes,
    copy_file,
    disk_errors,
    find_full_disk,
    hash_file,
    is_disk_full,
    link_or_copy,
    move_folder,
    replace_file,
    says_disk_full,
    write_file,
)
from slipway.base.locks import hold_lock, read_lock_owner


def test_a_full_disk_is_named_with_what_was_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "the-source")

    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"x" * 1234)
    for change, refused, size in (
        (lambda: write_file(target, b"y" * 1234), "pathlib.Path.write_bytes", "1.2 kB"),
        (lambda: copy_file(source, target), "shutil.copyfile", "1.2 kB"),
        (lambda: link_or_copy(source, target), "os.link", None),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(refused, refuse)
            with pytest.raises(OSError, match="No space left") as caught:
                change()
        assert caught.value.filename == str(target)
        expected = [] if size is None else [f"{size} were to be written to {target}"]
        assert getattr(caught.value, "__notes__", []) == expected
        assert list(tmp_path.iterdir()) == [source]


def test_the_full_one_of_some_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = {str(tmp_path): 5 << 30, "/full": 4096}
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=room[str(path)]))
    assert find_full_disk([tmp_path, Path("/full")]) == Path("/full")
    assert find_full_disk([tmp_path]) is None


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.json"
    write_file(path, "één")
    assert path.read_bytes() == "één".encode()
    with replace_file(path) as beside:
        beside.write_bytes(b"half")
        assert path.read_bytes() == "één".encode(), "readers see the old one until the block ends"
    assert path.read_bytes() == b"half"
    assert list(path.parent.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_file(path, b"old")

    def be_interrupted() -> None:
        with replace_file(path) as beside:
            beside.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        be_interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_rights_that_the_user_gives(tmp_path: Path) -> None:
    write_file(tmp_path / "a", "text")
    (tmp_path / "b").write_text("text", encoding="utf-8")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_copy_is_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"bytes")
    copy_file(tmp_path / "a", tmp_path / "folder" / "b")
    assert (tmp_path / "folder" / "b").read_bytes() == b"bytes"
    assert not (tmp_path / "folder" / "b").samefile(tmp_path / "a")


def test_a_link_where_one_is_possible_else_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"bytes")
    link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").samefile(tmp_path / "a")

    def refuse(_path: Path, _target: Path) -> None:
        raise OSError(errno.EXDEV, "another disk")

    monkeypatch.setattr(os, "link", refuse)
    link_or_copy(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == b"bytes"


def test_of_two_folders_the_first_stays(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        move_folder(tmp_path / name, tmp_path / "place")
    assert (tmp_path / "place" / "file").read_text() == "first"
    assert not (tmp_path / "second").exists()


def test_digests(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"bytes")
    assert hash_file(tmp_path / "a") == hashlib.sha256(b"bytes").hexdigest()
    assert hash_file(tmp_path / "a", "md5") == hashlib.md5(b"bytes").hexdigest()


def test_hashes_are_remembered_for_as_long_as_the_file_is_the_same(tmp_path: Path) -> None:
    path, memory = tmp_path / "a", tmp_path / "memory"
    for content in (b"bytes", b"other", b"", b"bytes"):
        path.write_bytes(content)
        before = path.stat()
        for _ in range(2):
            hashes = RememberedHashes(memory)
            assert hashes.hash_file(path) == hashlib.sha256(content).hexdigest()
            hashes.save()
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    path.write_bytes(b"flips")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert RememberedHashes(memory).hash_file(path) == hashlib.sha256(b"flips").hexdigest()
    path.unlink()
    hashes = RememberedHashes(memory)
    memory.write_bytes(b"[")
    (tmp_path / "b").touch()
    hashes.hash_file(tmp_path / "b")
    hashes.save()
    assert list(json.loads(memory.read_bytes())) == [str(tmp_path / "b")]


HOLDER = """
import pathlib, sys
from slipway.base.locks import hold_lock
with hold_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_waited_for_and_tells_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    told: list[str] = []
    command = [sys.executable, "-c", HOLDER, str(path)]
    environment = {"PYTHONPATH": str(PACKAGE_ROOT)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BusyError), hold_lock(path):
            pass
        with pytest.raises(BusyError), hold_lock(path, patience=0.3, on_wait=lambda: told.append("waiting")):
            pass
        assert told == ["waiting"]
        assert read_lock_owner(path) == str(holder.pid)
        holder.communicate(b"")
    with hold_lock(path):
        assert read_lock_owner(path) == str(os.getpid())
    assert read_lock_owner(path) == ""


def test_a_full_disk_is_told_from_other_errors(tmp_path: Path) -> None:
    with pytest.raises(DiskFullError, match="no room"), disk_errors("no room", where=tmp_path, hint="make some"):
        Path("/dev/full").write_bytes(b"x")
    with pytest.raises(OSError, match="broken"), disk_errors("no room", where=tmp_path, hint="make some"):
        raise OSError(errno.EIO, "broken")
    assert is_disk_full(OSError(errno.EDQUOT, ""))
    assert not is_disk_full(ValueError())
    assert says_disk_full("cp: x: No space left on device")
    assert not says_disk_full("no space between words")
