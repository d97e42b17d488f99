"""The parts that `slipway test` runs, in their order, and the rooms of each that can be run alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from slipway.base.checkout import require_checkout
from slipway.base.errors import UsageError
from slipway.base.platform import usable_cpus
from slipway.checkout.emulating import run_emulation
from slipway.checkout.run import Part, Rooms, TestRun, development_environment
from slipway.checkout.sanitizing import SANITIZERS, run_sanitizer
from slipway.checkout.testing import PartResult, make_test_environment, run_ctest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TORCH_TEST_PACKAGES = (
    "pytorch",
    "libtorch-distributed",
    "numpy",
    "onnx",
    "onnxruntime",
    "pytest",
    "setuptools",
    "pybind11",
    "ninja",
    "python 3.11.*",
)

CHECKS = {
    "ruff": ("ruff", "check", "--no-cache", "."),
    "format": ("ruff", "format", "--no-cache", "--check", "."),
    "mypy": ("mypy", "--no-error-summary"),
}
"""The rooms of lint: modules and their words."""

LONGEST = ("torch_rebuild", "solver_truth")
"""Rooms of integration that compile for minutes: begun first, so that neither runs alone in the end."""


def find_parts() -> dict[str, Part]:
    """Every part, in the order in which they run.

    Raises:
        UsageError: this slipway is no checkout.
    """
    tests = require_checkout() / "tests"
    slipway = {path.name: [path] for path in sorted((tests / "slipway").iterdir()) if any(path.glob("**/test_*.py"))}
    units = {
        **slipway,
        "slipway": sorted((tests / "slipway").glob("test_*.py")),
        **{name: [tests / name] for name in ("torchgen", "setup")},
    }
    files = {path.stem.removeprefix("test_"): [path] for path in sorted((tests / "integration").glob("test_*.py"))}
    integration = {name: files[name] for name in sorted(files, key=lambda name: (name not in LONGEST, name))}
    torch = {
        path.stem.removeprefix("test_"): [path]
        for path in sorted((tests / "torch").iterdir())
        if path.match("test_*.py") or (path.is_dir() and any(path.glob("test_*.py")))
    }
    return {
        "lint": Part(_lint, dict.fromkeys(CHECKS, ())),
        "unit": Part(_unit, units),
        "ship": Part(_ship),
        "ctest": Part(_ctest),
        "torch": Part(_torch, torch),
        "emulation": Part(_emulation, {name: torch[name] for name in torch if name.startswith("cuda")}),
        # What needs a network or minutes stands beside what it tests, too: these tests of the rooms above.
        "integration": Part(_integration, {**integration, "units": [path for room in units.values() for path in room]}),
        # The C++ tests in each room, and those of Python in the first.
        "sanitizers": Part(_sanitizers, {name: [] for name in SANITIZERS} | {"address": [tests / "torch"]}, asked=True),
    }


def select_rooms(parts: Mapping[str, Part], words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The rooms to run by part, in the parts' order.

    Args:
        words: PART or PART/ROOM; none for every part that runs without being asked for.

    Raises:
        UsageError: there is no such part or room.
    """
    chosen: dict[str, set[str]] = {}
    for word in words or [name for name, part in parts.items() if not part.asked]:
        name, _, room = word.partition("/")
        if name not in parts:
            raise UsageError(f"there is no part `{name}`", hint="parts: " + ", ".join(parts))
        if room and room not in parts[name].rooms:
            known = ", ".join(parts[name].rooms)
            raise UsageError(
                f"there is no room `{word}`", hint=f"rooms: {known}" if known else f"`{name}` is one whole"
            )
        chosen.setdefault(name, set()).update([room] if room else parts[name].rooms)
    return {
        name: tuple(room for room in part.rooms if room in chosen[name])
        for name, part in parts.items()
        if name in chosen
    }


def _side_by_side() -> list[str]:
    """Options that let tests of different files run at the same time."""
    return ["-n", str(min(usable_cpus(), 4)), "--dist", "loadfile", "--no-loadscope-reorder"]


def _paths(rooms: Rooms) -> list[Path]:
    return [path for paths in rooms.values() for path in paths]


def _lint(run: TestRun, rooms: Rooms) -> PartResult:
    passed = sum(run.program(name, [sys.executable, "-m", *CHECKS[name]]) for name in rooms)
    return PartResult(passed, len(rooms) - passed)


def _unit(run: TestRun, rooms: Rooms) -> PartResult:
    return run.pytest("unit", _paths(rooms), options=["-m", "not integration and not network", *_side_by_side()])


def _ship(run: TestRun, rooms: Rooms) -> PartResult:
    return PartResult(1, 0) if run.ship() else PartResult(0, 1)


def _ctest(run: TestRun, rooms: Rooms) -> PartResult:
    if not run.ship():
        return PartResult(0, 1)
    return run_ctest(run.workspace, run.reporter)


def _torch(run: TestRun, rooms: Rooms) -> PartResult:
    if not run.ship():
        return PartResult(0, 1)
    prefix = make_test_environment(run.workspace, TORCH_TEST_PACKAGES, run.reporter)
    home = run.workspace.work / "test-home"
    home.mkdir(parents=True, exist_ok=True)
    # Outside the checkout and with an empty environment, so that `import torch` can only find the installed package.
    environment = {"PATH": f"{prefix / 'bin'}:/usr/bin:/bin", "HOME": str(home)}
    options = ["-p", "no:cacheprovider", "-o", "pythonpath=tests/torch"]
    python = prefix / "bin" / "python"
    return run.pytest("torch", _paths(rooms), python=python, env=environment, options=options, cwd=home)


def _emulation(run: TestRun, rooms: Rooms) -> PartResult:
    if not run.ship():
        return PartResult(0, 1)
    return run_emulation(run, _paths(rooms))


def _integration(run: TestRun, rooms: Rooms) -> PartResult:
    environment = development_environment() | {"SLIPWAY_TEST_DIST": str(run.workspace.dist)}
    options = ["-m", "integration or network", *_side_by_side()]
    return run.pytest("integration", _paths(rooms), env=environment, options=options)


def _sanitizers(run: TestRun, rooms: Rooms) -> PartResult:
    results = [run_sanitizer(run, name, paths) for name, paths in rooms.items()]
    return PartResult(sum(each.passed for each in results), sum(each.failed for each in results))
