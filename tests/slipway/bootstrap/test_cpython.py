"""CPython from its sources: fetched, built once, and what is said where the sources cannot be had."""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.errors import HostError, NetworkError
from slipway.base.log import NullReporter
from slipway.bootstrap import cpython
from slipway.bootstrap.choices import CPythonSource, embedded_choices
from slipway.bootstrap.cpython import SourceBuild
from slipway.bootstrap.interpreter import Interpreter

if TYPE_CHECKING:
    from pathlib import Path

BUILD = 'mkdir -p "$PREFIX/bin" && cp program "$PREFIX/bin/python3.15" && echo "with $JOBS" >> "$PREFIX/../runs"\n'


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceBuild:
    """Sources of one file, whose script copies it; compilers are neither found nor needed."""
    (tmp_path / "program").write_text("#!/bin/sh\n")
    archive = tmp_path / "Python-3.15.1.tar.xz"
    with tarfile.open(archive, "w:xz") as members:
        members.add(tmp_path / "program", "Python-3.15.1/program")
    script = tmp_path / "build.sh"
    script.write_text(BUILD)
    monkeypatch.setattr(cpython, "SCRIPT", script)
    monkeypatch.setattr(cpython, "solve", lambda *_: None)

    def install(_: Any, prefix: Path, *__: Any) -> None:
        prefix.mkdir(parents=True)

    monkeypatch.setattr(cpython, "install", install)
    source = CPythonSource("3.15.1", archive.as_uri(), hashlib.sha256(archive.read_bytes()).hexdigest())
    return SourceBuild("3.15", source, tmp_path / "cache", lambda: "file:///nowhere", NullReporter(), None, False)


def test_it_is_built_once(build: SourceBuild) -> None:
    made = build.interpreter()
    prefix = build.folder / "prefix"
    assert made == Interpreter("3.15", "3.15.1", prefix, prefix / "bin" / "python3.15")
    assert build.interpreter() == made
    assert len((build.folder / "runs").read_text().splitlines()) == 1
    assert not (build.folder / "work").exists()
    assert "$ /bin/sh" in (build.folder / "build.log").read_text()


def test_what_was_cut_off_is_built_again(build: SourceBuild) -> None:
    build.interpreter()
    (build.folder / "done.json").unlink()
    build.interpreter()
    assert (build.folder / "done.json").exists()


def test_sources_that_do_not_compile(build: SourceBuild) -> None:
    cpython.SCRIPT.write_text("echo no header >&2; exit 3\n")
    with pytest.raises(HostError, match=r"building CPython 3\.15\.1 failed \(exit status 3\)") as caught:
        build.interpreter()
    assert "no header" in (caught.value.detail or "")
    assert not (build.folder / "done.json").exists()


def test_sources_that_cannot_be_had_say_which_file_is_wanted_and_where(build: SourceBuild) -> None:
    remote = replace(build.source, url="https://example.invalid/Python-3.15.1.tar.xz")
    away = replace(build, source=remote, offline=True)
    with pytest.raises(NetworkError) as caught:
        away.interpreter()
    assert caught.value.message == "there is no CPython 3.15 on this machine, and its sources cannot be fetched"
    assert caught.value.where == remote.url
    place = build.cache / "sources" / remote.sha256
    assert str(place) in (caught.value.hint or "")
    place.parent.mkdir(parents=True)
    place.write_bytes((build.cache.parent / "Python-3.15.1.tar.xz").read_bytes())
    assert away.interpreter().full_version == "3.15.1"


def test_every_python_of_the_channel_has_sources() -> None:
    settings = embedded_choices()
    assert settings.cpython.keys() == set(settings.pythons)
    for version, source in settings.cpython.items():
        assert source.version.startswith(f"{version}.")
        assert source.url.endswith(f"/Python-{source.version}.tar.xz")
        assert len(source.sha256) == 64
