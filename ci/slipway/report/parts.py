"""What the pages of one run and of many jobs are made of, and what they and the terminal say alike."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from slipway.base.events import StageKey
from slipway.base.text import human_seconds, human_size
from slipway.report.layout import ticks

if TYPE_CHECKING:
    from slipway.report.run_report import OutputState, TimedStage

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Panel:
    """A part of a report, on the page and in the text: its place in the page, its word in the menu, its headline."""

    key: str
    word: str
    title: str


FAILURE = Panel("failure", "Failure", "What went wrong")
OUTPUTS = Panel("outputs", "Outputs", "What was built, and why")
JOBS = Panel("jobs", "Jobs", "The jobs, and why they were done")
TIMELINE = Panel("timeline", "Timeline", "Timeline")
ORDER = Panel("order", "Order", "What waits for what")
PROFILE = Panel("profile", "Profile", "Where the time went")
STEPS = Panel("steps", "Steps", "Ninja's steps")
SIZES = Panel("sizes", "Sizes", "Package sizes")
MODULES = Panel("modules", "Modules", "Modules")
FINDINGS = Panel("findings", "Findings", "Findings of verify")

RUN_PANELS = (FAILURE, OUTPUTS, TIMELINE, PROFILE, STEPS, SIZES, MODULES, FINDINGS)
"""The report of one run, in its order."""

JOBS_PANELS = (FAILURE, JOBS, TIMELINE, ORDER, SIZES, FINDINGS)
"""The report of a run over many jobs."""


def templates() -> jinja2.Environment:
    """The templates of all pages, with the filters that they use."""
    # As Python's own: compiled once, and kept where nobody writes who may not change slipway itself.
    compiled = Path(sys.pycache_prefix) / "templates" if sys.pycache_prefix is not None else None
    if compiled is not None:
        compiled.mkdir(parents=True, exist_ok=True)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        bytecode_cache=jinja2.FileSystemBytecodeCache(str(compiled)) if compiled is not None else None,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["titles"] = {panel.key: panel.title for panel in (*RUN_PANELS, *JOBS_PANELS)}
    environment.filters.update(size=human_size, seconds=short_seconds, percent=lambda value: f"{100 * value:.3f}%")
    return environment


def make_axis(seconds: float) -> list[dict[str, Any]]:
    """Marks over so many seconds: where (0 to 1), and what stands there."""
    return [{"at": tick / seconds if seconds else 0.0, "label": _tick(tick)} for tick in ticks(seconds)]


def _tick(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def moment(seconds: float) -> str:
    """A time since 1970 as people read it."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def short_seconds(seconds: float) -> str:
    """``42 ms``, ``8.3 s``, ``1 min 23 s``."""
    return f"{1000 * seconds:.0f} ms" if 0 < seconds < 0.1 else human_seconds(seconds)


def outcome(ok: bool | None) -> str:
    """``done``, ``failed`` or ``cut off``."""
    return {True: "done", False: "failed", None: "cut off"}[ok]


def is_stage_of(stage: TimedStage, state: OutputState) -> bool:
    """Whether that is the stage which brings the output up to date."""
    return stage.stage.key is StageKey.OUTPUT and stage.stage.subject == state.key
