"""The compiler cache's side of the build: who gets one, under which key, and what its counts say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from slipway.base.platform import LINUX_64, find_platform
from slipway.engines.build_script import build_script
from slipway.engines.compiler_cache.server import MARK, CompilerCache, read_statistics, toolchain_key, wants_cache
from slipway.engines.compiler_cache.store import choose_store
from slipway.model import RenderedOutput, Requirements

MakeOutput = Callable[..., RenderedOutput]
STATISTICS: dict[str, Any] = {
    "stats": {
        "compile_requests": 12,
        "cache_hits": {"counts": {"C/C++": 6, "CUDA": 1}, "adv_counts": {}},
        "cache_misses": {"counts": {"C/C++": 1, "CUDA": 1, "PTX": 2, "CUBIN": 2, "CUDA (Device code)": 1}},
        "cache_errors": {"counts": {}, "adv_counts": {}},
        "cache_write_errors": 1,
        "cache_timeouts": 0,
        "not_cached": {"-E": 2},
        "compile_fails": 1,
    },
    "cache_location": 'Local disk: "/store"',
}


def test_statistics_in_words() -> None:
    compiled = read_statistics(json.dumps(STATISTICS), "libtoy-1.0-h_0", "folder /store")
    assert (compiled.hits, compiled.misses, compiled.errors, compiled.not_cached, compiled.failed) == (7, 2, 1, 2, 1)
    assert compiled.sentence == (
        "7 of 9 compiles taken from the store (folder /store), 2 not for it; it failed 1 times"
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stats": {}}', '{"stats": {"cache_hits": 1}}'])
def test_something_else_is_no_statistics(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_statistics(text, "libtoy-1.0-h_0", "folder /store")


def test_only_who_lists_sccache_waits_for_a_server(make_output: MakeOutput) -> None:
    with_it = make_output(requirements=Requirements(build=("gcc_linux-64 12.*", "sccache >=0.8")))
    without = make_output(requirements=Requirements(build=("gcc_linux-64 12.*",), host=("sccache",)))
    assert wants_cache(with_it)
    assert not wants_cache(without)
    recipe = PurePosixPath("/build/recipe")
    assert MARK in build_script(with_it, recipe=recipe, jobs=2)
    assert MARK not in build_script(without, recipe=recipe, jobs=2)


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A build environment of a compiler, what it needs, and CMake."""
    packages = {
        "gcc_linux-64": ("12.2-h0_0", ["gcc_impl_linux-64 12.2.*"]),
        "gcc_impl_linux-64": ("12.2-h1_0", ["binutils >=2.40", "__glibc >=2.17"]),
        "binutils": ("2.40-h2_0", []),
        "cmake": ("3.31-h3_0", []),
    }
    (tmp_path / "conda-meta").mkdir()
    for name, (rest, depends) in packages.items():
        record = {"name": name, "depends": depends}
        (tmp_path / f"conda-meta/{name}-{rest}.json").write_text(json.dumps(record), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "changes"),
    [("gcc_linux-64-12.2-h0_0", True), ("binutils-2.40-h2_0", True), ("cmake-3.31-h3_0", False)],
)
def test_the_key_is_that_of_the_compilers_and_of_all_they_need(environment: Path, name: str, changes: bool) -> None:
    before = toolchain_key(environment, LINUX_64)
    old = environment / f"conda-meta/{name}.json"
    old.rename(old.with_name(f"{name}1.json"))
    assert (toolchain_key(environment, LINUX_64) != before) is changes


def test_without_compilers_by_convention_every_package_counts(environment: Path) -> None:
    before = toolchain_key(environment, find_platform("osx-arm64"))
    old = environment / "conda-meta/cmake-3.31-h3_0.json"
    old.rename(old.with_name("cmake-3.32-h3_0.json"))
    assert toolchain_key(environment, find_platform("osx-arm64")) != before


def test_a_server_that_does_not_start_is_an_error_that_says_so(environment: Path, tmp_path: Path) -> None:
    program = environment / "bin/sccache"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'no way to https://ada:pw@dav.example' >&2\nexit 2\n", encoding="ascii")
    program.chmod(0o755)
    store = choose_store({"XDG_CACHE_HOME": str(tmp_path), "SCCACHE_WEBDAV_ENDPOINT": "https://ada:pw@dav.example"})
    with CompilerCache(tmp_path, store, LINUX_64) as cache:
        (tmp_path / "sccache/prefix").write_text(f"{environment}\n", encoding="utf-8")
        cache.on_line("something else")
        assert not (tmp_path / "sccache/answer").exists()
        cache.on_line(MARK)
    assert cache.error is not None
    assert "cannot be used" in cache.error.message
    assert cache.error.detail == "no way to https://***@dav.example"
    assert not cache.started
    assert (tmp_path / "sccache/answer").read_text(encoding="utf-8") == "exit 1\n"
