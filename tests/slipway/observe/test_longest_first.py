"""What takes longest starts first; everything else about a Ninja file stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from slipway.observe.longest_first import build_file, front, longest_first, main

FILE = """\
# Written by hand.
cxx = true
rule compile
  command = $cxx $in > $out
rule link
  command = cat $in > $out

build short.o: compile short.c || order
  FLAGS = a
build long.o: compile $
    long.c || order
build new.o: compile new.c || order
build order: phony

build all.so: link short.o long.o new.o

other = 1
build late.o: compile late.c
build latest.o: compile latest.c
default all.so late.o latest.o
"""
SECONDS = {"short.o": 1.0, "long.o": 9.0, "all.so": 0.5, "latest.o": 100.0}

needs_ninja = pytest.mark.skipif(shutil.which("ninja") is None, reason="Ninja is not installed here")


def test_statements_move_as_a_whole_and_nothing_else_does() -> None:
    text = longest_first(FILE, SECONDS)
    assert sorted(text.splitlines()) == sorted(FILE.splitlines())
    order = [line.split(":")[0].removeprefix("build ") for line in text.splitlines() if line.startswith("build ")]
    # What nobody knows goes first: `new.o`, `order` that it follows, and `late.o`, as heavy as its like may be.
    assert order == ["new.o", "order", "long.o", "short.o", "all.so", "late.o", "latest.o"]
    assert "build long.o: compile $\n    long.c || order\n" in text
    assert "build short.o: compile short.c || order\n  FLAGS = a\n" in text
    assert "build all.so: link short.o long.o new.o\n" in text, "inputs, and so the order of linking, stay"
    assert text.index("build all.so") < text.index("other = 1") < text.index("build latest.o"), (
        "never across a variable"
    )
    assert longest_first(text, SECONDS) == text


@pytest.mark.parametrize(
    "text",
    ["", "build\n", "build a: phony b\nbuild b: phony a\n", FILE.replace("build order: phony", "build order phony")],
)
def test_what_is_not_understood_stays(text: str) -> None:
    assert longest_first(text, SECONDS | {"a": 1.0}) == text


def test_nothing_known_is_nothing_done() -> None:
    assert longest_first(FILE, {}) == FILE
    assert longest_first(FILE, {"elsewhere.o": 3.0}) == FILE


def test_folder_and_file_as_ninja_takes_them() -> None:
    assert build_file([]) == Path("build.ninja")
    assert build_file(["-j", "4", "-C", "out", "all"]) == Path("out/build.ninja")
    assert build_file(["-Cout", "-fother.ninja"]) == Path("out/other.ninja")


def test_the_file_keeps_its_time(tmp_path: Path) -> None:
    path, seconds = tmp_path / "build.ninja", tmp_path / "seconds.json"
    path.write_text(FILE, encoding="utf-8")
    os.utime(path, ns=(10**18, 10**18 + 7))
    seconds.write_text(json.dumps(SECONDS), encoding="utf-8")
    main([str(seconds), "-C", str(tmp_path)])
    assert path.read_text(encoding="utf-8") == longest_first(FILE, SECONDS) != FILE
    assert path.stat().st_mtime_ns == 10**18 + 7
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["build.ninja", "seconds.json"]


@pytest.mark.parametrize("content", ["{", "[]", '{"a": []}', '{"a": "x"}'])
def test_broken_history_is_said_and_harmless(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    path, seconds = tmp_path / "build.ninja", tmp_path / "seconds.json"
    path.write_text(FILE, encoding="utf-8")
    seconds.write_text(content, encoding="utf-8")
    main([str(seconds), "-C", str(tmp_path)])
    assert path.read_text(encoding="utf-8") == FILE
    assert "slipway: the steps keep the order that they have" in capsys.readouterr().err


UNEVEN = """\
rule wait
  command = echo $out >> started && sleep $seconds && touch $out
build a: wait
  seconds = 0.1
build b: wait
  seconds = 0.1
build z: wait
  seconds = 0.4
default a b z
"""


@needs_ninja
def test_the_real_ninja_starts_the_longest_step_first(tmp_path: Path) -> None:
    seconds = tmp_path / "seconds.json"
    script = front(tmp_path / "tools", seconds) + '\nninja "$@" && type -P ninja\n'

    def build(*words: str) -> str:
        (tmp_path / "build.ninja").write_text(UNEVEN, encoding="utf-8")
        for name in ("a", "b", "z", "started"):
            (tmp_path / name).unlink(missing_ok=True)
        answer = subprocess.run(
            ["bash", "-euc", script, "bash", *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert answer.stdout.splitlines()[-1] == str(tmp_path / "tools/ninja")
        assert answer.stderr == ""
        return (tmp_path / "started").read_text(encoding="utf-8") if (tmp_path / "started").exists() else answer.stdout

    assert build("-j1") == "a\nb\nz\n", "without a history, the order of the file"
    seconds.write_text('{"a": 0.1, "b": 0.2, "z": 0.4}', encoding="utf-8")
    assert build("-j1") == "z\nb\na\n"
    assert build("-j1", "-C", str(tmp_path)).endswith("z\nb\na\n")
    assert build("--version")[0].isdigit()
    assert (tmp_path / "build.ninja").read_text(encoding="utf-8") == UNEVEN, "who asks for the version changes nothing"


def test_a_build_without_ninja_gets_none(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("mkdir", "cat", "chmod"):
        (tools / name).symlink_to(str(shutil.which(name)))
    script = front(tmp_path / "tools", tmp_path / "seconds.json") + "\ntype -P ninja || echo none\n"
    answer = subprocess.run(
        [str(shutil.which("bash")), "-euc", script],
        env={"PATH": str(tools)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (answer.stdout, answer.stderr) == ("none\n", "")
