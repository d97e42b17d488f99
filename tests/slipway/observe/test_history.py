"""What former builds teach: how many compilers fit into memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from slipway.base.events import Phase
from slipway.observe.history import (
    fitting_jobs,
    jobs_for,
    last_build,
)
from slipway.observe.record import TimedPhase, record_path, write_record

from ..recorded_build import RECORD

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("peaks", "wanted", "free", "expected"),
    [
        ([], 8, 1, 8),
        ([100] * 20, 8, 10_000, 8),
        ([100] * 20, 8, 500, 4),
        ([100] * 3, 8, 400, 8),
        ([1000, 100, 100], 8, 1250, 2),
        ([1000], 8, 500, 1),
    ],
)
def test_the_largest_ones_together_must_fit(peaks: list[int], wanted: int, free: int, expected: int) -> None:
    assert fitting_jobs(peaks, wanted, free) == expected


def test_the_last_build_counts_whatever_its_build_string(tmp_path: Path) -> None:
    later = replace(
        RECORD, key="libtoy-1.1-h9_0", phases=(TimedPhase(Phase.COMPILE, 2e9, 2e9 + 1),), steps=RECORD.steps[:2]
    )
    for record in (RECORD, later):
        write_record(record_path(tmp_path, record.key), record)
    (tmp_path / "broken.build.json").write_text("{", encoding="utf-8")
    assert last_build(tmp_path, "libtoy") == later
    assert last_build(tmp_path, "libother") is None
    assert jobs_for(tmp_path, "libtoy", 4, 200_000_000) == 1
    assert jobs_for(tmp_path, "libother", 4, 200_000_000) == 4
