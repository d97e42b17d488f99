"""Ninja's log and file, and the chain of steps that decides how long a build takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from slipway.observe.ninja import Step, critical_path, parse_build, parse_log

DATA = Path(__file__).parent / "data"
LOG = "# ninja log v5\n"
BUILD = """\
cmake_ninja_workdir = /b/
build gen.h | ${cmake_ninja_workdir}gen.h: CUSTOM_COMMAND gen.py
  DESC = Generating $
      it
build a.o: CXX_COMPILER__x_Release a$ b.cpp | other || gen.h
  OBJECT_DIR = CMakeFiles/x.dir
build b.o: CXX_COMPILER__x_Release c$:/b.cpp
build libx.so: CXX_SHARED_LIBRARY_LINKER__x_Release a.o b.o
build all: phony libx.so
default all
"""


def test_a_real_log() -> None:
    steps = parse_log((DATA / "native/ninja_log").read_text(encoding="utf-8"))
    assert len(steps) == 107
    slowest = max(steps, key=lambda step: step.seconds)
    assert slowest.outputs == ("aten/CMakeFiles/torch_cpu.dir/native/cpu/reduce_kernels.cpp.o",)
    assert slowest.seconds == pytest.approx(16.18, abs=0.01)
    generated = next(step for step in steps if "generated/aten/Functions.h" in step.outputs)
    assert len(generated.outputs) > 5, "one command that writes many files is one step"


def test_only_the_last_run_counts() -> None:
    """Ninja appends to its log, and its clock begins anew with each run."""
    steps = parse_log(LOG + "0\t900\t1\told.o\taa\n0\t100\t1\ta.o\tbb\n50\t200\t1\tb.o\tcc\n100\t25")
    assert steps == [Step(("a.o",), 0.0, 0.1), Step(("b.o",), 0.05, 0.2)]


@pytest.mark.parametrize("text", ["", "# ninja log v4\n", "# ninja log v8\n", "something else\n"])
def test_no_log(text: str) -> None:
    with pytest.raises(ValueError, match="no Ninja log of version 5 to 7"):
        parse_log(text)


def test_statements() -> None:
    generate, first, second, link, everything = parse_build(BUILD)
    assert generate.outputs == ("gen.h", "/b/gen.h")
    assert generate.variables == {"DESC": "Generating       it"}
    assert (first.inputs, first.implicit, first.order) == (("a b.cpp",), ("other",), ("gen.h",))
    assert first.variables["OBJECT_DIR"] == "CMakeFiles/x.dir"
    assert second.inputs == ("c:/b.cpp",)
    assert link.rule == "CXX_SHARED_LIBRARY_LINKER__x_Release"
    assert everything.rule == "phony"


def test_critical_path_follows_what_is_needed() -> None:
    log = "0\t500\t1\tgen.h\t1\n0\t900\t1\tb.o\t2\n500\t1100\t1\ta.o\t3\n1100\t1200\t1\tlibx.so\t4\n"
    chain = critical_path(parse_log(LOG + log), parse_build(BUILD))
    assert [step.outputs[0] for step in chain] == ["gen.h", "a.o", "libx.so"], (
        "b.o takes longest, but not with the rest"
    )
    assert sum(step.seconds for step in chain) == pytest.approx(1.2)


def test_nothing_ran() -> None:
    assert critical_path([], parse_build(BUILD)) == []
    assert critical_path([Step(("x",), 0, 1)], []) == []
