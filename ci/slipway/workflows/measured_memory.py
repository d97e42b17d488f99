"""What earlier runs of ``slipway ci run`` measured takes the place of what settings.yaml guesses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from slipway.observe.history import needed_memory
from slipway.observe.record import read_records

if TYPE_CHECKING:
    from pathlib import Path

    from slipway.workflows.settings import Settings


def use_measured_memory(settings: Settings, folder: Path, cores: int) -> Settings:
    """`settings` with the memory that each output's jobs needed in `folder` (dist/ci), where one was built before.

    Args:
        cores: those of this machine; a job never runs more compilers than that.
    """
    resources = dict(settings.resources)
    largest: dict[str, float] = {}
    for logs in sorted(folder.glob("*/logs")):
        for record in read_records(logs):
            given = settings.resources_of(record.name)
            needed = needed_memory(record, min(given.cores, cores)) / 1e9
            largest[record.name] = max(largest.get(record.name, 0.0), needed)
    for name, needed in largest.items():
        if needed > 0:
            resources[name] = replace(settings.resources_of(name), memory_gb=needed)
    return replace(settings, resources=resources)
