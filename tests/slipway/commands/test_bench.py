"""`slipway bench` lists the measurements and runs them where they can run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest

from slipway.base.checkout import require_checkout
from slipway.base.errors import BuildError, HostError, UsageError
from slipway.base.log import NullReporter
from slipway.commands import bench

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return bench.execute(parser.parse_args(words), NullReporter())


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    programs = {path.stem for path in (require_checkout() / "bench").glob("*.py")} - {
        "vs_pytorch_cases",
        "vs_pytorch_models",
        "vs_pytorch_operators",
        "vs_pytorch_programs",
        "vs_pytorch_transforms",
    }
    assert {line.split()[0] for line in lines} == programs
    assert all(line.rstrip().endswith(".") for line in lines)


def test_a_name_that_is_none() -> None:
    with pytest.raises(UsageError, match="there is no measurement `vs_pytorch_models`"):
        run("vs_pytorch_models")


def test_torch_must_have_been_shipped(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="there is no torch to measure"):
        run("--dist", str(tmp_path), "vs_pytorch")


def test_the_caller_learns_of_failure(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="exit code 1"):
        run("verify", "--dist", str(tmp_path))
    assert run("render", "--no-such-option") == 2


@pytest.mark.parametrize("name", sorted(bench.find_benchmarks(require_checkout() / "bench")))
def test_each_tells_its_options(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "env/bin/python"  # stands for dist/env: `--help` needs no torch
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nexec python3 "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    assert run("--dist", str(tmp_path), name, "--help") == 0
    assert "usage: " in capfd.readouterr().out


def test_a_cheap_one_runs(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("render", "--repeat", "1") == 0
    assert "recipe" in capfd.readouterr().out
