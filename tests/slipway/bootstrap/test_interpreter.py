"""Which interpreters can be packaged, and how their prefix is taken out of files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from slipway.base import errors
from slipway.base.proc import Processes
from slipway.bootstrap.interpreter import Interpreter, find_interpreter

PYTHON = Interpreter(
    "3.11", "3.11.7", Path("/home/me/versions/3.11.7"), Path("/home/me/versions/3.11.7/bin/python3.11")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"prefix=/home/me/versions/3.11.7\n", b"prefix=@\n"),
        (b"-L/home/me/versions/3.11.7/lib -I'/home/me/versions/3.11.7'", b"-L@/lib -I'@'"),
        (b"/home/me/versions/3.11.70/lib", b"/home/me/versions/3.11.70/lib"),
    ],
)
def test_text_gets_the_placeholder(text: bytes, expected: bytes) -> None:
    assert PYTHON.relocate("file", text, "@") == expected


def test_binaries_keep_lengths_and_the_shared_end() -> None:
    """A linker may let "3.11.7" be the end of the prefix's string."""
    content = b"\x7fELF\0/home/me/versions/3.11.7\0/home/me/versions/3.11.7/lib\0"
    changed = PYTHON.relocate("file", content, "@")
    assert len(changed) == len(content)
    assert changed == b"\x7fELF\0/________________/3.11.7\0/________________/3.11.7/lib\0"


def fake_python(folder: Path, *, prefix: str, shared: bool, scheme: str = "/lib/python3.9/site-packages") -> None:
    facts = (
        f'{{"version": "3.9", "full_version": "3.9.1", "implementation": "cpython", "prefix": "{prefix}", '
        f'"library": "", "shared": {str(shared).lower()}, "scheme": "{scheme}"}}'
    )
    program = folder / "python3.9"
    program.write_text(f"#!/bin/sh\necho '{facts}'\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("prefix", "shared", "scheme", "message"),
    [
        (
            "/usr",
            True,
            "/lib/python3.9/site-packages",
            "this is the system's own Python 3.9, and only 3.11 can be made",
        ),
        (
            "/somewhere",
            True,
            "/lib/python3/dist-packages",
            "this is the system's own Python 3.9, and only 3.11 can be made",
        ),
        ("/somewhere", False, "/lib/python3.9/site-packages", "this Python 3.9 has no shared library"),
        ("/somewhere", True, "/lib/python3.9/site-packages", "this Python 3.9 has no shared library"),
    ],
)
def test_what_cannot_be_packaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefix: str, shared: bool, scheme: str, message: str
) -> None:
    fake_python(tmp_path, prefix=prefix, shared=shared, scheme=scheme)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(errors.HostError) as caught:
        find_interpreter("3.9", Processes(), debian_python="3.11")
    assert caught.value.message.startswith(message)
    assert caught.value.hint is not None


def test_debians_own_python_is_made_from_debians_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_python(tmp_path, prefix="/usr", shared=False, scheme="/local/lib/python3.9/dist-packages")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = find_interpreter("3.9", Processes(), debian_python="3.9")
    assert (found.debian, found.full_version) == (True, "3.9.1")
    assert len(found.fingerprint) == 64


def test_a_version_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(errors.HostError, match=r"there is no Python 3\.9 on this machine"):
        find_interpreter("3.9", Processes(), debian_python="3.11")


def test_the_running_interpreter_is_found() -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = find_interpreter(version, Processes(), debian_python="3.11")
    assert found.prefix == Path(sys.base_prefix)
    assert found.full_version == sys.version.split()[0]
    assert found.program.exists()
