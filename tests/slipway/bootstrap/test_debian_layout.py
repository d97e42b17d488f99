"""Where Debian's files go, and what their text says there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.bootstrap.debian_layout import lay_out, place_of, relocate, run_paths
from slipway.bootstrap.description import PLACEHOLDER
from slipway.bootstrap.mapping import Glob
from slipway.bootstrap.sources import SourceEntry, Tree

if TYPE_CHECKING:
    from pathlib import Path

LIB = "usr/lib/x86_64-linux-gnu"


@pytest.mark.parametrize(("path", "expected"), [
    (f"{LIB}/libz.so", "lib/libz.so"), ("lib/x86_64-linux-gnu/libz.so.1", "lib/libz.so.1"),
    ("usr/include/x86_64-linux-gnu/curl/curl.h", "include/curl/curl.h"), ("usr/include/zlib.h", "include/zlib.h"),
    (f"{LIB}/pkgconfig/zlib.pc", "lib/pkgconfig/zlib.pc"), ("usr/sbin/tool", "bin/tool"), ("bin/tool", "bin/tool"),
    ("usr/share/bison/bison.m4", "share/bison/bison.m4"), ("usr/share/man/man1/m4.1.gz", None), ("etc/m4.conf", None),
    (f"{LIB}/libz.la", None),
])  # fmt: skip
def test_places(path: str, expected: str | None) -> None:
    assert place_of(path) == expected


def file(path: str, content: bytes = b"") -> SourceEntry:
    return SourceEntry(path, None, False, lambda: content)


def test_links_and_static_libraries(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree")
    entries = [
        file(f"{LIB}/libz.so.1.2"), SourceEntry(f"{LIB}/libz.so", "/lib/x86_64-linux-gnu/libz.so.1.2", False, bytes),
        file(f"{LIB}/libz.a"), file(f"{LIB}/libonly.a"), file("usr/bin/no"),
        SourceEntry("usr/bin/awk", "/etc/alternatives/awk", False, bytes),
        SourceEntry("usr/bin/tool", "../lib/tool/bin/tool", False, bytes),
    ]  # fmt: skip
    assert lay_out(entries, tree, [Glob.parse("usr/bin/no")]) == 4
    assert tree.paths() == ["bin/tool", "lib/libonly.a", "lib/libz.so", "lib/libz.so.1.2"]
    assert str((tree.root / "lib/libz.so").readlink()) == "libz.so.1.2"
    assert str((tree.root / "bin/tool").readlink()) == "../lib/tool/bin/tool"


@pytest.mark.parametrize(("path", "given", "expected"), [
    ("lib/pkgconfig/z.pc", "prefix=/usr\nlibdir=${prefix}/lib/x86_64-linux-gnu\n", "prefix=@\nlibdir=${prefix}/lib\n"),
    ("lib/pkgconfig/z.pc", "Libs: -L/usr/lib/x86_64-linux-gnu -lz", "Libs: -L@/lib -lz"),
    ("bin/tool", "#!/usr/bin/perl -w\n", "#!@/bin/perl -w\n"), ("bin/tool", "#!/bin/sh\n", "#!/bin/sh\n"),
    ("bin/tool", "x=/usr/share/tool/y", "x=@/share/tool/y"),
    ("bin/tool", "$HOME/bin /opt/usr/lib", "$HOME/bin /opt/usr/lib"),
    ("lib/cmake/z/z.cmake", 'set(D "${CMAKE_CURRENT_LIST_DIR}/../../../../include")',
     'set(D "${CMAKE_CURRENT_LIST_DIR}/../../../include")'),
])  # fmt: skip
def test_text(path: str, given: str, expected: str) -> None:
    assert relocate(path, given.encode()).decode() == expected.replace("@", PLACEHOLDER)


def test_run_paths() -> None:
    paths = ["bin/tool", "lib/libz.so.1", "lib/deep/x/libq.so", "include/z.h"]
    assert dict(run_paths(paths, lambda path: not path.endswith(".h"))) == {
        "$ORIGIN/../lib:$ORIGIN": ["bin/tool"],
        "$ORIGIN": ["lib/libz.so.1"],
        "$ORIGIN/../..:$ORIGIN": ["lib/deep/x/libq.so"],
    }
