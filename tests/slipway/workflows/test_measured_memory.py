"""Memory as measured counts more than memory as guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.events import Phase
from slipway.observe.memory import Sample
from slipway.observe.record import BuildRecord, TimedPhase, TimedStep, record_path, write_record
from slipway.workflows.measured_memory import use_measured_memory
from slipway.workflows.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path


def keep(folder: Path, job: str, name: str, peak: int, *steps: int) -> None:
    """The record of a build in the folder of a job."""
    record = BuildRecord(
        key=f"{name}-1.0-0",
        name=name,
        jobs=2,
        phases=(TimedPhase(Phase.COMPILE, 0, 9),),
        steps=tuple(TimedStep(f"{memory}.o", 0, 1, memory) for memory in steps),
        samples=(Sample(0, peak, 2),),
    )
    write_record(record_path(folder / job / "logs", record.key), record)


def test_what_was_measured_takes_the_place(tmp_path: Path) -> None:
    settings = load_settings()
    keep(tmp_path, "libtorch_mkl", "libtorch", 3_000_000_000, *[1_000_000_000] * 9)
    keep(tmp_path, "libtorch_openblas", "libtorch", 3_500_000_000, 1_000_000_000)
    keep(tmp_path, "new", "newcomer", 500_000_000)
    keep(tmp_path, "quick", "pytorch-gpu", 0)
    known = use_measured_memory(settings, tmp_path, cores=4)
    assert known.resources_of("libtorch").memory_gb == 4.0, "four of the largest steps may meet"
    assert use_measured_memory(settings, tmp_path, cores=2).resources_of("libtorch").memory_gb == 3.5
    assert known.resources_of("libtorch").minutes == settings.resources_of("libtorch").minutes
    assert known.resources_of("newcomer").memory_gb == 0.5
    assert known.resources_of("pytorch-gpu") == settings.resources_of("pytorch-gpu"), "too short to be measured"
    assert known.resources_of("libtorch-cuda") == settings.resources_of("libtorch-cuda")
    assert known.resources_of("another") == settings.resources["default"]


def test_nothing_was_ever_run(tmp_path: Path) -> None:
    assert use_measured_memory(load_settings(), tmp_path / "ci", cores=4) == load_settings()
