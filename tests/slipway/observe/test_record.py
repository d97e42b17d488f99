"""Records of builds: from what Ninja left, to disk and back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from slipway.base.events import Phase
from slipway.base.journal import Journal
from slipway.observe.build import NINJA_FOLDER, BuildObserver
from slipway.observe.memory import Sample
from slipway.observe.record import TimedStep, read_ninja, read_record, record_path, write_record

from ..recorded_build import RECORD

if TYPE_CHECKING:
    from pathlib import Path

BUILD = """\
build CMakeFiles/x.dir/a.c.o: C_COMPILER__x_ /src/a.c
build libx.so: C_SHARED_LIBRARY_LINKER__x_ CMakeFiles/x.dir/a.c.o
  OBJECT_DIR = CMakeFiles/x.dir
"""
LOG = "# ninja log v5\n0\t2000\t1\tCMakeFiles/x.dir/a.c.o\taa\n2000\t2500\t1\tlibx.so\tbb\n"


def leave_ninja_files(folder: Path, ended: float) -> None:
    """What a build script leaves, the log last written at `ended`."""
    folder.mkdir(parents=True)
    (folder / "build.ninja").write_text(BUILD, encoding="utf-8")
    log = folder / ".ninja_log"
    log.write_text(LOG, encoding="utf-8")
    os.utime(log, (ended, ended))


def test_steps_get_the_clocks_time_and_their_memory(tmp_path: Path) -> None:
    leave_ninja_files(tmp_path / "build", 1000.0)
    steps, modules = read_ninja(tmp_path, {"CMakeFiles/x.dir/a.c.o": 77})
    assert steps == (
        TimedStep("CMakeFiles/x.dir/a.c.o", 997.5, 999.5, 77, critical=True),
        TimedStep("libx.so", 999.5, 1000.0, None, critical=True),
    )
    assert [(module.name, module.sources, module.seconds) for module in modules] == [("x", 1, 2.5)]


def test_logs_of_unknown_versions_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".ninja_log").write_text("# ninja log v99\n", encoding="utf-8")
    assert read_ninja(tmp_path, {}) == ((), ())


def test_records_are_read_as_written(tmp_path: Path) -> None:
    path = record_path(tmp_path, RECORD.key)
    write_record(path, RECORD)
    assert read_record(path) == RECORD
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 0}', '{"format": 1, "key": "a"}', "null"])
def test_no_record(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.build.json"
    path.write_text(text, encoding="utf-8")
    assert read_record(path) is None


@pytest.mark.parametrize(
    ("output", "kind", "source"),
    [
        ("c10/CMakeFiles/c10.dir/core/Device.cpp.o", "compile", "c10/core/Device.cpp"),
        ("aten/CMakeFiles/t.dir/__/generated/Ops.cpp.o", "compile", "generated/Ops.cpp"),
        ("lib/libtorch.so", "link", "lib/libtorch.so"),
        ("lib/_C.cpython-311-x86_64-linux-gnu.so", "link", "lib/_C.cpython-311-x86_64-linux-gnu.so"),
        ("bin/torch_shm_manager", "link", "bin/torch_shm_manager"),
        ("generated/aten/Functions.h", "generate", "generated/aten/Functions.h"),
        ("aten/torchgen-core.stamp", "generate", "aten/torchgen-core.stamp"),
    ],
)
def test_names_of_steps(output: str, kind: str, source: str) -> None:
    step = TimedStep(output, 0.0, 1.0)
    assert (step.kind, step.source) == (kind, source)


def test_phases_follow_the_log(tmp_path: Path) -> None:
    observer = BuildObserver("x-1-0", "x", 2, Journal())
    observer.sampler.samples = [Sample(1.0, 5, 1)]
    for line, phase in (
        ("==> Running build", Phase.SOLVE),
        ("anything", Phase.SOLVE),
        ("+ cmake", Phase.SCRIPT),
        ("-- The CXX compiler identification is GNU", Phase.SCRIPT),
        ("-- Generating done", Phase.SCRIPT),
        ("[1/2] Building CXX object a.o", Phase.SCRIPT),
        ("warning: something", Phase.SCRIPT),
        ("[2/2] Linking CXX shared library libx.so", Phase.SCRIPT),
        ("-- Install configuration: Release", Phase.SCRIPT),
        ("Packing", Phase.PACK),
        ("[1/1] Building CXX object of a test", Phase.TEST),
    ):
        observer.line(line, phase)
    leave_ninja_files(tmp_path / "output" / NINJA_FOLDER / "build", 1000.0)
    observer.finish(tmp_path / "output", tmp_path / "logs")
    record = read_record(record_path(tmp_path / "logs", "x-1-0"))
    assert record is not None
    assert [timed.phase for timed in record.phases] == [
        Phase.SOLVE,
        Phase.SCRIPT,
        Phase.CONFIGURE,
        Phase.COMPILE,
        Phase.INSTALL,
        Phase.PACK,
        Phase.TEST,
    ]
    assert all(first.end == second.start for first, second in zip(record.phases, record.phases[1:], strict=False))
    assert record.peak_memory == 5
    assert [step.output for step in record.steps] == ["CMakeFiles/x.dir/a.c.o", "libx.so"]
