"""What a small build left in its record, for the tests of what is made from records."""

from __future__ import annotations

from slipway.base.events import Phase
from slipway.observe.memory import Sample
from slipway.observe.modules import Module
from slipway.observe.record import BuildRecord, TimedPhase, TimedStep

START = 1_700_000_000.0
KEY = "libtoy-1.0-h0_0"

STEPS = (
    TimedStep("gen.h", START + 2, START + 3, critical=True),
    TimedStep("CMakeFiles/toy.dir/a.cpp.o", START + 3, START + 6, 300_000_000, critical=True),
    TimedStep("CMakeFiles/toy.dir/b.cpp.o", START + 2, START + 5, 200_000_000),
    TimedStep("libtoy.so", START + 6, START + 7, 50_000_000, critical=True),
)

RECORD = BuildRecord(
    key=KEY,
    name="libtoy",
    jobs=2,
    phases=(TimedPhase(Phase.CONFIGURE, START + 1, START + 2), TimedPhase(Phase.COMPILE, START + 2, START + 7)),
    steps=STEPS,
    samples=(Sample(START + 2, 100_000_000, 1), Sample(START + 5, 500_000_000, 2)),
    modules=(
        Module("toy", "shared library", "libtoy.so", 2, 7.0, links=("m-extra",), waits=("gen",)),
        Module("gen", "generator", seconds=1.0),
        Module("m-extra", "external", "libm-extra.so"),
    ),
)
