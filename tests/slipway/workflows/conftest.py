"""The matrix of this checkout's own recipe, and jobs from small ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from slipway.base.platform import LINUX_64
from slipway.recipe import Recipe, VariantConfigText, render
from slipway.workflows.graph import Job, make_jobs

CHECKOUT = Path(__file__).resolve().parents[3]

MakeJobs = Callable[..., dict[str, Job]]


@pytest.fixture
def jobs_of() -> MakeJobs:
    """``jobs_of(meta, config)``: jobs by identifier, in order."""

    def make(meta: str, config: str = "") -> dict[str, Job]:
        recipe = Recipe(
            directory=Path("recipe"),
            path="meta.yaml",
            text=dedent(meta),
            config=VariantConfigText("conda_build_config.yaml", dedent(config)),
            read_file={}.get,
        )
        return {
            job.identifier: job for job in make_jobs(render(recipe, platform=LINUX_64, environ={}), LINUX_64.subdir)
        }

    return make
