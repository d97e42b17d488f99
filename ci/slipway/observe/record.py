"""What is kept of the last build of an output: its phases, Ninja's steps, memory, modules. One JSON file."""

from __future__ import annotations

import dataclasses
import json
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipway.base.events import Phase  # noqa: TC001 - a record is converted to these types
from slipway.base.files import write_file
from slipway.base.json_file import read_json
from slipway.base.schema import convert
from slipway.observe.memory import Sample  # noqa: TC001 - a record is converted to these types
from slipway.observe.modules import Module, read_modules
from slipway.observe.ninja import critical_path, parse_build, parse_log

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from slipway.observe.ninja import Edge, Step

FORMAT = 2


@dataclass(frozen=True)
class TimedPhase:
    """A phase of a build: when it ran, in seconds since 1970."""

    phase: Phase
    start: float
    end: float


@dataclass(frozen=True)
class TimedStep:
    """One step of Ninja: the first file it writes, when (seconds since 1970), its peak memory in bytes if sampled."""

    output: str
    start: float
    end: float
    memory: int | None = None
    critical: bool = False

    @property
    def seconds(self) -> float:
        """How long it ran."""
        return self.end - self.start

    @property
    def kind(self) -> str:
        """``compile``, ``link`` or ``generate``, by what it writes."""
        name = self.output.rpartition("/")[2]
        if name.endswith((".o", ".obj")):
            return "compile"
        linked = ".so" in name or name.endswith((".a", ".dylib", ".dll", ".lib", ".exe")) or "." not in name
        return "link" if linked else "generate"

    @property
    def source(self) -> str:
        """The source file as people know it: CMake's object folders and suffixes left out; ``__`` stands for ``..``."""
        folder, mark, rest = self.output.partition("CMakeFiles/")
        if not mark:
            return self.output
        name = rest.partition(".dir/")[2] or rest
        parts = [".." if part == "__" else part for part in (folder + name).split("/")]
        return posixpath.normpath("/".join(parts)).removesuffix(".o").removesuffix(".obj")


@dataclass(frozen=True)
class BuildRecord:
    """One build of one output.

    Attributes:
        key: the output's key, ``name-version-build``.
        name: the output's name.
        jobs: how many compilers were allowed at once.
        samples: memory and running steps over time.
        modules: CMake's targets.
    """

    key: str
    name: str
    jobs: int
    phases: tuple[TimedPhase, ...] = ()
    steps: tuple[TimedStep, ...] = ()
    samples: tuple[Sample, ...] = ()
    modules: tuple[Module, ...] = ()

    @property
    def seconds(self) -> float:
        """From the first phase's start to the last one's end."""
        return self.phases[-1].end - self.phases[0].start if self.phases else 0.0

    @property
    def peak_memory(self) -> int:
        """Bytes of all processes together, at their most."""
        return max((sample.resident for sample in self.samples), default=0)

    @property
    def critical_seconds(self) -> float:
        """What the compilation takes on any number of processors."""
        return sum(step.seconds for step in self.steps if step.critical)


def read_ninja(folder: Path, peaks: Mapping[str, int]) -> tuple[tuple[TimedStep, ...], tuple[Module, ...]]:
    """Steps and modules of every Ninja build below `folder`, from its .ninja_log and build.ninja.

    Args:
        peaks: bytes by file written, as sampled; names relative to the build folder, or absolute.
    """
    steps: list[TimedStep] = []
    modules: dict[str, Module] = {}
    for log in sorted(folder.rglob(".ninja_log")):
        try:
            ran = parse_log(log.read_text(encoding="utf-8", errors="replace"))
        except ValueError:
            continue  # not Ninja's, or of a version to come: the report does without
        statements = log.with_name("build.ninja")
        text = statements.read_text(encoding="utf-8", errors="replace") if statements.is_file() else ""
        edges = parse_build(text)
        # Ninja writes a line as its step ends, so that the file's time is the last step's end.
        origin = log.stat().st_mtime - max((step.end for step in ran), default=0.0)
        steps += _time_steps(ran, edges, origin, peaks)
        modules.update((module.name, module) for module in read_modules(edges, ran))
    return tuple(steps), tuple(modules.values())


def _time_steps(ran: Sequence[Step], edges: Sequence[Edge], origin: float, peaks: Mapping[str, int]) -> list[TimedStep]:
    heavy = {id(step) for step in critical_path(ran, edges)}
    return [
        TimedStep(
            step.outputs[0],
            round(origin + step.start, 3),
            round(origin + step.end, 3),
            max((peaks[name] for name in step.outputs if name in peaks), default=None),
            id(step) in heavy,
        )
        for step in ran
    ]


def record_path(logs: Path, key: str) -> Path:
    """Where the record of an output lies."""
    return logs / f"{key}.build.json"


def write_record(path: Path, record: BuildRecord) -> None:
    """Write beside, then rename: a reader sees the old record or the new one."""
    write_file(path, json.dumps({"format": FORMAT, **dataclasses.asdict(record)}))


def read_record(path: Path) -> BuildRecord | None:
    """The record in that file; None when it is of another format, or no record at all."""
    given = read_json(path)
    if not isinstance(given, dict) or given.pop("format", None) != FORMAT:
        return None
    return convert(given, BuildRecord)


def read_records(logs: Path) -> list[BuildRecord]:
    """Every record in the folder of logs."""
    records = (read_record(path) for path in sorted(logs.glob("*.build.json")))
    return [record for record in records if record is not None]
