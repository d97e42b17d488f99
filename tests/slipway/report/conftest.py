"""A small run as it lies on disk: journal, record of a build, package."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import zstandard

from slipway.base.events import (
    Decided,
    Event,
    Finding,
    Packaged,
    Phase,
    PhaseStarted,
    Reason,
    RunEnded,
    RunStarted,
    Stage,
    StageEnded,
    StageKey,
    StageStarted,
)
from slipway.base.paths import RUNS, Workspace
from slipway.observe.record import record_path, write_record

from ..recorded_build import KEY, RECORD, START

OTHER = "toy-data-1.0-h1_0"

MakeRun = Callable[..., Workspace]
MakePackage = Callable[..., Path]

EVENTS: tuple[tuple[float, Event], ...] = (
    (0, RunStarted("ship", 2, 4, 8_000_000_000)),
    (0, StageStarted(1, 0, Stage(StageKey.RECIPE))),
    (1, StageEnded(1, ok=True)),
    (1, StageStarted(2, 0, Stage(StageKey.OUTPUT, KEY, 1, 2))),
    (1, Decided(KEY, Reason.CHANGED, ("src/<toy>.c",))),
    (2, PhaseStarted(KEY, Phase.COMPILE)),
    (8, StageStarted(3, 2, Stage(StageKey.VERIFY, KEY))),
    (8, Finding("warning", f"{KEY}.conda", "linking", "lib/libtoy.so", "needs libother.so", "declare it")),
    (9, StageEnded(3, ok=True)),
    (9, StageEnded(2, ok=True)),
    (9, Packaged(KEY, f"linux-64/{KEY}.conda", 500, "aa", 8.0, reused=False)),
    (9, StageStarted(4, 0, Stage(StageKey.OUTPUT, OTHER, 2, 2))),
    (9, Decided(OTHER, Reason.UP_TO_DATE)),
    (10, StageEnded(4, ok=True)),
    (10, Packaged(OTHER, f"noarch/{OTHER}.conda", 100, "bb", 0.5, reused=True)),
    (10, RunEnded(ok=True)),
)


def write_journal(workspace: Workspace, events: tuple[tuple[float, Event], ...], name: str = "1") -> None:
    """The events, each with its seconds since `START`, as `Journal` writes them."""
    folder = workspace.dist / RUNS
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"time": START + at, "event": type(event).__name__, **asdict(event)}) for at, event in events]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def pack(files: dict[str, bytes]) -> bytes:
    """A tar archive of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def make_package(workspace: Workspace) -> MakePackage:
    """``make_package("linux-64/a-1-0.conda", {"lib/x": b"..."})``: a package in the channel that has these files."""

    def make(name: str, files: dict[str, bytes]) -> Path:
        target = workspace.channel / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(target, "w") as outer:
            outer.writestr("metadata.json", '{"conda_pkg_format_version": 2}')
            for section, content in (("info", {"info/index.json": b"{}"}), ("pkg", files)):
                outer.writestr(f"{section}-{target.stem}.tar.zst", zstandard.compress(pack(content)))
        return target

    return make


@pytest.fixture
def make_run(workspace: Workspace, make_package: MakePackage) -> MakeRun:
    """``make_run()``: a folder with one run in it, of two outputs; ``make_run(events)``: with other events."""

    def make(events: tuple[tuple[float, Event], ...] = EVENTS) -> Workspace:
        write_journal(workspace, events)
        write_record(record_path(workspace.dist / "logs", KEY), RECORD)
        make_package(f"linux-64/{KEY}.conda", {"lib/libtoy.so": b"x" * 9000, "include/toy.h": b"y" * 1000})
        make_package(f"noarch/{OTHER}.conda", {"share/toy/<script>.txt": b"z" * 500})
        return workspace

    return make
