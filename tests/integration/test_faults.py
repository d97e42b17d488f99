"""What goes wrong at the worst moment: nothing is lost, and the next run succeeds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import CHECKOUT, Slipway

if TYPE_CHECKING:
    from collections.abc import Callable


# Runs slipway, and kills it (as the kernel would: nothing of it can react) when a function is entered or left.
KILLER = """
import importlib, os, signal, sys
module, _, name = sys.argv[1].partition(":")
when = sys.argv[2]
owner = importlib.import_module(module)
*path, last = name.split(".")
for part in path:
    owner = getattr(owner, part)
original = getattr(owner, last)
def replacement(*arguments, **options):
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    answer = original(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
    return answer
setattr(owner, last, replacement)
from slipway.cli import main
sys.exit(main(sys.argv[3:]))
"""

STEPS = (
    "slipway.pipeline.plan:make_manifest",
    "slipway.engines.rattler:_Build.run",
    "slipway.engines.rattler:_v1_source",
    "slipway.base.proc:run",
    "slipway.pipeline.run:finish_package",
    "slipway.pipeline.packing:write_archive",
    "slipway.pipeline.run:judge_new",
    "slipway.channel.folder:_copy_packages",
    "slipway.channel.repodata:write_index",
    "slipway.channel.folder:swap_folders",
    "slipway.pipeline.run:_publish_all",
)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A recipe that builds at once."""
    folder = tmp_path / "recipe"
    folder.mkdir()
    meta = 'package:\n  name: tiny\n  version: "1.0"\nsource:\n  path: src\nabout:\n  license: MIT\n'
    (folder / "meta.yaml").write_text(meta, encoding="utf-8")
    (folder / "src").mkdir()
    (folder / "src/a.txt").write_text("1\n", encoding="utf-8")
    (folder / "build.sh").write_text("mkdir $PREFIX/x; cp a.txt $PREFIX/x\n", encoding="utf-8")
    return folder


def ship_and_die(step: str, when: str, recipe: Path, dist: Path) -> None:
    """`slipway ship`, killed before or after the function `step`."""
    answer = subprocess.run(
        [sys.executable, "-c", KILLER, step, when, "ship", str(recipe), "--dist", str(dist)],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "ci")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == -signal.SIGKILL, answer.stdout + answer.stderr


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_a_step_and_shipped_again(
    slipway: Slipway, recipe: Path, tmp_path: Path, step: str, when: str
) -> None:
    dist = tmp_path / "dist"
    ship_and_die(step, when, recipe, dist)
    index = dist / "channel/linux-64/repodata.json"
    if index.exists():  # whatever moment it was, the channel is whole: what its index names is there
        for name in json.loads(index.read_bytes())["packages.conda"]:
            assert (index.parent / name).exists()
    answer = slipway("ship", recipe, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert list(json.loads(index.read_bytes())["packages.conda"]) == [
        path.name for path in sorted((dist / "channel/linux-64").glob("tiny-*.conda"))
    ]
    assert not list(dist.glob(".channel.*"))


INSTALL_STEPS = (
    "slipway.channel.environments:take_packages",
    "slipway.channel.prefix:Prefix.begin",
    "slipway.channel.prefix:Prefix.finish",
    "slipway.channel.environments:_install_reporter",
    "rattler:install",
    "slipway.channel.environments:install",
)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", INSTALL_STEPS)
def test_killed_while_installing_and_installed_again(
    slipway: Slipway, recipe: Path, tmp_path: Path, step: str, when: str
) -> None:
    dist, prefix = tmp_path / "dist", tmp_path / "prefix"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    command = ["install", "--dist", str(dist), "--prefix", str(prefix), "tiny"]
    answer = subprocess.run(
        [sys.executable, "-c", KILLER, step, when, *command],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "ci")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == -signal.SIGKILL, answer.stdout + answer.stderr
    again = slipway(*command)
    assert again.returncode == 0, again.stdout + again.stderr
    assert (prefix / "x/a.txt").read_text(encoding="utf-8") == "1\n"
    assert not (prefix / "conda-meta/slipway-incomplete").exists()


def test_kill_while_a_new_version_is_indexed_keeps_the_old_channel(
    slipway: Slipway, recipe: Path, tmp_path: Path
) -> None:
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    (package,) = (dist / "channel/linux-64").glob("*.conda")
    before = package.read_bytes()
    (recipe / "src/a.txt").write_text("2\n", encoding="utf-8")
    ship_and_die("slipway.pipeline.run:_publish_all", "before", recipe, dist)
    assert package.read_bytes() == before
    answer = slipway("ship", recipe, "--dist", dist)
    assert "up to date" in answer.stdout, "what was proved before the kill is taken as it is"
    assert package.read_bytes() != before


def test_damaged_package_in_the_channel_is_built_again(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    (package,) = (dist / "channel/linux-64").glob("*.conda")
    whole = package.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole[:-40] + bytes(40)):
        package.write_bytes(damaged)
        answer = slipway("ship", recipe, "--dist", dist)
        assert answer.returncode == 0, answer.stdout + answer.stderr
        assert "its bytes are not what the channel's index says" in answer.stdout
        assert package.read_bytes() == whole


def test_damaged_index_is_written_again(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    for name in ("linux-64", "noarch"):
        (dist / "channel" / name / "repodata.json").write_text('{"packages": ', encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "the channel's index is damaged" in answer.stdout
    (dist / "channel/noarch/repodata.json").write_text("", encoding="utf-8")
    assert slipway("plan", recipe, "--dist", dist).returncode == 0


def test_disk_that_fills_up_inside_the_build(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    """A file size limit makes writes fail as a full disk does."""
    script = recipe / "build.sh"
    whole = script.read_text(encoding="utf-8")
    script.write_text("mkdir $PREFIX/x; trap '' XFSZ; ulimit -f 8; head -c 1000000 /dev/zero > $PREFIX/x/y\n")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 10, answer.stdout + answer.stderr
    assert "error: the disk is full" in answer.stderr
    script.write_text(whole, encoding="utf-8")
    assert slipway("ship", recipe, "--dist", tmp_path / "dist").returncode == 0


def test_folder_that_cannot_be_written(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "file" / "dist")
    assert answer.returncode == 11, answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr
    assert str(tmp_path / "file") in answer.stderr


def test_place_to_build_that_cannot_be_used(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist", env={"SLIPWAY_BUILD_FOLDER": str(tmp_path / "taken")})
    assert answer.returncode == 11, answer.stdout + answer.stderr
    assert "SLIPWAY_BUILD_FOLDER" in answer.stderr


def test_source_and_recipe_with_all_that_a_file_system_can_hold(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    """Links that lead in circles, and pipes, stop no build; links that lead out and names with lines in them do."""
    (tmp_path / "beside.txt").write_text("beside\n", encoding="utf-8")
    for folder in (recipe, recipe / "src"):
        (folder / "inside.txt").write_text("inside\n", encoding="utf-8")
        for name, target in {"loop": "loop", "up": ".", "gone": "nowhere", "beside.txt": "inside.txt"}.items():
            (folder / name).symlink_to(target)
        os.mkfifo(folder / "pipe")
        (folder / "a line \u00fc").write_text("x", encoding="utf-8")
    script = "set -e; mkdir $PREFIX/x; cp beside.txt *line* $PREFIX/x; cmp beside.txt $RECIPE_DIR/beside.txt\n"
    (recipe / "build.sh").write_text(script, encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    for target in ("/", "../../beside.txt", str(tmp_path / "beside.txt")):
        link = recipe / "src" / "out"
        link.symlink_to(target)
        answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
        assert answer.returncode == 3, answer.stdout + answer.stderr
        assert "out" in answer.stderr
        assert target in answer.stderr
        link.unlink()
    (recipe / "two\nlines").touch()  # the recipe's folder goes into the package
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 6, answer.stdout + answer.stderr
    assert "has control characters in its name" in answer.stderr
    (recipe / "two\nlines").unlink()
    (recipe / "src" / os.fsdecode(b"\xff\xfe")).touch()
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 3, answer.stdout + answer.stderr
    assert "the name of a source file is not UTF-8" in answer.stderr


def test_damaged_index_and_package(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    """Nothing says any more what the package should be: it is kept under another name, and built again."""
    dist = tmp_path / "dist"
    assert slipway("ship", recipe, "--dist", dist).returncode == 0
    (package,) = (dist / "channel/linux-64").glob("*.conda")
    package.unlink()
    package.write_bytes(b"garbage")
    (dist / "channel/linux-64/repodata.json").write_text("{", encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"it is now {package.name}.damaged" in answer.stdout
    assert package.with_name(f"{package.name}.damaged").read_bytes() == b"garbage"
    assert list(json.loads((package.parent / "repodata.json").read_bytes())["packages.conda"]) == [package.name]


def test_folder_of_any_name(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    """Only the place to build in needs a plain name: compilers' flags cannot hold spaces."""
    folder = tmp_path / "my földer's \u00ab#1%20\u00bb"
    folder.mkdir()
    moved = recipe.rename(folder / "recipe")
    environ = {"LC_ALL": "C"}
    answer = slipway("ship", moved, "--dist", folder / "dist", env=environ)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    prefix = folder / "an environment"
    answer = slipway("install", "--dist", folder / "dist", "--prefix", prefix, "tiny", "python", env=environ)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert (prefix / "x/a.txt").read_text(encoding="utf-8") == "1\n"
    said = subprocess.run([prefix / "bin/python", "-c", "print(1)"], capture_output=True, text=True, check=True)
    assert said.stdout == "1\n"
    answer = slipway("ship", moved, "--dist", folder / "dist", "--rebuild", env={"SLIPWAY_BUILD_FOLDER": str(folder)})
    assert answer.returncode == 11, answer.stdout + answer.stderr
    assert "a space in its path" in answer.stderr


@pytest.mark.parametrize("words", ["--help", "plan", "render --json", "verify --rules"])
def test_readers_that_leave_and_streams_that_are_closed(words: str) -> None:
    launcher = f"{CHECKOUT}/slipway {words}"
    for command, code in ((f"{launcher} | head -c 1 > /dev/null", 0), (f"{launcher} >&-", 0), (f"{launcher} 2>&-", 0)):
        answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert "Traceback" not in answer.stderr, command
        assert answer.returncode == code, command
    answer = subprocess.run(["bash", "-c", f"{launcher} > /dev/full"], capture_output=True, text=True, check=False)
    assert answer.returncode == 10
    assert "the disk is full" in answer.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_nothing_of_a_build_outlives_slipway(slipway: Slipway, recipe: Path, tmp_path: Path, number: int) -> None:
    """Compilers that go on would write where the next run builds."""
    script = recipe / "build.sh"
    whole = script.read_text(encoding="utf-8")
    seconds = f"300.{os.getpid()}"
    script.write_text(f"sleep {seconds} & bash -c 'wait' {seconds}; wait\n", encoding="utf-8")
    command = [str(CHECKOUT / "slipway"), "ship", str(recipe), "--dist", str(tmp_path / "dist")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: find_processes(seconds) != [])
        process.send_signal(number)
        assert process.wait(20) == (-number if number == signal.SIGKILL else 130)
    wait_until(lambda: find_processes(seconds) == [])
    script.write_text(whole, encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 0, answer.stdout + answer.stderr


def find_processes(word: str) -> list[int]:
    """The processes that have `word` in their command lines."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [int(path.parent.name)] if word.encode() in path.read_bytes() else []
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for something that comes true by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


def test_full_disk_that_the_end_of_the_log_does_not_mention(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    script = (
        "mkdir $PREFIX/x; trap '' XFSZ; (ulimit -f 8; head -c 1000000 /dev/zero > $PREFIX/x/y) || seq 100; exit 1\n"
    )
    (recipe / "build.sh").write_text(script, encoding="utf-8")
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 10, answer.stdout + answer.stderr
    assert "error: the disk is full" in answer.stderr


def test_no_place_for_temporary_files(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    answer = slipway("ship", recipe, "--dist", tmp_path / "dist", env={"TMPDIR": str(tmp_path / "nothing")})
    assert answer.returncode == 11, answer.stdout + answer.stderr
    assert f"at: {tmp_path / 'nothing'}" in answer.stderr
    assert "TMPDIR" in answer.stderr


def test_damage_in_the_cache_of_packages_is_not_installed(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    """Of the same size, so that only a hash shows it."""
    nothing, dist = tmp_path / "nothing", tmp_path / "dist"
    for subdir in ("linux-64", "noarch"):
        (nothing / subdir).mkdir(parents=True)
        (nothing / subdir / "repodata.json").write_text('{"packages": {}, "packages.conda": {}}', encoding="utf-8")
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return slipway(*words, "--dist", dist, "--channel", nothing, env=environ)

    for words in (("ship", recipe), ("install", "tiny", "--prefix", tmp_path / "first")):
        answer = run(*words)
        assert answer.returncode == 0, answer.stdout + answer.stderr
    (unpacked,) = (tmp_path / "cache/slipway/unpacked").glob("*/files/x/a.txt")
    whole = unpacked.read_bytes()
    unpacked.write_bytes(b"?" * len(whole))
    answer = run("install", "tiny", "--prefix", tmp_path / "second")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert (tmp_path / "second/x/a.txt").read_bytes() == whole
