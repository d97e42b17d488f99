"""What integration tests share: the launcher as users call it, and folders of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
RECIPES = Path(__file__).parent / "recipes"

Slipway = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here builds, installs or starts programs."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.integration)


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
