"""The written workflow, run: each job's shell steps in a fresh copy of the checkout, in the order of their needs."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from .conftest import CHECKOUT
from .workflow import Runner, evaluate

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Slipway


META = """\
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
SCRIPT = 'mkdir -p "$PREFIX/share"\necho "$PKG_NAME of $word" > "$PREFIX/share/$PKG_NAME.txt"\n'
GITHUB = {
    "event_name": "push",
    "ref": "refs/heads/main",
    "ref_name": "main",
    "repository": "someone/something",
}
GH = """\
#!/bin/sh
# Stands for GitHub's own program, which needs GitHub: notes what is asked of it, and that the files are there.
echo "$*" >> "$GH_NOTES"
case $2 in
  view) exit 1 ;;
  upload) for word; do case $word in *.conda) [ -f "$word" ] || exit 1 ;; esac; done ;;
esac
"""


def write_recipe(folder: Path) -> None:
    """Two outputs in two variants, the second made from the first."""
    folder.mkdir(parents=True)
    (folder / "meta.yaml").write_text(META, encoding="utf-8")
    (folder / "build.sh").write_text(SCRIPT, encoding="utf-8")
    (folder / "conda_build_config.yaml").write_text("word:\n  - here\n  - there\n", encoding="utf-8")


def settings_of_the_test() -> str:
    """This checkout's settings with what a machine without conda-forge, and without a device, can do."""
    settings = yaml.safe_load((CHECKOUT / "ci/slipway/workflows/settings.yaml").read_text(encoding="utf-8"))
    settings["channels"] = ["embedded"]
    settings["checks"]["command"] = "./slipway render recipes/chain && test ! -e dist/handed"
    here = settings["platforms"]["linux-64"]
    settings["platforms"] = {"linux-64": here, "linux-aarch64": here | {"built_on": "linux-64"}}
    settings["gpu"] |= {
        "package": "second",
        "requires": ["first"],
        "commands": ["grep -q 'second of' dist/env/share/second.txt"],
    }
    return yaml.safe_dump(settings)


@pytest.fixture
def written(slipway: Slipway, tmp_path: Path) -> Path:
    """A checkout with the recipe, and what `slipway ci write` writes for it."""
    checkout = tmp_path / "checkout"
    write_recipe(checkout / "recipes/chain")
    (tmp_path / "settings.yaml").write_text(settings_of_the_test(), encoding="utf-8")
    words = (checkout / "recipes/chain", "--github", "--to", checkout, "--settings", tmp_path / "settings.yaml")
    answer = slipway("ci", "write", *words)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return checkout


def copy_checkout(place: Path) -> None:
    """What git has of this checkout, as it lies here, with the recipe in it; its Python environment is shared."""
    place.mkdir(parents=True)
    listed = subprocess.run(
        [
            "git",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
            "slipway",
            "ci",
            "pyproject.toml",
        ],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (CHECKOUT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, place / name)
    write_recipe(place / "recipes/chain")
    (place / ".venv").symlink_to(CHECKOUT / ".venv")


def test_the_written_steps_run(written: Path, tmp_path: Path) -> None:
    runner = Runner(written, copy_checkout, tmp_path / "runs", GITHUB, run=1)
    results = runner.everything()
    assert results == {name: "skipped" if name == "release" else "success" for name in results}, runner.output
    expected = "the check, two outputs in two variants on two platforms, two devices, publish and release"
    assert len(results) == 1 + 8 + 2 + 2, expected
    for subdir in ("linux-64", "linux-aarch64"):
        channel = runner.artifacts / "channel" / subdir
        assert len(list(channel.glob("*.conda"))) == 4
        assert (channel / "repodata.json").is_file()
    reports = {path.parent.name for path in runner.artifacts.glob("report-*/report.html")}
    assert len(reports) == 8
    built = {name for name, text in runner.output.items() if re.search(r"(?m)built in ", text)}
    assert len(built) == 8

    again = Runner(written, copy_checkout, tmp_path / "runs", GITHUB, run=2)
    assert set(again.everything().values()) == {"success", "skipped"}, again.output
    assert not any(re.search(r"(?m)built in ", text) for text in again.output.values()), "nothing changed"


def test_a_tag_becomes_a_release_without_a_device(written: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "gh").write_text(GH, encoding="utf-8")
    (tools / "gh").chmod(0o755)
    notes = tmp_path / "notes"
    runner = Runner(
        written,
        copy_checkout,
        tmp_path / "runs",
        GITHUB | {"ref": "refs/tags/v1.0", "ref_name": "v1.0"},
        run=1,
        variables={"WITHOUT_GPU": "true"},
        environ={"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin", "GH_NOTES": str(notes)},
    )
    results = runner.everything()
    assert {name for name, result in results.items() if result == "skipped"} == {
        name for name in results if name.startswith("gpu-")
    }, runner.output
    assert results["release"] == "success", runner.output["release"]
    view, create, upload = notes.read_text(encoding="utf-8").splitlines()
    assert view.startswith("release view v1.0 --repo someone/something")
    assert create.startswith("release create v1.0 --repo someone/something --verify-tag")
    assert upload.count(".conda") == 8


INSTALLER = """\
#!/bin/sh
# Stands for the runner's Python, which would install slipway: notes what is asked of it.
echo "$*" >> "$NOTES"
"""


def test_another_repository(slipway: Slipway, tmp_path: Path) -> None:
    """Nothing of slipway's is in it but what `ci write` writes; jobs find it installed."""
    other, tools, notes = tmp_path / "other", tmp_path / "tools", tmp_path / "notes"
    write_recipe(other / "packaging")
    assert slipway("ci", "write", other / "packaging", "--to", other).returncode == 0
    assert slipway("ci", "write", other / "packaging", "--to", other, "--check").returncode == 0
    tools.mkdir()
    (tools / "slipway").symlink_to(CHECKOUT / "slipway")
    (tools / "python").write_text(INSTALLER, encoding="utf-8")
    (tools / "python").chmod(0o755)
    environ = {"PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin", "NOTES": str(notes)}
    runner = Runner(other, lambda place: shutil.copytree(other, place), tmp_path / "runs", GITHUB, 1, environ=environ)
    results = runner.everything()
    assert results == {name: "skipped" if name == "release" else "success" for name in results}, runner.output
    assert len(results) == 4 + 2
    assert set(notes.read_text(encoding="utf-8").splitlines()) == {"-m pip install slipway"}
    assert len(list((runner.artifacts / "channel/linux-64").glob("*.conda"))) == 4


def test_a_failure_stops_what_needs_it_and_nothing_is_published(written: Path, tmp_path: Path) -> None:
    def broken(place: Path) -> None:
        copy_checkout(place)
        script = place / "recipes/chain/build.sh"
        script.write_text('[ "$PKG_NAME $word" != "first here" ]\n' + SCRIPT, encoding="utf-8")

    runner = Runner(written, broken, tmp_path / "runs", GITHUB, run=1)
    results = runner.everything()
    assert results["linux-64-first-here_0"] == "failure"
    assert results["linux-64-second-here_0"] == "skipped"
    assert results["linux-64-second-there_0"] == "success", runner.output
    assert (results["publish"], results["release"]) == ("skipped", "skipped")
    assert (runner.artifacts / "report-linux-64-first-here_0/report.html").is_file(), (
        "the report of the failure is kept"
    )


def test_a_stranger_gets_no_device_of_ours(written: Path) -> None:
    workflow = yaml.safe_load((written / ".github/workflows/packages.yml").read_text(encoding="utf-8"))
    (condition,) = {job["if"] for name, job in workflow["jobs"].items() if name.startswith("gpu-")}

    def allowed(event: str, head: str, **variables: str) -> bool:
        values = {f"github.{key}": value for key, value in (GITHUB | {"event_name": event}).items()}
        values |= {"github.event.pull_request.head.repo.full_name": head}
        values |= {f"vars.{key}": value for key, value in variables.items()}
        return evaluate(condition, values, failed=False, succeeded=True)

    assert allowed("push", "")
    assert allowed("pull_request", "someone/something")
    assert not allowed("pull_request", "stranger/something")
    assert not allowed("push", "", WITHOUT_GPU="true")
