"""Installing takes nothing away that is not ours: in whatever state an earlier installation left the folder."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from slipway.base.errors import SlipwayError, UsageError
from slipway.base.log import NullReporter
from slipway.channel.environments import install, solve
from slipway.channel.folder import Channel
from slipway.channel.prefix import COMPLETE, INCOMPLETE, Prefix

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Kit

PROGRAM = """
import sys
from pathlib import Path
from slipway.base.log import NullReporter
from slipway.channel.environments import install, solve
install(solve(sys.argv[3:], [sys.argv[1]]), Path(sys.argv[2]), NullReporter(), into_existing=True)
"""


@pytest.fixture
def channel(kit: Kit, tmp_path: Path) -> Channel:
    """Two packages, of which the second needs the first; the first in two versions."""
    made = Channel(tmp_path / "channel")
    packages = [
        kit.package({f"lib/one/{number}.txt": f"{number}" for number in range(150)}, name="one"),
        kit.package({f"lib/one/{number}.txt": f"new {number}" for number in range(100)}, name="one", version="2.0"),
        kit.package({"bin/two": "#!/bin/sh\n", "lib/two.txt": "2"}, name="two", depends=["one"]),
    ]
    made.publish([("linux-64", path) for path in packages])
    return made


def mine(prefix: Path) -> dict[str, str]:
    """Files of the user's own, in folders of their own and among those of packages."""
    files = {
        "notes.txt": "mine", "lib/mine.txt": "mine", "lib/one/mine.txt": "mine", "src/a/b.c": "mine",
        "conda-meta/pinned": "mine",
    }  # fmt: skip
    for name, text in files.items():
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).write_text(text, encoding="utf-8")
    (prefix / "link-to-nothing").symlink_to("nowhere")
    return files


def check_mine(prefix: Path, files: dict[str, str]) -> None:
    assert {name: (prefix / name).read_text(encoding="utf-8") for name in files} == files
    assert (prefix / "link-to-nothing").is_symlink()


def put(channel: Channel, prefix: Path, *specs: str, into_existing: bool = False) -> int:
    return install(solve(specs, [channel.url]), prefix, NullReporter(), into_existing=into_existing)


def test_killed_at_many_moments(channel: Channel, tmp_path: Path) -> None:
    """Files come before, between and after; packages change; at the end the environment is whole."""
    prefix = tmp_path / "prefix"
    chance = random.Random(8)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = 0
    kept: dict[str, str] = {}
    for attempt in range(8):
        specs = ["one 1.0", "two"] if attempt % 2 else ["one 2.0"]
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, channel.url, str(prefix), *specs], env=environment
        ) as run:
            deadline = time.monotonic() + 60
            while not (prefix / "conda-meta" / INCOMPLETE).exists() and run.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.06))
            run.send_signal(signal.SIGKILL)
        killed += run.returncode == -signal.SIGKILL
        if attempt == 0:
            kept = mine(prefix)
        check_mine(prefix, kept)
    assert killed >= 4
    put(channel, prefix, "two", "one 1.0")
    assert (prefix / "lib/one/149.txt").read_text(encoding="utf-8") == "149"
    assert (prefix / "bin/two").is_file()
    check_mine(prefix, kept)
    assert not (prefix / "conda-meta" / INCOMPLETE).exists()


def test_what_was_cut_off_goes_and_nothing_else(channel: Channel, tmp_path: Path) -> None:
    """Half of a package is there, edited, its record cut off; another one is wanted now."""
    prefix = tmp_path / "prefix"
    put(channel, prefix, "two", "one 1.0")
    kept = mine(prefix)
    Prefix(prefix).begin([("two-1.0-h0123456_0", ["bin/two", "lib/two.txt"])])
    (prefix / "lib/one/5.txt").write_text("edited", encoding="utf-8")
    (prefix / "bin/two").unlink()
    (prefix / "conda-meta/two-1.0-h0123456_0.json").write_text('{"name": "tw', encoding="utf-8")
    put(channel, prefix, "one 2.0")
    check_mine(prefix, kept)
    assert (prefix / "lib/one/5.txt").read_text(encoding="utf-8") == "new 5"
    assert not (prefix / "lib/one/120.txt").exists()
    assert not (prefix / "lib/two.txt").exists()
    assert not (prefix / "bin").exists()


def test_damaged_or_older_marker(channel: Channel, tmp_path: Path) -> None:
    for number, text in enumerate(("", "{", "[]", '{"packages": 3}', '{"packages": {"a": null}}')):
        prefix = tmp_path / str(number)
        put(channel, prefix, "one 1.0")
        (prefix / "notes.txt").touch()
        (prefix / "conda-meta" / INCOMPLETE).write_text(text, encoding="utf-8")
        put(channel, prefix, "one 1.0")
        assert (prefix / "notes.txt").exists()
        assert (prefix / "lib/one/0.txt").exists()


@pytest.mark.parametrize("kind", ["file", "folder", "link", "conda-meta", "history"])
def test_folder_of_somebody_else_is_refused_unless_asked_for(channel: Channel, tmp_path: Path, kind: str) -> None:
    prefix = tmp_path / "prefix"
    prefix.mkdir()
    if kind == "file":
        (prefix / "notes.txt").touch()
    elif kind == "folder":
        (prefix / "src").mkdir()
    elif kind == "link":
        (prefix / "link").symlink_to("nowhere")
    elif kind == "conda-meta":
        (tmp_path / "elsewhere").mkdir()
        (prefix / "conda-meta").symlink_to(tmp_path / "elsewhere")
    else:
        (prefix / "conda-meta").mkdir()
        (prefix / "conda-meta/history").touch()
    before = sorted(path.name for path in prefix.rglob("*"))
    with pytest.raises(UsageError, match="no environment of slipway's") as caught:
        put(channel, prefix, "two")
    assert "--into-existing" in (caught.value.hint or "")
    assert sorted(path.name for path in prefix.rglob("*")) == before
    put(channel, prefix, "two", into_existing=True)
    assert (prefix / "conda-meta" / COMPLETE).exists()
    assert put(channel, prefix, "two") == 0
    assert set(before) <= {path.name for path in prefix.rglob("*")}


def test_empty_folder_and_lock_are_nobodys(channel: Channel, tmp_path: Path) -> None:
    (tmp_path / "prefix/conda-meta").mkdir(parents=True)
    (tmp_path / "prefix/conda-meta/.lock").touch()
    assert put(channel, tmp_path / "prefix", "two") == 2


@pytest.mark.parametrize("path", ["bin/two", "lib/two.txt", "bin", "lib/one/7.txt"])
def test_file_in_the_way_is_named_and_kept(channel: Channel, tmp_path: Path, path: str) -> None:
    prefix = tmp_path / "prefix"
    (prefix / path).parent.mkdir(parents=True)
    (prefix / path).write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=f"`{path}` is in the way"):
        put(channel, prefix, "two", "one 1.0", into_existing=True)
    assert (prefix / path).read_text(encoding="utf-8") == "mine"
    assert not (prefix / "conda-meta").exists()


def test_links_on_the_way(channel: Channel, tmp_path: Path) -> None:
    """A prefix that is a link is followed; a link in it, which leads elsewhere, is not."""
    (tmp_path / "real").mkdir()
    (tmp_path / "prefix").symlink_to(tmp_path / "real")
    put(channel, tmp_path / "prefix", "one 1.0")
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "real/lib").rename(elsewhere)
    (tmp_path / "real/lib").symlink_to(elsewhere)
    Prefix(tmp_path / "real").begin([])
    with pytest.raises(UsageError, match="`lib` is in the way"):
        put(channel, tmp_path / "prefix", "one 1.0")
    assert len(list(elsewhere.rglob("*.txt"))) == 150


def test_scripts_that_do_not_run_are_named(kit: Kit, tmp_path: Path) -> None:
    channel, lines = Channel(tmp_path / "channel"), list[str]()
    script = f"#!/bin/sh\ntouch {tmp_path}/ran\n"
    channel.publish([("linux-64", kit.package({"bin/.fonts-post-link.sh": script}, name="fonts"))])

    class Lines(NullReporter):
        def line(self, text: str) -> None:
            lines.append(text)

    install(solve(["fonts"], [channel.url]), tmp_path / "prefix", Lines())
    assert "fonts brings a post-link script, which slipway does not run" in lines[0]
    assert not (tmp_path / "ran").exists()


def test_failed_installation_and_file_as_prefix(channel: Channel, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    put(channel, prefix, "one 1.0")
    kept = mine(prefix)
    (package,) = channel.packages("two")
    content = package.read_bytes()
    solution = solve(["two", "one 2.0"], [channel.url])
    package.write_bytes(content[:-1])
    with pytest.raises(SlipwayError):
        install(solution, prefix, NullReporter())
    check_mine(prefix, kept)
    package.write_bytes(content)
    install(solution, prefix, NullReporter())
    check_mine(prefix, kept)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="no folder"):
        put(channel, tmp_path / "file", "one")
