"""What a run over workers does by itself, without any."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from slipway.base.log import NullReporter

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("distributed")

from slipway.workflows.fleet import Fleet


def test_a_run_that_is_over_ends_also_if_the_scheduler_answers_just_then(tmp_path: Path) -> None:
    """The watcher is cancelled in the moment in which what it waits for is there."""

    async def run() -> bool:
        answers: list[asyncio.Future[Any]] = []

        def identity(n_workers: int) -> asyncio.Future[Any]:
            answers.append(asyncio.get_running_loop().create_future())
            return answers[-1]

        fleet = Fleet("tcp://nowhere:1", tmp_path, tmp_path / "asked.bundle", (), {}, NullReporter())
        fleet._client = SimpleNamespace(scheduler=SimpleNamespace(identity=identity))
        watcher = asyncio.create_task(fleet._watch())
        await asyncio.sleep(0.01)
        (answer,) = answers
        answer.set_result({"workers": {}})
        watcher.cancel()
        await asyncio.wait({watcher}, timeout=5)
        ended = watcher.done()
        watcher.cancel()
        return ended

    assert asyncio.run(run())
