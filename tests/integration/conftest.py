"""What integration tests share: the launcher as users call it, and folders of their own."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from slipway.base.locks import hold_lock

CHECKOUT = Path(__file__).resolve().parents[2]
RECIPES = Path(__file__).parent / "recipes"

Slipway = Callable[..., "subprocess.CompletedProcess[str]"]
ShipTorch = Callable[..., AbstractContextManager[Path]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here builds, installs or starts programs."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.integration)


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of channels yet, and the user is told nothing of those of tests."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def slipway() -> Slipway:
    """``slipway("ship", ..., env={...})``: runs the launcher and returns what it said."""

    def run(
        *words: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        return subprocess.run(
            [str(CHECKOUT / "slipway"), *map(str, words)],
            env=environment | (env or {}),
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def ship_torch() -> ShipTorch:
    """``with ship_torch("--cuda", "13.0") as dist:`` brings this checkout's packages up to date; where they are.

    Meanwhile no other test works on them: files of tests run side by side, and one slipway at a time may use a folder.
    """

    @contextmanager
    def ship(*options: str) -> Iterator[Path]:
        dist = Path(os.environ.get("SLIPWAY_TEST_DIST") or CHECKOUT / "dist")
        with hold_lock(dist / ".tests.lock", patience=math.inf):
            command = [str(CHECKOUT / "slipway"), "ship", *options, "--dist", str(dist)]
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
            assert answer.returncode == 0, answer.stdout + answer.stderr
            assert "--no-install" in options or "tensor([0.8506], grad_fn=<SigmoidBackward0>)" in answer.stdout
            yield dist

    return ship


def name_build(dist: Path, output: str, *options: str) -> str:
    """The build of `output` that `ship` makes with these options, as `install` takes it: there may be others."""
    command = [str(CHECKOUT / "slipway"), "plan", *options, "--dist", str(dist), "--json"]
    plan = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    (build,) = (parts for entry in plan if (parts := entry["package"].rsplit("-", 2))[0] == output)
    return " ".join(build)
