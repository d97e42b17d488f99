"""What slipway's tests share: hand-made outputs, so that neither the renderer nor a compiler is needed."""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base import secrets
from slipway.base.log import NullReporter
from slipway.base.paths import Workspace
from slipway.commands._options import add_request_arguments, request_of
from slipway.engines import load_engine
from slipway.model import RenderedOutput, Requirements, RunExports
from slipway.pipeline.context import RunContext
from slipway.request import Configurations
from slipway.workflows.matrix import Matrix, make_matrix
from slipway.workflows.settings import load_settings

if TYPE_CHECKING:
    from slipway.request import Request

CHECKOUT = Path(__file__).resolve().parents[2]

MakeOutput = Callable[..., RenderedOutput]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's cache out of tests, and tests out of the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def parse() -> Callable[..., Request]:
    """``parse("--python", "3.12")``: the request that a command makes of these words."""

    def make(*words: str) -> Request:
        parser = argparse.ArgumentParser()
        parser.set_defaults(words=words)
        add_request_arguments(parser)
        return request_of(parser.parse_args(words))

    return make


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_known", set())


@pytest.fixture
def make_output(tmp_path: Path) -> MakeOutput:
    """``make_output(name, script="...")``: an output whose recipe folder holds build.sh with that text."""

    def make(name: str = "libtoy", *, script: str = "mkdir -p $PREFIX/lib\n", **changes: Any) -> RenderedOutput:
        folder = tmp_path / f"recipe-{name}"
        folder.mkdir(exist_ok=True)
        (folder / "build.sh").write_text(script, encoding="utf-8")
        (folder / "LICENSE").write_text("Do as you like.\n", encoding="utf-8")
        output = RenderedOutput(
            name=name,
            version="1.0",
            build_string="h0123456_0",
            build_number=0,
            subdir="linux-64",
            noarch=None,
            variant={"target_platform": "linux-64"},
            hash_input={},
            requirements=Requirements(),
            run_exports=RunExports(),
            recipe_dir=folder,
            script="build.sh",
            about={"license": "MIT", "license_file": "LICENSE"},
        )
        return replace(output, **changes)

    return make


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An output folder of its own."""
    return Workspace(tmp_path / "dist")


@pytest.fixture
def make_context(workspace: Workspace) -> Callable[..., RunContext]:
    """A run without any channel but its own."""

    def make(**changes: Any) -> RunContext:
        given: dict[str, Any] = {
            "workspace": workspace,
            "engine": load_engine("rattler"),
            "channels": (),
            "environ": dict(os.environ),
            "reporter": NullReporter(),
            "jobs": 2,
        }
        return RunContext(**(given | changes))

    return make


@pytest.fixture
def git_checkout(tmp_path: Path) -> Path:
    """An empty git repository."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@pytest.fixture(scope="session")
def own_matrix() -> Matrix:
    """What `slipway ci write` writes from."""
    return make_matrix(CHECKOUT / "recipe", CHECKOUT, load_settings(), Configurations())
