"""Facts are read from real packages and real ELF files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.errors import IntegrityError
from slipway.verify.elf import read_elf
from slipway.verify.facts import list_libraries, read_package

if TYPE_CHECKING:
    from collections.abc import Callable

    from slipway.model import RenderedOutput
    from slipway.pipeline import Pipeline

pytestmark = pytest.mark.integration


def test_facts_of_a_real_package(
    make_output: Callable[..., RenderedOutput], make_pipeline: Callable[..., Pipeline]
) -> None:
    script = "mkdir -p $PREFIX/lib; echo $PREFIX > $PREFIX/lib/prefix.txt; echo 1 > $PREFIX/lib/liba.so.1\n"
    path = make_pipeline().run([make_output(script=script)], publish=False)[0].path
    facts = read_package(path)
    assert facts.index["name"] == "libtoy"
    assert facts.licence_files == ("LICENSE",)
    assert facts.unlisted == ()
    by_path = {entry.path: entry for entry in facts.files}
    assert by_path["lib/prefix.txt"].prefix_mode == "text"
    assert by_path["lib/prefix.txt"].leaked_path is None, "a declared prefix is no leak"
    assert all(entry.promised_sha256 == entry.actual_sha256 for entry in facts.files)
    assert list_libraries(path) == {"liba.so.1"}


def test_damaged_package(tmp_path: Path) -> None:
    path = tmp_path / "a-1-0.conda"
    path.write_bytes(b"PK\x03\x04 but not really")
    with pytest.raises(IntegrityError, match="damaged"):
        read_package(path)


def test_elf_facts_of_a_program() -> None:
    facts = read_elf(Path(sys.executable).resolve())
    assert facts is not None
    assert facts.dynamic
    assert "libc.so.6" in facts.needed


def test_what_only_starts_like_elf(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"\x7fELFnonsense")
    assert read_elf(path) is None
