"""`slipway render` and `slipway plan`, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slipway.cli import main

GOLDEN = Path(__file__).parents[2] / "golden" / "conda-build"
ELSEWHERE = ("--channel", "conda-forge")
"""Where the embedded channel's pins have no say: then the answers are those of conda-build alone."""

CASES = sorted(path.parent for path in GOLDEN.glob("*/expected.json"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home and working directory without configurations of their own."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_render_json_is_the_golden_file(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(case), "--json", *ELSEWHERE]) == 0
    assert capsys.readouterr().out == (case / "expected.json").read_text()


def test_render_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", str(GOLDEN / "additive"), *ELSEWHERE]) == 0
    printed = capsys.readouterr().out
    assert "linux-64/libtoy-1.0-mkl_hae8db99_0" in printed
    assert "run      libtoy 1.0 mkl_hae8db99_0" in printed
    assert printed.endswith("4 packages\n")


def test_plan_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--matrix", str(GOLDEN / "additive"), *ELSEWHERE]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "   package                             subdir    uses",
        "1  libtoy-1.0-mkl_hae8db99_0           linux-64  blas_impl mkl",
        "2  libtoy-cuda-1.0-cuda124_h760fcd4_0  linux-64  cuda_compiler_version 12.4",
        "3  libtoy-cuda-1.0-cuda130_h51efa30_0  linux-64  cuda_compiler_version 13.0",
        "4  pytoy-1.0-py311_100                 linux-64  python 3.11.*",
    ]


def test_plan_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--matrix", str(GOLDEN / "noarch_python"), "--json", *ELSEWHERE]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"order": 1, "package": "pure-1.4-py_0", "variant": "pure-py_0", "subdir": "noarch", "uses": {}}
    ]


def keys_of(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert main(["render", str(GOLDEN / "additive"), "--json", *ELSEWHERE, *options]) == 0
    return [key for key in json.loads(capsys.readouterr().out) if key.startswith("pytoy")]


def test_configurations_and_their_precedence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "python.yaml"
    python.write_text("python:\n  - 3.12.*\n  - 3.13.*\n")
    assert keys_of(capsys) == ["pytoy-1.0-py311_100"]
    assert keys_of(capsys, "-m", str(python)) == ["pytoy-1.0-py312_100", "pytoy-1.0-py313_100"]
    assert keys_of(capsys, "--exclusive-config-file", str(python)) == ["pytoy-1.0-py311_100"]
    assert keys_of(capsys, "--variants", "{python: [3.10]}") == ["pytoy-1.0-py310_100"]


def test_home_and_working_directory_unless_exclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = tmp_path / "recipe"
    recipe.mkdir()
    (recipe / "meta.yaml").write_text("package:\n  name: a\n  version: 1\nrequirements:\n  host:\n    - mpi\n")
    (tmp_path / "home" / "conda_build_config.yaml").write_text("mpi:\n  - home\n")
    exclusive = tmp_path / "exclusive.yaml"
    exclusive.write_text("mpi:\n  - exclusive\n")

    def host(*options: str) -> str:
        assert main(["render", str(recipe), "--json", *ELSEWHERE, *options]) == 0
        (output,) = json.loads(capsys.readouterr().out).values()
        return str(output["requirements"]["host"][0])

    assert host() == "mpi home.*"
    (tmp_path / "conda_build_config.yaml").write_text("mpi:\n  - here\n")
    assert host() == "mpi here.*"
    assert host("--exclusive-config", str(exclusive)) == "mpi exclusive.*"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["render", "missing"], 3, "there is no recipe here"),
        (["render", str(GOLDEN / "additive"), "-m", "missing.yaml"], 3, "there is no such variant configuration"),
        (["plan", "--matrix", str(GOLDEN / "additive"), "--variants", "[1"], 2, "--variants is not valid YAML"),
        (["plan", "--matrix", str(GOLDEN / "additive"), "--variants", "x"], 2, "--variants must map keys to values"),
    ],
)
def test_bad_options(options: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(options) == code
    assert message in capsys.readouterr().err


TWICE = """\
package:
  name: demo
  version: "1.0"
build:
  number: 0
  script: make
  number: 1
requirements:
  host:
    - mpi
"""


def test_what_is_given_twice_counts_as_in_conda_build_and_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "meta.yaml").write_text(TWICE, encoding="utf-8")
    (tmp_path / "conda_build_config.yaml").write_text("mpi:\n  - one\nmpi:\n  - two\n  - three\n", encoding="utf-8")
    assert main(["render", str(tmp_path), "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert {tuple(output["requirements"]["host"]) for output in found.values()} == {("mpi two.*",), ("mpi three.*",)}
    assert {output["number"] for output in found.values()} == {1}
    assert printed.err.replace(f"{tmp_path}/", "") == (
        "warning: `mpi` is set twice: the last counts, as in conda-build\n"
        "  at: conda_build_config.yaml:3\n"
        "  hint: the first is on line 1\n"
        "warning: `number` is given twice: the last counts, as in conda-build\n"
        "  at: meta.yaml:7\n"
        "  hint: the first is on line 5; keep one, or choose with selectors\n"
    )
