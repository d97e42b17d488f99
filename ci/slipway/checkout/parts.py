"""The parts that `slipway test` runs, in their order, and the rooms of each that can be run alone."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.base import proc
from slipway.base.checkout import require_checkout
from slipway.base.errors import SlipwayError, UsageError
from slipway.base.platform import usable_cpus
from slipway.checkout.testing import PartResult, count_results, ensure_test_tools, make_test_environment, run_ctest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from slipway.base.log import Reporter
    from slipway.base.paths import Workspace

    Rooms = Mapping[str, Sequence[Path]]

TORCH_TEST_PACKAGES = ("pytorch", "numpy", "pytest", "setuptools", "pybind11", "ninja", "python 3.11.*")

CHECKS = {
    "ruff": ("ruff", "check", "--no-cache", "."),
    "format": ("ruff", "format", "--no-cache", "--check", "."),
    "mypy": ("mypy", "--no-error-summary"),
}
"""The rooms of lint: modules and their words."""


@dataclass(frozen=True)
class Part:
    """One line of the closing table.

    Attributes:
        run: does some of the rooms.
        rooms: the files and folders of each; a part that is all or nothing has none.
    """

    run: Callable[[TestRun, Rooms], PartResult]
    rooms: Rooms = field(default_factory=dict)


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
    integration = {
        path.stem.removeprefix("test_"): [path] for path in sorted((tests / "integration").glob("test_*.py"))
    }
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
        # What needs a network or minutes stands beside what it tests, too: these tests of the rooms above.
        "integration": Part(_integration, {**integration, "units": [path for room in units.values() for path in room]}),
    }


def select_rooms(parts: Mapping[str, Part], words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The rooms to run by part, in the parts' order.

    Args:
        words: PART or PART/ROOM; none for all.

    Raises:
        UsageError: there is no such part or room.
    """
    chosen: dict[str, set[str]] = {}
    for word in words or parts:
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


class TestRun:
    """What the parts of one run share: where, how loud, and whether the packages are there yet."""

    __test__ = False  # no class of tests

    def __init__(self, workspace: Workspace, reporter: Reporter, expression: str | None) -> None:
        self.workspace = workspace
        self.reporter = reporter
        self.expression = expression
        self.shipped = False

    def prepare(self) -> None:
        """Install the tools that tests need.

        Raises:
            NetworkError: they cannot be had.
        """
        with self.reporter.step("test tools"):
            ensure_test_tools(self.workspace)

    def part(self, name: str, part: Part, rooms: Sequence[str]) -> tuple[PartResult, float]:
        """Run these rooms of a part; what came out, and how many seconds it took."""
        started = time.monotonic()
        with self.reporter.step(name):
            try:
                result = part.run(self, {room: part.rooms[room] for room in rooms})
            except SlipwayError as error:
                self.reporter.line("\n".join(filter(None, (error.detail, f"error: {error.message}", error.where))))
                result = PartResult(0, 1)
        return result, time.monotonic() - started

    def program(
        self, name: str, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> bool:
        """Run one checking program, its output kept and, when it fails, shown; whether it succeeded."""
        with self.reporter.task(name) as task:
            completed = proc.run(
                command,
                env=env if env is not None else _development_environment(),
                what=name,
                cwd=cwd or require_checkout(),
                log=self.workspace.log(f"test-{name}"),
                on_line=lambda line: task.update(text=line[:100]),
                check=False,
            )
        if completed.returncode != 0:
            self.reporter.line("\n".join(completed.tail))
            self.reporter.line(f"{name} failed; its whole output: {self.workspace.log(f'test-{name}')}")
        return completed.returncode == 0

    def pytest(
        self,
        name: str,
        paths: Sequence[Path],
        *,
        python: Path | None = None,
        env: Mapping[str, str] | None = None,
        options: Sequence[str | Path] = (),
        cwd: Path | None = None,
    ) -> PartResult:
        """Run pytest over `paths`."""
        checkout = require_checkout()
        report = self.workspace.dist / "logs" / f"test-{name}.xml"
        report.unlink(missing_ok=True)
        command: list[str | Path] = [python or sys.executable, "-P", "-m", "pytest", "-q", f"--junitxml={report}"]
        command += ["-c", checkout / "pyproject.toml", f"--rootdir={checkout}", *options]
        if self.expression:
            command += ["-k", self.expression]
        succeeded = self.program(name, [*command, *paths], env=env, cwd=cwd)
        return count_results(report, succeeded=succeeded)

    def ship(self) -> bool:
        """Bring the packages up to date, once per run."""
        if not self.shipped:
            dist = str(self.workspace.dist)
            command = [sys.executable, "-P", "-s", "-m", "slipway", "ship", "--dist", dist]
            self.shipped = self.program("ship", command, env=dict(os.environ) | _development_environment())
        return self.shipped


def _development_environment() -> dict[str, str]:
    """For tools that work on the checkout: the caller's environment, and this package on the path."""
    return dict(os.environ) | {"PYTHONPATH": str(require_checkout() / "ci")}


def _side_by_side() -> list[str]:
    """Options that let tests of different files run at the same time."""
    return ["-n", str(min(usable_cpus(), 4)), "--dist", "loadfile"]


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


def _integration(run: TestRun, rooms: Rooms) -> PartResult:
    environment = _development_environment() | {"SLIPWAY_TEST_DIST": str(run.workspace.dist)}
    options = ["-m", "integration or network", *_side_by_side()]
    return run.pytest("integration", _paths(rooms), env=environment, options=options)
