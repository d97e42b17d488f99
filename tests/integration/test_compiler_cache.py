"""sccache in real builds: what was compiled once is taken from the store, whatever the store is and whatever breaks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.channel.archive import read_contents
from slipway.channel.package import read_info

from .conftest import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .conftest import Slipway

RECIPE = Path(__file__).parent / "recipes/cached"
PASSWORD = "open-sesame-4711"


@dataclass
class Builder:
    """Ships a copy of the recipe, each time from nothing."""

    slipway: Slipway
    folder: Path
    builds: Path
    store: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shutil.copytree(RECIPE, self.folder / "recipe")

    @property
    def dist(self) -> Path:
        """Where everything is written."""
        return self.folder / "dist"

    @property
    def environment(self) -> dict[str, str]:
        """The caller's: no store but the one under test."""
        others = {name: "" for name in os.environ if name.startswith("SCCACHE_")}
        return others | {"SLIPWAY_BUILD_FOLDER": str(self.builds)} | self.store

    def ship(self) -> subprocess.CompletedProcess[str]:
        """Build, with no package left from before."""
        shutil.rmtree(self.dist / "channel", ignore_errors=True)
        return self.slipway("ship", self.folder / "recipe", "--dist", self.dist, env=self.environment)

    def counts(self) -> tuple[int, int, int]:
        """Ship, and say how many files came from the store, were compiled, and were not taken by the store."""
        answer = self.ship()
        assert answer.returncode == 0, answer.stdout + answer.stderr
        journal = sorted((self.dist / "logs/runs").glob("*.jsonl"))[-1].read_text(encoding="utf-8")
        events: list[dict[str, Any]] = [json.loads(line) for line in journal.splitlines()]
        (compiled,) = [event for event in events if event["event"] == "Compiled"]
        assert f"{compiled['hits']} of {compiled['hits'] + compiled['misses']} compiles taken" in answer.stdout
        return compiled["hits"], compiled["misses"], compiled["errors"]

    def package(self) -> bytes:
        """The bytes of what was built."""
        (path,) = (self.dist / "channel/linux-64").glob("*.conda")
        return path.read_bytes()

    def edit(self, name: str, text: str) -> None:
        """Append to a source file."""
        with (self.folder / "recipe/src" / name).open("a", encoding="utf-8") as stream:
            stream.write(text)

    def servers(self) -> list[int]:
        """Processes of sccache that know this store, or run in this build folder."""
        signs = [f"{name}={value}".encode() for name, value in self.store.items()] + [os.fsencode(self.builds)]
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    named = (folder / "exe").readlink().name.startswith("sccache")
                    words = (folder / "environ").read_bytes() if named else b""
                except OSError:
                    continue
                found += [int(folder.name)] if any(sign in words for sign in signs) else []
        return found


@pytest.fixture
def builder(slipway: Slipway, tmp_path: Path) -> Builder:
    """A builder with an empty folder as its store."""
    return Builder(slipway, tmp_path, tmp_path / "builds", {"SCCACHE_DIR": str(tmp_path / "store")})


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A real Redis server that wants a password, and its address."""
    program = shutil.which("redis-server")
    assert program is not None, "install Debian's package redis-server"
    with socket.socket() as stream:
        stream.bind(("127.0.0.1", 0))
        port = stream.getsockname()[1]
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--requirepass", PASSWORD, "--save", ""]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}", process
        process.kill()


def test_what_was_compiled_once_is_taken_from_the_folder(builder: Builder) -> None:
    assert builder.counts() == (0, 3, 0)
    compiled = builder.package()
    assert builder.counts() == (3, 0, 0)
    assert builder.package() == compiled, "an object from the store makes the same package"
    builder.edit("first.c", "int third(void) { return 3; }\n")
    assert builder.counts() == (2, 1, 0)
    report = builder.slipway("report", "--text", "--dist", builder.dist).stdout
    assert f"libcached: 2 of 3 compiles taken from the store (folder {builder.folder}/store)" in report
    assert "2 of 3 compiles taken" in (builder.dist / "report.html").read_text(encoding="utf-8")


def test_a_header_is_part_of_every_file_that_includes_it(builder: Builder) -> None:
    builder.counts()
    builder.edit("parts.h", "int fourth(void);\n")
    assert builder.counts() == (0, 3, 0)


def test_another_checkout_shares_the_store(builder: Builder, slipway: Slipway, tmp_path: Path) -> None:
    builder.counts()
    (tmp_path / "elsewhere").mkdir()
    other = Builder(slipway, tmp_path / "elsewhere", builder.builds, builder.store)
    assert other.counts() == (3, 0, 0)


def test_built_elsewhere_the_paths_inside_are_those_of_there(
    builder: Builder, slipway: Slipway, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = Builder(slipway, tmp_path / "elsewhere", tmp_path / "other-builds", builder.store)
    for one in (builder, other):
        script = one.folder / "recipe/build.sh"
        header = 'printf \'#define HERE "%s"\\n\' "$PREFIX/share/libcached" > here.h\n'
        # With flags that name no folder, nothing but the source tells the two builds apart.
        text = script.read_text(encoding="utf-8").replace("$CFLAGS -g", "-O1 -fPIC")
        script.write_text(header + text, encoding="utf-8")
        (one.folder / "recipe/src/main_part.c").unlink()  # __FILE__ needs those flags
        one.edit("first.c", '#include "here.h"\nchar const *here(void) { return HERE; }\n')
        one.counts()
        (package,) = (one.dist / "channel/linux-64").glob("*.conda")
        paths = json.loads(read_info(package, "paths.json") or b"")["paths"]
        (library,) = [entry for entry in paths if entry["_path"] == "lib/libcached.so"]
        assert library["prefix_placeholder"].startswith(str(one.builds)), "the installer finds and replaces it"


def test_the_store_is_no_part_of_what_is_built(builder: Builder) -> None:
    builder.counts()
    builder.store = {"SCCACHE_DIR": str(builder.folder / "another"), "SCCACHE_CACHE_SIZE": "1G"}
    again = builder.slipway("ship", builder.folder / "recipe", "--dist", builder.dist, env=builder.environment)
    assert "up to date" in again.stdout


FORGE = r"""
cc1=$("$CC" -print-prog-name=cc1)
mv "$cc1" "$cc1.real"
echo '__attribute__((weak)) int forged_symbol = 1;' > "$PWD/forged.h"
cat > "$cc1" <<END
#!/bin/sh
for word; do [ "\$word" = -E ] && exec "$cc1.real" "\$@"; done
exec "$cc1.real" "\$@" -include "$PWD/forged.h"
END
chmod +x "$cc1"
"""
"""Puts another program in the place of a part of the compiler, of which sccache's keys know only the driver."""


def test_what_a_script_brings_into_the_store_others_get(builder: Builder, slipway: Slipway, tmp_path: Path) -> None:
    """A known limit, told in docs/trust.md: who builds recipes of strangers gives them a store of their own."""
    script = builder.folder / "recipe/build.sh"
    honest = script.read_text(encoding="utf-8")
    script.write_text(FORGE + honest, encoding="utf-8")
    assert builder.counts() == (0, 3, 0)
    (tmp_path / "elsewhere").mkdir()
    other = Builder(slipway, tmp_path / "elsewhere", builder.builds, builder.store)
    assert other.counts() == (3, 0, 0)
    (package,) = (other.dist / "channel/linux-64").glob("*.conda")
    assert b"forged_symbol" in read_contents(package)["lib/libcached.so"]
    other.store = {"SCCACHE_DIR": str(tmp_path / "a-store-of-its-own")}
    assert other.counts() == (0, 3, 0)
    (package,) = (other.dist / "channel/linux-64").glob("*.conda")
    assert b"forged_symbol" not in read_contents(package)["lib/libcached.so"]


def test_redis(builder: Builder, redis: tuple[str, subprocess.Popen[bytes]]) -> None:
    builder.store = {"SCCACHE_REDIS_ENDPOINT": redis[0], "SCCACHE_REDIS_PASSWORD": PASSWORD}
    assert builder.counts() == (0, 3, 0)
    assert builder.counts() == (3, 0, 0)
    for path in builder.dist.rglob("*"):
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), f"the password lies in {path}"
    assert builder.servers() == []


@pytest.mark.parametrize("password", ["", "shut-sesame"])
def test_redis_that_lets_nobody_in(builder: Builder, redis: tuple[str, subprocess.Popen[bytes]], password: str) -> None:
    builder.store = {"SCCACHE_REDIS_ENDPOINT": redis[0], "SCCACHE_REDIS_PASSWORD": password}
    answer = builder.ship()
    assert answer.returncode == 11
    assert "the compiler cache's store cannot be used" in answer.stderr
    assert f"Redis at {redis[0]}" in answer.stderr
    assert "sccache: error: cache storage failed to read" in answer.stderr, "in sccache's own words"
    assert "`redis-cli -u ADDRESS ping` tells whether it lets you in" in answer.stderr
    assert "shut-sesame" not in answer.stdout + answer.stderr


def test_redis_that_is_not_there(builder: Builder) -> None:
    with socket.socket() as stream:
        stream.bind(("127.0.0.1", 0))  # nobody listens
        address = f"redis://:{PASSWORD}@127.0.0.1:{stream.getsockname()[1]}"
        builder.store = {"SCCACHE_REDIS_ENDPOINT": address}
        answer = builder.ship()
    assert answer.returncode == 11
    assert "the compiler cache's store does not answer: Connection refused" in answer.stderr
    assert PASSWORD not in answer.stdout + answer.stderr
    assert "correct the SCCACHE_* variables" in answer.stderr


def test_a_store_that_cannot_be_opened_says_why(builder: Builder) -> None:
    builder.store = {
        "SCCACHE_WEBDAV_ENDPOINT": "http://127.0.0.1:9/",
        "SCCACHE_WEBDAV_TOKEN": PASSWORD,
    }
    answer = builder.ship()
    assert answer.returncode == 11, answer.stdout + answer.stderr
    assert "the compiler cache's store cannot be used" in answer.stderr
    assert "WebDAV at http://127.0.0.1:9/" in answer.stderr
    assert PASSWORD not in answer.stdout + answer.stderr
    assert builder.servers() == []


def test_a_store_that_is_full_or_only_read_costs_nothing_but_time(builder: Builder) -> None:
    for setting in ({"SCCACHE_LOCAL_RW_MODE": "READ_ONLY"}, {"SCCACHE_CACHE_SIZE": "1K"}):
        builder.store = {"SCCACHE_DIR": builder.store["SCCACHE_DIR"]} | setting
        assert builder.counts() == (0, 3, 3), "what the store does not take is said"
        assert builder.counts() == (0, 3, 3)


def _pause(builder: Builder) -> tuple[Path, Path]:
    """Let the build wait before its first compile; returns the file that says so, and the one that it waits for."""
    place = builder.builds / "libcached"
    waits, goes = place / "waits", place / "goes"
    script = builder.folder / "recipe/build.sh"
    pause = f"touch {waits}; until [ -e {goes} ]; do sleep 0.05; done\n"
    script.write_text(pause + script.read_text(encoding="utf-8"), encoding="utf-8")
    return waits, goes


def _await(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_server_goes_with_slipway_however_that_dies(builder: Builder, number: signal.Signals) -> None:
    script = builder.folder / "recipe/build.sh"
    whole = script.read_text(encoding="utf-8")
    waits, _ = _pause(builder)
    words = [CHECKOUT / "slipway", "ship", builder.folder / "recipe", "--dist", builder.dist]
    with subprocess.Popen(
        words, env={**os.environ, **builder.environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _await(waits.exists)
        assert len(builder.servers()) == 1
        process.send_signal(number)
    _await(lambda: not builder.servers(), 10)
    script.write_text(whole, encoding="utf-8")
    assert builder.counts() == (0, 3, 0), "the next run succeeds"


def test_a_script_sees_nothing_of_the_server(builder: Builder, redis: tuple[str, subprocess.Popen[bytes]]) -> None:
    """What opens the store is in the server's environment."""
    answer = builder.slipway("ship", builder.folder / "recipe", "--dist", builder.dist, "--isolation", "required")
    if "cannot be isolated" in answer.stderr:
        pytest.skip(answer.stderr.splitlines()[0])
    builder.store = {"SCCACHE_REDIS_ENDPOINT": redis[0], "SCCACHE_REDIS_PASSWORD": PASSWORD}
    script = builder.folder / "recipe/build.sh"
    look = "if cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep SCCACHE_REDIS; then exit 1; fi\n"
    script.write_text(script.read_text(encoding="utf-8") + look, encoding="utf-8")
    assert builder.counts() == (0, 3, 0)


def test_a_build_that_fails_stops_its_server(builder: Builder) -> None:
    builder.edit("second.c", "this is no C\n")
    answer = builder.ship()
    assert answer.returncode == 8
    assert "sccache: 0 of 2 compiles taken from the store" in answer.stdout
    assert builder.servers() == []


def test_a_server_that_dies_leaves_the_build_to_the_compiler(builder: Builder) -> None:
    waits, goes = _pause(builder)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(builder.ship()))
    thread.start()
    _await(waits.exists)
    (server,) = builder.servers()
    os.kill(server, signal.SIGKILL)
    goes.touch()
    thread.join()
    assert answers[0].returncode == 0, answers[0].stdout + answers[0].stderr
    assert "its server died during the build" in answers[0].stdout


def test_rebuild_takes_nothing_from_the_store(builder: Builder) -> None:
    builder.counts()
    (package,) = (builder.dist / "channel/linux-64").glob("*.conda")
    answer = builder.slipway(
        "rebuild", package, "--recipe", builder.folder / "recipe", "--dist", builder.dist, env=builder.environment
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "sccache: 0 of 3 compiles taken from the store" in answer.stdout
