"""`slipway ci run`: a small matrix through the real engine, cut off, broken, and run again."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.base.locks import hold_lock
from slipway.bootstrap.choices import embedded_choices

from .conftest import CHECKOUT

if TYPE_CHECKING:
    from .conftest import Slipway

ADDITIVE = CHECKOUT / "tests/golden/conda-build/additive"

CHAIN = """\
package:
  name: chain
  version: "1.0"
outputs:
  - name: first
    script: build.sh
    build: {string: "{{ word }}_0"}
    about: {license: MIT}
  - name: second
    script: build.sh
    build: {string: "{{ word }}_0"}
    requirements:
      host:
        - first
      run:
        - first
    about: {license: MIT}
"""
CONFIG = "word:\n  - here\n  - there\n"


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """Two outputs in two variants; a build of `second` shows what `first` it was built from."""
    folder = tmp_path / "recipe"
    folder.mkdir()
    (folder / "meta.yaml").write_text(CHAIN, encoding="utf-8")
    (folder / "conda_build_config.yaml").write_text(CONFIG, encoding="utf-8")
    write_script(folder, "true")
    return folder


def write_script(folder: Path, line: str) -> None:
    text = (
        f'{line}\nmkdir -p "$PREFIX/share"\ncat "$PREFIX"/share/first.txt > "$PREFIX/share/$PKG_NAME.txt" 2>/dev/null '
        '|| true\necho "$PKG_NAME of $word" >> "$PREFIX/share/$PKG_NAME.txt"\n'
    )
    (folder / "build.sh").write_text(text, encoding="utf-8")


def states(answer: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Job to state, from the closing table."""
    found = {}
    for line in answer.stdout.splitlines():
        cells = line.partition("]")[2].split("  ")
        words = [cell.strip() for cell in cells if cell.strip()]
        if len(words) == 4 and words[1] in ("built", "up to date", "failed", "left out"):
            found[words[0]] = words[1]
    return found


def test_golden_matrix_and_then_nothing(slipway: Slipway, tmp_path: Path) -> None:
    words = ("ci", "run", ADDITIVE, "--dist", tmp_path / "dist")
    answer = slipway(*words)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert set(states(answer).values()) == {"built"}
    jobs = 2 + len(embedded_choices().cudas)
    assert len(states(answer)) == jobs, "one for each CUDA of the embedded channel"
    index = json.loads((tmp_path / "dist/channel/linux-64/repodata.json").read_text(encoding="utf-8"))
    records = {record["name"]: record for record in index["packages.conda"].values()}
    build = records["libtoy"]["build"]
    for name in ("libtoy-cuda", "pytoy"):
        assert f"libtoy 1.0 {build}" in " ".join(records[name]["depends"]).replace("==", "").replace("=", " ")
    again = slipway(*words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert set(states(again).values()) == {"up to date"}
    page = tmp_path / "dist/ci/report.html"
    assert f"report: {page}" in again.stdout
    links = re.findall(r'<a href="([^#"]+)"', page.read_text(encoding="utf-8"))
    assert len(links) == 2 * jobs, "each job's report and log"
    assert all((page.parent / link).is_file() for link in links)
    shipped = slipway("ship", ADDITIVE, "--cuda", "13.0", "--dist", tmp_path / "dist")
    assert shipped.stdout.count("up to date: made from the same") == 3, "a job makes what `slipway ship` makes"


def test_own_variant_is_handed_on(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    answer = slipway("ci", "run", recipe, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert list(states(answer)) == ["first-here_0", "first-there_0", "second-here_0", "second-there_0"]
    for word in ("here", "there"):
        prefix = tmp_path / word
        assert slipway("install", f"second 1.0 {word}_0", "--dist", dist, "--prefix", prefix).returncode == 0
        text = (prefix / "share/second.txt").read_text(encoding="utf-8")
        assert text == f"first of {word}\nsecond of {word}\n"


def test_failure_leaves_out_what_waits_for_it_and_nothing_else(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    write_script(recipe, '[ "$PKG_NAME $word" != "first here" ] || { echo the cause; exit 3; }')
    dist = tmp_path / "dist"
    answer = slipway("ci", "run", recipe, "--dist", dist)
    assert answer.returncode == 8, answer.stdout + answer.stderr
    assert states(answer) == {
        "first-here_0": "failed",
        "second-here_0": "left out",
        "first-there_0": "built",
        "second-there_0": "built",
    }
    assert "the cause" in answer.stdout
    assert "1 of 4 jobs failed: first-here_0" in answer.stderr
    assert not (dist / "channel").exists(), "nothing is published of a run that failed"
    text = slipway("report", "--ci", "--text", "--dist", dist).stdout
    assert text.startswith("slipway ci run: failed in ")
    assert re.search(r"^second-here_0 +left out", text, re.MULTILINE)
    write_script(recipe, "true")
    assert slipway("ci", "run", recipe, "--dist", dist).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_killed_run_goes_on(slipway: Slipway, recipe: Path, tmp_path: Path, number: signal.Signals) -> None:
    """`first` is kept; whatever `second` was doing ends with the run, even when that cannot say goodbye."""
    mark = tmp_path / "mark"
    write_script(recipe, stay_once(mark))
    dist = tmp_path / "dist"
    command = [str(CHECKOUT / "slipway"), "ci", "run", str(recipe), "--dist", str(dist), "--jobs", "1"]
    command += ["--isolation", "off"]  # from within a sandbox nobody could leave a mark here
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        while not stays(mark):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        os.kill(process.pid, number)
        process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGKILL)
    deadline = time.monotonic() + 30
    while stays(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not stays(mark), "no job outlives the run"
    text = slipway("report", "--ci", "--text", "--dist", dist).stdout
    assert text.startswith(f"slipway ci run: {'failed' if number is signal.SIGINT else 'cut off'} in ")
    assert re.search(r"^second-\w+ +cut off", text, re.MULTILINE)
    answer = slipway("ci", "run", recipe, "--dist", dist)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    found = states(answer)
    assert "up to date" in (found["first-here_0"], found["first-there_0"])
    assert {found["second-here_0"], found["second-there_0"]} == {"built"}


def stay_once(mark: Path) -> str:
    """What makes the first build of `second` stay, with its process's number in `mark`."""
    return f'if [ "$PKG_NAME" = second ] && (set -C; echo $$ > {mark}) 2> /dev/null; then exec sleep 321; fi'


def stays(mark: Path) -> bool:
    """Whether the process that left its number in `mark` is there."""
    text = mark.read_text(encoding="ascii").strip() if mark.exists() else ""
    return bool(text) and Path("/proc", text).exists()


def test_second_run_in_the_same_folder_is_told(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    with hold_lock(tmp_path / "dist/ci/.lock"):
        answer = slipway("ci", "run", recipe, "--dist", tmp_path / "dist")
    assert answer.returncode == 13
    assert "another slipway is at work" in answer.stderr
    assert slipway("ci", "run", recipe, "--dist", tmp_path / "dist").returncode == 0


def test_job_without_what_it_needs(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    handed = tmp_path / "handed"
    words = (recipe, "--dist", tmp_path / "dist", "--handed", handed)
    answer = slipway("ci", "job", "second-here_0", *words)
    assert answer.returncode == 12, answer.stdout + answer.stderr
    assert "`first-1.0-here_0` is needed, and not there" in answer.stderr
    assert slipway("ci", "job", "first-here_0", *words).returncode == 0
    assert slipway("ci", "job", "second-here_0", *words).returncode == 0
    packages = ["first-1.0-here_0.conda", "second-1.0-here_0.conda"]
    records = [f"{name}.sha256" for name in packages]
    assert sorted(path.name for path in handed.glob("*/*")) == sorted(packages + records)
    answer = slipway("ci", "job", "third", *words)
    assert answer.returncode == 4
    assert "run `slipway ci write`" in answer.stderr


def test_what_is_damaged_on_its_way_is_not_taken(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    handed, words = tmp_path / "handed", (recipe, "--dist", tmp_path / "dist", "--handed", tmp_path / "handed")
    assert slipway("ci", "job", "first-here_0", *words).returncode == 0
    (package,) = handed.glob("*/first-*.conda")
    content, record = package.read_bytes(), package.with_name(f"{package.name}.sha256")
    promise = record.read_bytes()
    damages = [
        (content[:-30] + bytes([content[-30] ^ 1]) + content[-29:], promise),
        (content[: len(content) // 2], promise),
        (b"", promise),
        (content, b""),
        (content, b"\xff\0" * 40),
    ]
    for bytes_then, record_then in damages:
        package.write_bytes(bytes_then)
        record.write_bytes(record_then)
        for command in (("ci", "job", "second-here_0", *words), ("publish", "--to", tmp_path / "channel", package)):
            answer = slipway(*command)
            assert answer.returncode == 6, answer.stdout + answer.stderr
            assert str(package) in answer.stderr
            assert "run the job that makes it again" in answer.stderr
    package.write_bytes(content)
    record.unlink()
    answer = slipway("ci", "job", "second-here_0", *words)
    assert answer.returncode == 6, answer.stdout + answer.stderr
    assert "without its record" in answer.stderr
    # What comes back of an earlier run of the same job is only not used.
    again = slipway("ci", "job", "first-here_0", recipe, "--dist", tmp_path / "2", "--handed", handed)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "of an earlier run is not used" in again.stdout
    assert record.read_bytes() == promise
    assert slipway("ci", "job", "second-here_0", *words).returncode == 0


def test_another_machine_goes_on_from_what_was_handed_on(slipway: Slipway, recipe: Path, tmp_path: Path) -> None:
    """As with a CI cache: a package that comes back is not built again, and not when its sources changed."""
    handed = tmp_path / "handed"
    assert slipway("ci", "job", "first-here_0", recipe, "--dist", tmp_path / "1", "--handed", handed).returncode == 0
    answer = slipway("ci", "job", "first-here_0", recipe, "--dist", tmp_path / "2", "--handed", handed)
    assert "up to date" in answer.stdout
    write_script(recipe, "echo changed")
    shutil.rmtree(tmp_path / "2")
    answer = slipway("ci", "job", "first-here_0", recipe, "--dist", tmp_path / "2", "--handed", handed)
    assert answer.returncode == 0
    assert "up to date" not in answer.stdout
