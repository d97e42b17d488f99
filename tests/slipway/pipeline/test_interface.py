"""What is linked of a package counts by its interface: its libraries by what linkers read, all else by every byte."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from slipway.pipeline.interface import make_interface

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Kit

INFO = {"index.json": b'{"depends": []}', "run_exports.json": b"{}", "about.json": b"{}"}

Interface = Callable[..., "str | None"]


@pytest.fixture
def interface(tmp_path: Path, kit: Kit) -> Interface:
    """``interface(info={...}, **files)``: that of a package of a library, a header, a link, and what is given."""
    library = kit.library("int good(void) { return 1; }")

    def make(info: dict[str, bytes] | None = None, *, runs: bool = False, **files: bytes | None) -> str | None:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        usual = {"lib/libgood.so.1": library, "include/good.h": b"int good(void);\n", "bin/tool": b"#!/bin/sh\n"}
        for name, content in (usual | {name.replace("__", "/"): text for name, text in files.items()}).items():
            if content is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        if (folder / "lib").exists():
            (folder / "lib/libgood.so").symlink_to("libgood.so.1")
        (folder / "bin/tool").chmod(0o755 if runs else 0o644)
        (folder / "info").mkdir()
        (folder / "info/paths.json").write_text(str(files))
        found = make_interface(folder, INFO | (info or {}))
        return str(json.loads(found)["sha256"]) if found is not None else None

    return make


def test_code_of_libraries_does_not_count(interface: Interface, kit: Kit) -> None:
    other = kit.library("int good(void) { volatile int x = 7; return x * x; }")
    assert interface() == interface(**{"lib__libgood.so.1": other}) is not None
    assert interface() == interface(info={"about.json": b'{"summary": "Another."}'})


@pytest.mark.parametrize(
    "files",
    [
        {"include__good.h": b"int good(void); /* inline */\n"},
        {"include__good.h": None},
        {"include__more.h": b""},
        {"bin__tool": b"#!/bin/sh\nexit 1\n"},
        {"share__good__goodConfig.cmake": b"set(a 1)\n"},
        {"lib__libgood.a": b"!<arch>\n"},
        {"info": {"index.json": b'{"depends": ["zlib"]}'}},
        {"info": {"run_exports.json": b'{"weak": ["good >=1"]}'}},
    ],
)
def test_everything_else_does(interface: Interface, files: dict[str, bytes]) -> None:
    assert interface() != interface(**files)


def test_symbols_and_kinds_of_files_count(interface: Interface, kit: Kit) -> None:
    assert interface() != interface(**{"lib__libgood.so.1": kit.library("int better(void) { return 1; }")})
    first, second = (interface(lib__module=kit.library(f"int m(void) {{ return {n}; }}")) for n in (1, 2))
    assert first != second, "only what is called a library is one"
    assert interface() != interface(runs=True)


def test_packages_without_libraries_have_none(interface: Interface) -> None:
    assert interface(**{"lib__libgood.so.1": None}) is None
    assert interface(**{"lib__libgood.so.1": b"\x7fELF, and nothing of it"}) is None
