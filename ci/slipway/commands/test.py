"""Run every test, part by part, with progress, times and one closing line.

parts, in their order:
  lint         ruff and strict mypy over the Python sources
  unit         fast tests of slipway, the recipe and torchgen
  ship         `slipway ship`: the packages, their own tests and the hello world
  ctest        the C++ tests of src/test, built against the shipped libtorch
  torch        tests/torch, in an environment that is solved from the shipped channel
  emulation    the CUDA plug-in's tests, its kernels run by an emulated device: no GPU is needed
  integration  launcher, real builds, faults and interruptions
  sanitizers   tests/torch and the C++ tests under AddressSanitizer, UBSan and ThreadSanitizer; only when asked for

Without PART all but the last run. PART/ROOM is one room of a part, such as unit/recipe or integration/faults; --list
names them all. A part that needs the packages ships them first, which takes seconds when nothing changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slipway.base.errors import TestsFailedError
from slipway.base.paths import Workspace
from slipway.base.text import format_table, human_seconds
from slipway.checkout.parts import find_parts, select_rooms
from slipway.checkout.run import TestRun

if TYPE_CHECKING:
    import argparse

    from slipway.base.log import Reporter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("parts", nargs="*", metavar="PART", help="PART or PART/ROOM: what to run (default: all)")
    parser.add_argument("--list", action="store_true", help="name the parts and their rooms, and run nothing")
    parser.add_argument("--dist", metavar="DIR", help="folder of the channel (default: dist/)")
    parser.add_argument("-k", metavar="EXPRESSION", dest="expression", help="only tests that match, as pytest's -k")


def execute(arguments: argparse.Namespace, reporter: Reporter) -> int:
    """Run the parts; returns the exit code."""
    parts = find_parts()
    chosen = select_rooms(parts, arguments.parts or (list(parts) if arguments.list else []))
    if arguments.list:
        for part, rooms in chosen.items():
            print("\n".join([part, *(f"{part}/{room}" for room in rooms)]))
        return 0
    run = TestRun(Workspace.of_checkout(arguments.dist), reporter, arguments.expression)
    run.prepare()
    results = [(part, *run.part(part, parts[part], rooms)) for part, rooms in chosen.items()]
    rows = [(part, str(result.passed), str(result.failed), human_seconds(took)) for part, result, took in results]
    reporter.line("")
    reporter.line(format_table(("part", "passed", "failed", "time"), rows, right=(1, 2, 3)))
    passed = sum(result.passed for _, result, _ in results)
    failed = sum(result.failed for _, result, _ in results)
    reporter.line(f"{passed} passed, {failed} failed")
    return TestsFailedError.exit_code if failed else 0
