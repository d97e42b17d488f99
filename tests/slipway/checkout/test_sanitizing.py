"""What sanitizers report is counted: each finding is one failure, wherever it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from slipway.base.log import NullReporter
from slipway.base.paths import Workspace
from slipway.checkout.run import TestRun
from slipway.checkout.sanitizing import show_reports

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60\n    #0 0x1 in f\n"
LEAK = "==13==ERROR: LeakSanitizer: detected memory leaks\n"
OVERFLOW = "Pad.cpp:7:3: runtime error: signed integer overflow: 2 * 4611686018427387904\n"
RACE = "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [([], 0), ([""], 0), ([ADDRESS], 1), ([LEAK, RACE], 2), ([OVERFLOW + ADDRESS + OVERFLOW, OVERFLOW], 4)],
)
def test_findings_are_counted(tmp_path: Path, files: list[str], found: int) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    for number, text in enumerate(files):
        (folder / f"report.{number}").write_text(text)
    run = TestRun(Workspace.of_checkout(str(tmp_path)), NullReporter(), None)
    assert show_reports(run, folder) == found
