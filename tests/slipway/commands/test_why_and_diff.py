"""`why` follows requirements, `diff` tells two packages apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from slipway.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from ..conftest import Kit

DEPENDS = {
    "app": ["lib >=2", "tool"],
    "tool": ["python >=3.10", "lib"],
    "lib": ["runtime 1.*"],
    "runtime": [],
    "python": ["runtime"],
    "alone": [],
}


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An environment's records."""
    (tmp_path / "env/conda-meta").mkdir(parents=True)
    for name, depends in DEPENDS.items():
        path = tmp_path / f"env/conda-meta/{name}-1-0.json"
        path.write_text(json.dumps({"name": name, "depends": depends}), encoding="utf-8")
    return tmp_path / "env"


@pytest.mark.parametrize(
    ("packages", "expected"),
    [
        (["app", "runtime"], "app needs lib >=2\nlib needs runtime 1.*\n"),
        (["tool", "python"], "tool needs python >=3.10\n"),
        (["lib"], "app needs lib >=2\ntool needs lib\n"),
        (["lib", "python"], "nothing that `lib` needs asks for `python`\n"),
        (["alone"], "nothing asks for `alone`\n"),
    ],
)
def test_why(packages: list[str], expected: str, prefix: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", *packages, "--prefix", str(prefix)]) == 0
    assert capsys.readouterr().out == expected


def test_why_of_what_is_not_there(prefix: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", "runtme", "--prefix", str(prefix)]) == 2
    assert "did you mean `runtime`?" in capsys.readouterr().err
    assert main(["why", "runtime", "--prefix", str(tmp_path)]) == 2
    assert "there is no environment" in capsys.readouterr().err


def test_diff(kit: Kit, capsys: pytest.CaptureFixture[str]) -> None:
    old = kit.package(
        {"lib/libgood.so": kit.library("int one(void) { return 1; }"), "share/gone": "x", "share/grown": "x"},
        depends=["python", "zlib <1"],
        info={"hash_input.json": b'{"zlib": "1"}'},
    )
    new = kit.package(
        {"lib/libgood.so": kit.library("int two(void) { return 1; }"), "share/new": "x", "share/grown": "xyz"},
        version="1.1",
        depends=["python", "zlib <2"],
        info={"hash_input.json": b'{"zlib": "2"}', "run_exports.json": b'{"weak": ["good >=1"]}'},
    )
    assert main(["diff", str(old), str(new), "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)
    assert changes.pop("sizes")[-1] == "share/grown: 1 B -> 3 B"
    assert changes == {
        "package": ["version: 1.0 -> 1.1"],
        "depends": ["- zlib <1", "+ zlib <2"],
        "run_exports": ["+ weak: good >=1"],
        "files": ["- share/gone", "+ share/new"],
        "exports": ["lib/libgood.so: - one", "lib/libgood.so: + two"],
        "hash": ["zlib: 1 -> 2"],
    }
    assert main(["diff", str(old), str(old)]) == 0
    assert "nothing that can be told" in capsys.readouterr().out
    assert main(["diff", str(old), "nowhere.conda"]) == 2
